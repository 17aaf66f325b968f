import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Rows of a file that was set aside", .timed)
struct SalvageMergeTests {
    let notes: NotesDatabase
    var file: DatabaseFile { DatabaseFile(path: notes.path) }

    init() throws { notes = try NotesDatabase() }

    /// Salvages the database as if some of its rows could not be read.
    private func salvage(losing condition: String, from table: String = "note") throws -> (
        DatabaseQueue, setAside: URL
    ) {
        try notes.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try file.salvage(into: notes.schema)
        let queue = try file.openQueue()
        try notes.schema.migrate(queue)
        try queue.execute(
            "PRAGMA foreign_keys = OFF; DELETE FROM \(table) WHERE \(condition); PRAGMA foreign_keys = ON")
        return (queue, try #require(report.setAside))
    }

    @Test("are added to the database in use, where their keys are missing")
    func missingKeys() throws {
        let (queue, setAside) = try salvage(losing: "id > 30")
        try queue.execute("UPDATE note SET title = 'changed since' WHERE id = 1")
        try queue.execute("INSERT INTO note(id, title, folder, stars) VALUES (35, 'new since', 2, 5)")
        let before = try Data(contentsOf: setAside)
        let report = try file.salvage(from: setAside, into: notes.schema, of: queue)
        #expect(report.tables.first { $0.name == "note" }?.saved == 9)
        #expect(try queue.integers("SELECT count(*) FROM note") == [40])
        #expect(
            try queue.strings("SELECT title FROM note WHERE id IN (1, 35) ORDER BY id") == [
                "changed since", "new since",
            ])
        #expect(try queue.integers("SELECT stars FROM note WHERE id = 40") == [3])
        // A second time there is nothing to add.
        #expect(try file.salvage(from: setAside, into: notes.schema, of: queue).saved == 0)
        #expect(try Data(contentsOf: setAside) == before)
        #expect(try notes.names() == ["app.sqlite", setAside.lastPathComponent].sorted())
        try queue.close()
    }

    /// Salvages a database of other tables, empties them, and adds the rows of the file that was set aside.
    private func merging(
        _ tables: String, _ rows: String, emptying deletion: String,
        _ check: (DatabaseQueue, _ saved: Int) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let file = DatabaseFile(path: folder.path("tree.sqlite"))
        let schema = try SchemaMigrator(tables: tables)
        var queue = try file.openQueue()
        try schema.migrate(queue)
        try queue.execute(rows)
        try queue.close()
        let pages = DatabasePages(path: folder.path("tree.sqlite"))
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let setAside = try #require(try file.salvage(into: schema).setAside)
        queue = try file.openQueue()
        try queue.execute(deletion)
        try check(queue, file.salvage(from: setAside, into: schema, of: queue).saved)
        try queue.close()
    }

    @Test("come back with the root of their tree, which is its own parent", arguments: ["", "WITHOUT ROWID"])
    func ownParent(kind: String) throws {
        try merging(
            "CREATE TABLE part(id TEXT PRIMARY KEY, parent TEXT NOT NULL REFERENCES part(id)) \(kind);",
            "INSERT INTO part VALUES ('root', 'root'), ('b', 'root'), ('a', 'b')",
            emptying: "DELETE FROM part"
        ) { queue, saved in
            let ids = try queue.strings("SELECT id FROM part ORDER BY id")
            #expect(saved == 3)
            #expect(ids == ["a", "b", "root"])
        }
    }

    @Test("are left out where SQLite takes a row for no parent of its own, without keeping others away")
    func parentInAnotherCase() throws {
        try merging(
            """
            CREATE TABLE part(id TEXT COLLATE NOCASE PRIMARY KEY, parent TEXT REFERENCES part(id));
            CREATE TABLE note(text TEXT PRIMARY KEY);
            """,
            """
            INSERT INTO part VALUES ('root', 'root'); UPDATE part SET id = 'Root';
            INSERT INTO note VALUES ('a')
            """, emptying: "DELETE FROM part; DELETE FROM note"
        ) { queue, _ in
            let ids = try queue.strings("SELECT id FROM part")
            let texts = try queue.strings("SELECT text FROM note")
            #expect(ids == [])
            #expect(texts == ["a"])
        }
    }

    @Test("are added also if SQLite can read the file by now")
    func readableByNow() throws {
        let intact = try Data(contentsOf: URL(fileURLWithPath: notes.path))
        let (queue, setAside) = try salvage(losing: "id > 30")
        try intact.write(to: setAside)
        #expect(try file.salvage(from: setAside, into: notes.schema, of: queue).saved == 10)
        try queue.close()
    }

    @Test("stay where they are if their parent is not in the database")
    func parents() throws {
        let (queue, setAside) = try salvage(losing: "id > 30")
        // Two folders cannot come back, because others have their names.
        try queue.execute(
            """
            DELETE FROM note WHERE folder > 2;
            DELETE FROM folder WHERE id > 2;
            UPDATE folder SET name = 'folder ' || (id + 2);
            CREATE UNIQUE INDEX folder_name ON folder(name);
            """)
        _ = try file.salvage(from: setAside, into: notes.schema, of: queue)
        #expect(try queue.strings("SELECT \"table\" FROM pragma_foreign_key_check") == [])
        #expect(try queue.integers("SELECT count(*) FROM note WHERE folder < 3") == [20])
        #expect(try queue.integers("SELECT count(*) FROM note WHERE folder > 2") == [0])
        try queue.close()
    }

