import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Full-text tables of a damaged database", .timed)
struct FullTextSalvageTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
    }

    private func make(_ tables: String, _ rows: String, losing lost: [String] = []) throws -> SchemaMigrator {
        let schema = try SchemaMigrator(
            tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT); \(tables)")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(rows)
        try queue.close()
        let pages = DatabasePages(path: path)
        for table in lost { try pages.erase(pages.root(table)) }
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        return schema
    }

    @Test(
        "without content, or with a compressed one, keep nothing from being saved",
        arguments: [
            "fts5(title, content='')", "fts5(title, content = \"\")", "fts4(title, content=\"\")",
            "fts4(title, compress=hex, uncompress=lower)",
        ])
    func contentless(module: String) throws {
        let schema = try make(
            "CREATE VIRTUAL TABLE titles USING \(module);",
            "INSERT INTO note VALUES (1, 'red rose'); INSERT INTO titles(rowid, title) VALUES (1, 'red rose')"
        )
        let file = DatabaseFile(path: path)
        let report = try file.salvage(into: schema)
        // Their words cannot be found again.
        #expect(report.tables.filter { $0.missingPages > 0 }.map(\.name) == ["titles"])
        let setAside = try #require(report.setAside)
        let queue = try file.openQueue()
        #expect(try queue.strings("SELECT title FROM note") == ["red rose"])
        try queue.execute("DELETE FROM note")
        #expect(try file.salvage(from: setAside, into: schema, of: queue).saved == 1)
        try queue.close()
    }

    @Test("keep the language of each text")
    func language() throws {
        let schema = try make(
            "CREATE VIRTUAL TABLE titles USING fts4(title, languageid=\"lid\");",
            "INSERT INTO titles(rowid, title, lid) VALUES (1, 'red rose', 0), (2, 'rose', 7)")
        let file = DatabaseFile(path: path)
        let report = try file.salvage(into: schema)
        #expect(report.isComplete && report.saved == 2)
        let queue = try file.openQueue()
        #expect(try queue.integers("SELECT rowid FROM titles WHERE titles MATCH 'rose' AND lid = 7") == [2])
        try queue.execute("DELETE FROM titles")
        let setAside = try #require(report.setAside)
        #expect(try file.salvage(from: setAside, into: schema, of: queue).saved == 2)
        #expect(try queue.integers("SELECT lid FROM titles ORDER BY rowid") == [0, 7])
        try queue.close()
    }

    @Test(
        "find the words of another table, however their definition is written",
        arguments: [
            "fts5(title, content = 'note', content_rowid = 'id')",
            "fts5(title, content=note, content_rowid=id)",
            "FTS4(content=\"note\", title)",
        ])
    func external(module: String) throws {
        let schema = try make(
            """
            CREATE VIRTUAL TABLE titles USING \(module);
            CREATE TRIGGER added AFTER INSERT ON note BEGIN
                INSERT INTO titles(rowid, title) VALUES (new.id, new.title);
            END;
            """, "INSERT INTO note VALUES (1, 'red rose'), (2, 'blue sky')")
        _ = try DatabaseFile(path: path).salvage(into: schema)
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.integers("SELECT rowid FROM titles WHERE titles MATCH 'sky'") == [2])
        try queue.close()
    }

    @Test(
        "and others whose rows no other table has count as missing, unless they were empty",
        arguments: [[], ["place_node", "place_parent", "place_rowid"]])
    func others(lost: [String]) throws {
        let schema = try make(
            """
            CREATE VIRTUAL TABLE empty USING fts5(title, content='');
            CREATE VIRTUAL TABLE nowhere USING rtree(id, x1, x2);
            CREATE VIRTUAL TABLE place USING rtree(id, x1, x2);
            """, "INSERT INTO note VALUES (1, 'red rose'); INSERT INTO place VALUES (1, 2, 3)",
            losing: lost)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.saved == 1 && !report.isComplete)
        #expect(report.tables.map(\.name) == ["note", "place"])
    }

    @Test(
        "are no rivals for the rows of a table where the schema is lost: they never hold a text",
        arguments: ["fts5(title, content='note', content_rowid='id')", "rtree(id, x1, x2)"])
    func rivals(module: String) throws {
        let schema = try make(
            "CREATE VIRTUAL TABLE other USING \(module);",
            """
            WITH RECURSIVE new(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM new WHERE id < 500)
            INSERT INTO note SELECT id, 'red rose ' || id FROM new;
            \(module.hasPrefix("fts5") ? "INSERT INTO other(other) VALUES ('rebuild')" : "INSERT INTO other SELECT id, id, id FROM note")
            """)
        try DatabasePages(path: path).erase(1)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.tables.first { $0.name == "note" }?.saved == 500)
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.integers("SELECT count(*) FROM note WHERE title = 'red rose ' || id") == [500])
        try queue.close()
    }

    @Test(
        "keep neither an app's own table with a name like theirs from being saved, nor one of blobs",
        arguments: [
            (
                "CREATE VIRTUAL TABLE doc USING fts5(title, columnsize=0); "
                    + "CREATE TABLE doc_docsize(id INTEGER PRIMARY KEY, size INTEGER NOT NULL);",
                "INSERT INTO doc(rowid, title) VALUES (1, 'red'); INSERT INTO doc_docsize VALUES (1, 100), (2, 200)",
                "SELECT size FROM doc_docsize", ["100", "200"]
            ),
            (
                "CREATE VIRTUAL TABLE doc USING fts4(title); CREATE TABLE photo(id INTEGER PRIMARY KEY, data BLOB);",
                "INSERT INTO doc(doc) VALUES ('automerge=8'); INSERT INTO doc(rowid, title) VALUES (1, 'red'); "
                    + "INSERT INTO photo VALUES (1, x'0102'), (2, x'0304'), (7, x'05')",
                "SELECT hex(data) FROM photo", ["0102", "0304", "05"]
            ),
        ])
    func names(tables: String, rows: String, query: String, found: [String]) throws {
        let schema = try make(tables, rows)
        #expect(try DatabaseFile(path: path).salvage(into: schema).isComplete)
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.strings(query) == found)
        try queue.close()
    }

    @Test("get no deleted rows of another table with as many columns")
    func deletedRows() throws {
        let schema = try make(
            "CREATE VIRTUAL TABLE titles USING fts5(title);",
            """
            WITH RECURSIVE new(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM new WHERE id < 2000)
            INSERT INTO note SELECT id, 'private ' || id FROM new;
            INSERT INTO titles(rowid, title) SELECT id, 'red rose ' || id FROM note;
            DELETE FROM note WHERE id > 700;
            """, losing: ["titles_content"])
        // The header is from before the deletion: it says that no page is free.
        try DatabasePages(path: path).change { $0.replaceSubrange(32..<40, with: Data(count: 8)) }
        _ = try DatabaseFile(path: path).salvage(into: schema)
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.integers("SELECT count(*) FROM note") == [700])
        #expect(try queue.integers("SELECT count(*) FROM titles WHERE title LIKE 'private%'") == [0])
        try queue.close()
    }

    @Test(
        "keep the rows of an app's own table that is named like one of theirs",
        arguments: ["note_content", ""])
    func tableNamedAsShadow(content: String) throws {
        let schema = try make(
            """
            CREATE TABLE note_content(id INTEGER PRIMARY KEY, title TEXT);
            DROP TABLE note;
            CREATE VIRTUAL TABLE note USING fts5(title, content='\(content)', content_rowid='id');
            """, "INSERT INTO note_content VALUES (1, 'red rose')")
        let file = DatabaseFile(path: path)
        let report = try file.salvage(into: schema)
        let queue = try file.openQueue()
        #expect(report.tables.map(\.name) == ["note_content"])
        #expect(try queue.strings("SELECT title FROM note_content") == ["red rose"])
        try queue.execute("DELETE FROM note_content")
        let setAside = try #require(report.setAside)
        #expect(try file.salvage(from: setAside, into: schema, of: queue).saved == 1)
        try queue.close()
    }

    @Test("of a table that is not there keep nothing from being saved, and the report says so")
    func lostContent() throws {
        let schema = try make(
            "CREATE TABLE text(id INTEGER PRIMARY KEY, title TEXT);"
                + "CREATE VIRTUAL TABLE titles USING fts5(title, content=text, content_rowid=id)",
            "INSERT INTO note VALUES (1, 'red rose'); ALTER TABLE text RENAME TO entry")
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(!report.isComplete)
        #expect(report.tables.map(\.name) == ["note", "titles"])
    }
}
