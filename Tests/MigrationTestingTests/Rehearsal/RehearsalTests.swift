import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A rehearsal", .timed)
struct RehearsalTests {
    @Test("reports what migrating would do, and changes nothing")
    func report() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2);"),
            SQLMigration(version: 2, name: "b", sql: "DELETE FROM a WHERE x = 1; ALTER TABLE a ADD y;"),
        ])
        let queue = try DatabaseQueue()
        try schema.migrate(queue, upTo: 1)
        let rehearsal = try schema.rehearse(queue)
        #expect(rehearsal.steps.map(\.version) == [2])
        #expect(rehearsal.rows.map { [$0.before, $0.after] } == [[2, 1]])
        #expect(rehearsal.schemaChanges == ["table `a`: column `y` was added: without a type"])
        #expect(rehearsal.violations == [])
        #expect(try queue.read { db in try schema.pending(db) } == [2])
    }

    @Test("names the folder for its copy that does not exist")
    func missingFolder() throws {
        let schema = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "a", sql: "SELECT 1")])
        let missing = try TemporaryFolder().file("missing")
        let error = try #require(throws: MigrationError.self) {
            try schema.rehearse(DatabaseQueue(), in: missing)
        }
        #expect(error.code == .unwritable)
        #expect(
            error.description == """
                \(missing.path): no folder for a copy can be made there: No such file or directory. Make it a folder that can \
                be written. Nothing was changed.
                """)
    }

    @Test("has copies of what the app attaches, and attaches no file itself")
    func attached() throws {
        let folder = try TemporaryFolder()
        let shared = try folder.queue("shared.sqlite")
        try shared.execute("CREATE TABLE entry(x); INSERT INTO entry VALUES ('theirs')")
        var configuration = Configuration()
        let path = folder.path("shared.sqlite")
        configuration.prepareDatabase { try $0.execute(sql: "ATTACH ? AS shared", arguments: [path]) }
        let queue = try folder.queue("app.sqlite", configuration)
        let move = "INSERT INTO entry SELECT x FROM shared.entry; DELETE FROM shared.entry"
        func schema(_ sql: String) throws -> SchemaMigrator {
            try SchemaMigrator(migrations: [
                SQLMigration(version: 1, name: "a", sql: "CREATE TABLE entry(x)"),
                SQLMigration(version: 2, name: "b", sql: sql),
            ])
        }
        try schema(move).migrate(queue, upTo: 1)
        let rehearsal = try schema(move).rehearse(queue)
        #expect(rehearsal.rows.map { [$0.before, $0.after] } == [[0, 1]])
        #expect(try shared.strings("SELECT x FROM entry") == ["theirs"])

        let plain = try folder.queue("app.sqlite")
        let error = try #require(throws: MigrationError.self) {
            try schema("ATTACH '\(path)' AS shared; \(move)").rehearse(plain)
        }
        #expect(error.message == "2_b.sql:1: attaches a database, which a trial must not change.")
        #expect(try shared.strings("SELECT x FROM entry") == ["theirs"])
        #expect(try schema(move).migrate(queue).applied == [2])
        #expect(try queue.strings("SELECT x FROM entry") == ["theirs"])
    }

    @Test("measures the space that a migration takes, with its journal")
    func space() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a", sql: "CREATE TABLE a(x); INSERT INTO a VALUES (randomblob(1000000));"),
            SQLMigration(version: 2, name: "b", sql: "UPDATE a SET x = randomblob(1000000);"),
            SQLMigration(version: 3, name: "c", sql: "CREATE TABLE c(x);"),
        ])
        let queue = try DatabaseQueue()
        try schema.migrate(queue, upTo: 1)
        // What other tests of this process write to temporary files meanwhile counts as well.
        func smallest(upTo version: SchemaVersion) throws -> Rehearsal {
            let all = try (1...5).map { _ in try schema.rehearse(queue, upTo: version) }
            return try #require(all.min { $0.sizeAtMost < $1.sizeAtMost })
        }
        let large = try smallest(upTo: 2)
        // The journal holds what the update overwrites.
        #expect(large.sizeAfter < 1_100_000)
        #expect((2_000_000..<3_500_000).contains(large.sizeAtMost))
        try schema.migrate(queue, upTo: 2)
        let small = try smallest(upTo: 3)
        #expect((small.sizeAfter..<1_400_000).contains(small.sizeAtMost))
    }

    @Test("fails as migrating would, says so, and leaves no copy behind")
    func failure() throws {
        let folder = try TemporaryFolder()
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "DROP TABLE a;")
        ])
        let error = try #require(throws: MigrationError.self) {
            try schema.rehearse(DatabaseQueue(), in: folder.url)
        }
        #expect(error.code == .stepFailed)
        #expect(error.remedy == "The database itself was not changed. Fix the migration, and rehearse again.")
        #expect(try folder.fileNames == [])
    }

    @Test("counts the rows that refer to nothing, by table and by what they refer to")
    func violations() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql: """
                    CREATE TABLE p(id INTEGER PRIMARY KEY);
                    CREATE TABLE b(p REFERENCES p(id), q REFERENCES q(id));
                    CREATE TABLE a(p REFERENCES p(id));
                    CREATE TABLE q(id INTEGER PRIMARY KEY);
                    """),
            SQLMigration(
                version: 2, name: "b",
                sql: """
                    -- migrations: foreign-keys=unchecked
                    DELETE FROM b; CREATE TABLE c(p REFERENCES p(id)); INSERT INTO c VALUES (1);
                    """),
        ])
        let queue = try DatabaseQueue()
        try schema.migrate(queue, upTo: 1)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO a VALUES (1), (2);
                    INSERT INTO b VALUES (1, 1);
                    """)
        }
        let violations = try schema.rehearse(queue).violations
        #expect(
            violations.map { [$0.table, $0.parent] } == [["a", "p"], ["b", "p"], ["b", "q"], ["c", "p"]])
        #expect(violations.map { [$0.before, $0.after] } == [[2, 2], [1, 0], [1, 0], [0, 1]])
    }
}

@Suite("A rehearsal of a database file", .timed)
struct FileRehearsalTests {
    /// Returns the losses of a migration of books, of which one refers to no shelf.
    private func rehearsal(_ sql: String) throws -> Rehearsal {
        let first = """
            CREATE TABLE shelf(id INTEGER PRIMARY KEY);
            CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, mood TEXT, shelf INTEGER REFERENCES shelf(id));
            INSERT INTO book VALUES (1, 'Emma', 'calm', NULL), (2, 'Ulysses', NULL, 7);
            CREATE TABLE note(text TEXT); INSERT INTO note VALUES ('Emma'), ('Ulysses'), ('shelf');
            """
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "-- migrations: foreign-keys=unchecked\n\(first)"),
            SQLMigration(version: 2, name: "b", sql: sql),
        ])
        let queue = try DatabaseQueue()
        try schema.migrate(queue, upTo: 1)
        return try schema.rehearse(queue)
    }

    @Test(
        "takes no column for lost that another one has row by row, or whose values other rows got",
        arguments: [
            (
                "user(id INTEGER PRIMARY KEY, email TEXT, contact TEXT)",
                "(1, 'a@b', 'a@b'), (2, 'c@d', 'c@d'), (3, NULL, 'e@f')",
                "UPDATE user SET email = contact WHERE email IS NULL; ALTER TABLE user DROP COLUMN contact;"
            ),
            (
                "user(id INTEGER PRIMARY KEY, fav INTEGER, n INTEGER)", "(1, 1, 0), (2, 0, 0), (3, 1, 0)",
                "UPDATE user SET n = 1 WHERE fav; ALTER TABLE user DROP COLUMN fav;"
            ),
            (
                "user(id INTEGER PRIMARY KEY, serverId INTEGER, name TEXT)",
                "(1, 101, 'a'), (2, 102, 'b'), (3, 103, 'c')",
                """
                CREATE TABLE n(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO n SELECT serverId, name FROM user;
                DROP TABLE user; ALTER TABLE n RENAME TO user;
                """
            ),
            (
                "user(id INTEGER PRIMARY KEY, last INTEGER)", "(1, 8), (2, 9)",
                """
                CREATE TABLE recent(id INTEGER PRIMARY KEY); INSERT INTO recent SELECT last FROM user;
                ALTER TABLE user DROP COLUMN last;
                """
            ),
        ])
    func keptColumn(table: String, rows: String, sql: String) throws {
        let queue = try DatabaseQueue()
        let first = SQLMigration(version: 1, name: "a", sql: "CREATE TABLE \(table);")
        try SchemaMigrator(migrations: [first]).migrate(queue)
        try queue.execute("INSERT INTO user VALUES \(rows)")
        let schema = try SchemaMigrator(migrations: [first, SQLMigration(version: 2, name: "b", sql: sql)])
        #expect(try schema.rehearse(queue).losses == [])
    }

    @Test(
        "finds the values of a column that is gone, unless a new column has them",
        arguments: [
            ("ALTER TABLE book DROP COLUMN mood;", ["column `book.mood` is gone, and had 1 value"]),
            (
                "ALTER TABLE book RENAME TO item; ALTER TABLE item DROP COLUMN title;",
                ["column `book.title` is gone, and had 2 values"]
            ),
            (
                "UPDATE book SET mood = NULL; ALTER TABLE book DROP COLUMN mood;",
                ["column `book.mood` is gone, and had 1 value"]
            ),
            ("ALTER TABLE book RENAME COLUMN mood TO tone;", []),
            ("CREATE TABLE mood AS SELECT id, mood FROM book; ALTER TABLE book DROP COLUMN mood;", []),
            (
                "ALTER TABLE book ADD COLUMN tone TEXT; UPDATE book SET tone = mood; ALTER TABLE book DROP COLUMN mood;",
                []
            ),
            (
                """
                INSERT INTO note SELECT 'was ' || mood FROM book; INSERT INTO note SELECT mood FROM book WHERE mood IS NOT NULL;
                ALTER TABLE book DROP COLUMN mood;
                """, []
            ),
            ("UPDATE note SET text = 'calm'; ALTER TABLE book DROP COLUMN mood;", []),
            (
                """
                ALTER TABLE book ADD COLUMN length INTEGER; UPDATE book SET length = length(title);
                ALTER TABLE book DROP COLUMN title;
                """, []
            ),
            (
                "ALTER TABLE book ADD COLUMN isRead INTEGER NOT NULL DEFAULT 0; ALTER TABLE book DROP COLUMN title;",
                ["column `book.title` is gone, and had 2 values"]
            ),
            ("INSERT INTO note SELECT mood FROM book; ALTER TABLE book DROP COLUMN mood;", []),
        ])
    func goneColumn(sql: String, losses: [String]) throws {
        #expect(try rehearsal(sql).losses == losses)
    }

    @Test(
        "finds the values of a column that is gone, whatever keys and old values are the same numbers",
        arguments: [
            "INSERT INTO book(rank) VALUES (4);",
            "CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO tag(name) VALUES ('a'), ('b'), ('c');",
        ])
    func goneNumbers(sql: String) throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql: """
                    CREATE TABLE book(id INTEGER PRIMARY KEY, rating INTEGER, rank INTEGER);
                    INSERT INTO book VALUES (1, 3, 1), (2, NULL, 2), (3, 1, 3);
                    """),
            SQLMigration(version: 2, name: "b", sql: "ALTER TABLE book DROP COLUMN rating; \(sql)"),
        ])
        let queue = try DatabaseQueue()
        try schema.migrate(queue, upTo: 1)
        #expect(try schema.rehearse(queue).losses == ["column `book.rating` is gone, and had 2 values"])
    }

    @Test("follows the renames of a migration in Swift")
    func renamesInSwift() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a", sql: "CREATE TABLE book(title TEXT); INSERT INTO book VALUES ('Emma');"
            ),
            CodeMigration(2, "b") { db in
                try db.execute(sql: "ALTER TABLE book RENAME TO item; ALTER TABLE item RENAME title TO name")
                try db.execute(sql: "UPDATE item SET name = NULL WHERE name = ?", arguments: ["Emma"])
            },
        ])
        let queue = try DatabaseQueue()
        try schema.migrate(queue, upTo: 1)
        let rehearsal = try schema.rehearse(queue)
        #expect(rehearsal.steps.map(\.name) == ["b"])
        #expect(rehearsal.losses == ["column `book.title` has changed: 1 of 1 row, 1 to NULL"])
    }

    @Test("finds the rows of a table that is dropped, and whose name another one takes")
    func takenName() throws {
        let rehearsal = try rehearsal("DROP TABLE book; ALTER TABLE note RENAME TO book;")
        #expect(rehearsal.losses == ["table `book` is gone, and had 2 rows"])
        #expect(rehearsal.rows.map { [$0.before, $0.after] } == [[2, nil], [3, 3], [0, 0]])
        #expect(rehearsal.values == [])
        let rebuilt = try self.rehearsal(
            "CREATE TABLE n AS SELECT * FROM note; DROP TABLE note; ALTER TABLE n RENAME TO note;")
        #expect(rebuilt.losses == [])
    }

    /// Returns the lines of a rehearsal's rows and values.
    private func lines(_ sql: String) throws -> [String] {
        let sections = try rehearsal(sql).summary.components(separatedBy: "\n\n")
        return sections.filter { $0.hasPrefix("Rows") || $0.hasPrefix("Values") }
            .flatMap {
                $0.split(separator: "\n").dropFirst().map { $0.split(separator: " ").joined(separator: " ") }
            }
    }

    @Test(
        "counts rows that are gone and new, though there are as many as before",
        arguments: [
            (
                "DELETE FROM book WHERE id = 1; INSERT INTO book(id) VALUES (10), (11);",
                "book 2 → 3 1 gone, 2 new"
            ),
            ("DELETE FROM book WHERE id = 1; INSERT INTO book(id) VALUES (10);", "book 2 → 2 1 gone, 1 new"),
            ("DELETE FROM book; INSERT INTO book(id) VALUES (3);", "book 2 → 1 fewer, 2 gone, 1 new"),
            (
                "DELETE FROM note WHERE text < 'V'; INSERT INTO note VALUES ('x');",
                "note 3 → 2 fewer, 2 gone, 1 new"
            ),
            ("UPDATE book SET id = id + 10;", "book 2 → 2"),
            ("INSERT INTO note SELECT text FROM note;", "note 3 → 6"),
            ("DELETE FROM book WHERE id = 1;", "book 2 → 1 fewer"),
        ])
    func exchangedRows(sql: String, line: String) throws {
        let lines = try lines(sql)
        #expect(lines.contains(line), "\(lines)")
    }

    @Test(
        "reports rows that are gone as a loss, whatever came in their place",
        arguments: [
            (
                "DELETE FROM book WHERE id = 1; INSERT INTO book(id) VALUES (10), (11);",
                ["table `book` has 3 rows, and had 2, of which 1 is gone"]
            ),
            (
                "DELETE FROM book; INSERT INTO book(id) VALUES (3);",
                ["table `book` has 1 row, and had 2, of which 2 are gone"]
            ),
            ("UPDATE book SET id = id + 10; INSERT INTO book(id) VALUES (30);", []),
            ("UPDATE note SET text = upper(text) || '!';", []),
        ])
    func exchangedRowsAreLosses(sql: String, losses: [String]) throws {
        #expect(try rehearsal(sql).losses == losses)
    }

    @Test("counts the changed texts of a full-text table that keeps its own", arguments: ["fts4", "fts5"])
    func fullText(module: String) throws {
        let table = "CREATE VIRTUAL TABLE text USING \(module)(title, body);"
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql: "\(table) INSERT INTO text VALUES ('a', 'one'), ('b', 'two'), ('c', NULL);"),
            SQLMigration(version: 2, name: "b", sql: "UPDATE text SET body = NULL;"),
        ])
        let queue = try DatabaseQueue()
        try schema.migrate(queue, upTo: 1)
        let rehearsal = try schema.rehearse(queue)
        #expect(
            rehearsal.summary.contains("\nValues\n  text.body  2 of 3 rows, 2 to NULL\n"),
            "\(rehearsal.summary)")
        #expect(rehearsal.losses == ["column `text.body` has changed: 2 of 3 rows, 2 to NULL"])
    }

    @Test("finds no loss in a table that has another name")
    func renamedTable() throws {
        let rehearsal = try rehearsal("ALTER TABLE book RENAME TO item; ALTER TABLE shelf RENAME TO board;")
        #expect(rehearsal.losses == [])
        #expect(rehearsal.rows.first { $0.table == "book" }?.after == 2)
        #expect(
            rehearsal.violations.map { "\($0.table) \($0.parent) \($0.before) \($0.after)" } == [
                "item board 1 1"
            ])
        let fewer = try self.rehearsal("ALTER TABLE book RENAME TO item; DELETE FROM item WHERE id = 1;")
        #expect(fewer.losses == ["table `book` has 1 row, and had 2"])
    }

    private static let migrations = [
        SQLMigration(
            version: 1, name: "a", sql: "CREATE TABLE a(x); CREATE TABLE b(x); INSERT INTO a VALUES (1), (2);"
        ),
        SQLMigration(
            version: 2, name: "b", sql: "DELETE FROM a WHERE x = 1; ALTER TABLE a ADD y; DROP TABLE b;"),
    ]

    @Test("reports what is lost, and leaves the file unchanged")
    func losses() throws {
        let folder = try TemporaryFolder()
        try folder.migrate(Self.migrations, in: "app.sqlite", upTo: 1)
        try folder.execute("INSERT INTO b VALUES (1)", in: "app.sqlite")
        let before = try folder.contents
        let rehearsal = try SchemaMigrator(migrations: Self.migrations)
            .rehearse(path: folder.file("app.sqlite").path)
        #expect(rehearsal.losses == ["table `a` has 1 row, and had 2", "table `b` is gone, and had 1 row"])
        #expect(
            rehearsal.summary.withoutTimes.hasPrefix(
                """
                The database: 1 migration on a copy, in TIME
                  ✓  2  b TIME

                Schema
                  table `a`: column `y` was added: without a type
                  table `b` was removed

                Rows
                  a  2  →  1  fewer
                  b  1  →  -  fewer

                """))
        #expect(try folder.contents == before)
    }

    @Test("needs an existing file")
    func missing() throws {
        let folder = try TemporaryFolder()
        let schema = try SchemaMigrator(migrations: Self.migrations)
        #expect(throws: MigrationError.self) {
            try schema.rehearse(path: folder.file("app.sqlite").path)
        }
        #expect(try folder.fileNames == [])
    }
}