    @Test("count for the name that their table has now")
    func renamedTable() throws {
        let migrations = notes.folder.file("migrations")
        try Data("ALTER TABLE folder RENAME TO shelf".utf8).write(
            to: migrations.appendingPathComponent("3_shelf.sql"))
        let schema = try SchemaMigrator(directory: migrations)
        try notes.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let setAside = try #require(try file.salvage(into: schema).setAside)
        let queue = try file.openQueue()
        try schema.migrate(queue)
        try queue.execute("DELETE FROM note WHERE folder = 4; DELETE FROM shelf WHERE id = 4")
        let report = try file.salvage(from: setAside, into: schema, of: queue)
        #expect(try queue.integers("SELECT count(*) FROM shelf") == [4])
        #expect(report.tables.first { $0.name == "shelf" }?.saved == 1)
        #expect(report.saved == 11)
        try queue.close()
    }

    @Test("are not added to a database that is not at the latest version")
    func olderDatabase() throws {
        let (queue, setAside) = try salvage(losing: "id > 30")
        try queue.execute("DELETE FROM schema_migrations WHERE version = 2")
        let error = try #require(throws: MigrationError.self) {
            try file.salvage(from: setAside, into: notes.schema, of: queue)
        }
        #expect(error.code == .misuse)
        #expect(try queue.integers("SELECT count(*) FROM note") == [30])
        try queue.close()
    }

    @Test("run no trigger, are found by full-text search, and need no key")
    func otherTables() throws {
        let migrations = notes.folder.file("migrations")
        try Data(
            """
            CREATE TABLE line(text TEXT);
            CREATE VIRTUAL TABLE words USING fts5(text);
            CREATE VIRTUAL TABLE titles USING fts5(title, content='note', content_rowid='id');
            CREATE TRIGGER added AFTER INSERT ON note BEGIN
                INSERT INTO line VALUES ('trigger');
                INSERT INTO titles(rowid, title) VALUES (new.id, new.title);
            END;
            """.utf8
        ).write(to: migrations.appendingPathComponent("3_words.sql"))
        let schema = try SchemaMigrator(directory: migrations)
        let first = try DatabaseQueue(path: notes.path)
        try schema.migrate(first)
        try first.execute(
            "INSERT INTO line VALUES ('a'), ('b'); INSERT INTO words VALUES ('green'), ('blue')")
        try first.close()
        try notes.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let setAside = try #require(try file.salvage(into: schema).setAside)
        let queue = try file.openQueue()
        try queue.execute(
            "DELETE FROM line WHERE text = 'b'; DELETE FROM words WHERE rowid = 1; DELETE FROM note WHERE id = 8"
        )
        let report = try file.salvage(from: setAside, into: schema, of: queue)
        #expect(report.saved == 3)
        #expect(try queue.strings("SELECT text FROM line ORDER BY text") == ["a", "b"])
        #expect(try queue.integers("SELECT rowid FROM words WHERE words MATCH 'green'") == [1])
        #expect(try queue.integers("SELECT rowid FROM titles WHERE titles MATCH '\"note 8\"'") == [8])
        #expect(try queue.strings("SELECT name FROM sqlite_master WHERE type = 'trigger'") == ["added"])
        try queue.close()
    }

    @Test("of a chain are added with few looks at each, whichever way its rows refer", arguments: ["-", "+"])
    func chain(sign: String) throws {
        let looks = Locked(0)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            let look = DatabaseFunction("look", argumentCount: 1) { _ in
                looks.withLock { $0 += 1 }
                return 1
            }
            db.add(function: look)
        }
        let migrations = notes.folder.file("migrations")
        try Data(
            """
            CREATE TABLE line(id INTEGER PRIMARY KEY, next INTEGER REFERENCES line(id), CHECK (look(id)));
            """.utf8
        ).write(to: migrations.appendingPathComponent("3_line.sql"))
        let schema = try SchemaMigrator(directory: migrations)
        let file = DatabaseFile(path: notes.path, configuration: configuration)
        let first = try file.openQueue()
        try schema.migrate(first)
        try first.execute(
            """
            PRAGMA foreign_keys = OFF;
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number LIMIT 100)
            INSERT INTO line SELECT n, nullif(nullif(n \(sign) 1, 0), 101) FROM number;
            """)
        try first.close()
        try notes.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let setAside = try #require(try file.salvage(into: schema).setAside)
        let queue = try file.openQueue()
        try queue.execute("DELETE FROM line")
        looks.withLock { $0 = 0 }
        #expect(try file.salvage(from: setAside, into: schema, of: queue).saved == 100)
        #expect(looks.withLock { $0 } < 1_000)
        #expect(try queue.integers("SELECT count(*) FROM line") == [100])
        try queue.close()
    }
}
