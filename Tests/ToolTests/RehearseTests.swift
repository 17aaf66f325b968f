import Foundation
import GRDB
import TestSupport
import Testing

@Suite("app-migrations rehearse, dump and snapshot", .timed)
struct RehearseTests {
    private static let migrations = [
        "1_a.sql": "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, note TEXT);\nCREATE TABLE junk(x);",
        "2_b.sql": """
        CREATE TABLE book_new(id INTEGER PRIMARY KEY, title TEXT NOT NULL, shelf INTEGER REFERENCES shelf(id));
        INSERT INTO book_new SELECT id, title, 1 FROM book WHERE title IS NOT NULL;
        DROP TABLE book;
        ALTER TABLE book_new RENAME TO book;
        CREATE TABLE shelf(id INTEGER PRIMARY KEY);
        INSERT INTO shelf VALUES (1);
        CREATE INDEX by_title ON book(title);
        DROP TABLE junk;
        """,
    ]

    private func tool() async throws -> Tool {
        let tool = try Tool(Self.migrations)
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        try tool.execute("INSERT INTO book(title) VALUES ('Middlemarch'), (NULL)")
        return tool
    }

    @Test("reports the effects of migrating, and leaves the database unchanged")
    func rehearse() async throws {
        let tool = try await tool()
        let before = try Data(contentsOf: tool.folder.file("app.sqlite"))
        let run = try await tool("rehearse --database app.sqlite")
        #expect(
            run.output.withoutTimes == """
                app.sqlite: 1 migration on a copy, in TIME
                  ✓  2  b TIME

                Schema
                  index `by_title` was added
                  table `book`: column `title` was TEXT, and is TEXT NOT NULL
                  table `book`: column `note` was removed: it was TEXT
                  table `book`: column `shelf` was added: INTEGER
                  table `book`: foreign key (shelf) was added: `shelf`(id)
                  table `junk` was removed
                  table `shelf` was added

                Rows
                  book   2  →  1  fewer
                  junk   0  →  -
                  shelf  -  →  1

                Foreign keys
                  no row refers to a missing row

                Size
                  24.0 KiB → 32.0 KiB
                  at most SIZE meanwhile, with the journal and temporary files

                """)
        #expect(run.status == 0)
        #expect(try Data(contentsOf: tool.folder.file("app.sqlite")) == before)
        #expect(try tool.folder.fileNames == ["Migrations", "app.sqlite"])
    }

    @Test("counts the values that change in each column, and shows one only if asked to")
    func values() async throws {
        let tool = try Tool([
            "1_a.sql": """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, mail TEXT);
            CREATE TABLE pet(id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES person(id), name TEXT);
            """,
            "2_b.sql": """
            CREATE TABLE new(id INTEGER PRIMARY KEY, name TEXT, mail TEXT);
            INSERT INTO new(name) SELECT name FROM person;
            DROP TABLE person;
            ALTER TABLE new RENAME TO person;
            ALTER TABLE pet RENAME COLUMN name TO title;
            UPDATE pet SET title = upper(title);
            """,
        ])
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        try tool.execute(
            """
            INSERT INTO person VALUES (1, 'Ada', 'ada@example.com'), (3, 'Bo', 'bo@example.com'), (4, 'Cy', NULL);
            INSERT INTO pet VALUES (1, 1, 'Rex'), (2, 3, 'Tom');
            """)
        func values(_ arguments: String) async throws -> String {
            let output = try await tool("rehearse --database app.sqlite\(arguments)").output
            return output.components(separatedBy: "\n\n").first { $0.hasPrefix("Values") } ?? output
        }
        #expect(
            try await values("") == """
                Values
                  person.id    2 of 3 rows
                  person.mail  2 of 3 rows, 2 to NULL
                  pet.name     2 of 2 rows
                  pet.owner    1 of 2 rows refer to another row
                """)
        #expect(
            try await values(" --show-values") == """
                Values
                  person.id    2 of 3 rows: where id = 3, 3 becomes 2
                  person.mail  2 of 3 rows, 2 to NULL: where id = 1, 'ada@example.com' becomes NULL
                  pet.name     2 of 2 rows: where id = 1, 'Rex' becomes 'REX'
                  pet.owner    1 of 2 rows refer to another row: where id = 2, 3 is the key of another row now
                """)
        let json = try await tool("rehearse --database app.sqlite --json").output
        #expect(
            json.contains(
                """
                    {
                      "changed" : 1,
                      "column" : "owner",
                      "lost" : 0,
                      "refersToOtherRows" : true,
                      "rows" : 2,
                      "table" : "pet"
                    }
                """))
        #expect(!json.contains("example"))
    }

    @Test("prints JSON")
    func json() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "ALTER TABLE a ADD COLUMN y TEXT;"])
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        #expect(
            try await tool("rehearse --database app.sqlite --json").output.withoutTimes == """
                {
                  "database" : "app.sqlite",
                  "foreignKeyViolations" : [

                  ],
                  "migrations" : [
                    {
                      "name" : "b",
                      "seconds" : SECONDS,
                      "version" : "2"
                    }
                  ],
                  "rows" : [
                    {
                      "after" : 0,
                      "before" : 0,
                      "gone" : 0,
                      "new" : 0,
                      "table" : "a"
                    }
                  ],
                  "schema" : [
                    {
                      "after" : "TEXT",
                      "sentence" : "table `a`: column `y` was added: TEXT",
                      "subject" : "table `a`: column `y`"
                    }
                  ],
                  "seconds" : SECONDS,
                  "sizeAfter" : 20480,
                  "sizeAtMost" : SIZE,
                  "sizeBefore" : 20480,
                  "unreadableRows" : [

                  ],
                  "values" : [

                  ],
                  "warnings" : [

                  ]
                }

                """)
    }

    @Test("reports rows that already refer to a missing row")
    func violations() async throws {
        let tool = try Tool([
            "1_a.sql": "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(a REFERENCES a(id));",
            "2_b.sql": "ALTER TABLE b ADD COLUMN y TEXT;",
        ])
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        try tool.execute("PRAGMA foreign_keys = OFF; INSERT INTO b VALUES (5)")
        let run = try await tool("rehearse --database app.sqlite")
        #expect(run.output.contains("\nForeign keys\n  b: 1 row without a row of a, 1 before\n"))
    }

    /// True if SQLite takes URIs.
    ///
    /// Otherwise it leaves files beside a WAL database that it reads.
    private static let opensURIs: Bool = {
        var configuration = Configuration()
        configuration.readonly = true
        return (try? DatabaseQueue(path: "file::memory:", configuration: configuration)) != nil
    }()

    private static func leaveJournal(in folder: TemporaryFolder) throws {
        // The copies are what a crash would leave: pages of the transaction in the file, and its journal.
        let queue = try DatabaseQueue(path: folder.file("app.sqlite").path)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA cache_size = 1;
                    BEGIN IMMEDIATE;
                    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                    INSERT INTO junk SELECT hex(randomblob(1000)) FROM n;
                    """)
            for end in ["", "-journal"] {
                try Data(contentsOf: folder.file("app.sqlite\(end)")).write(
                    to: folder.file("killed.sqlite\(end)"))
            }
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
    }

    @Test("rolls a transaction back that a crash has interrupted, before it reads")
    func hotJournal() async throws {
        let tool = try await tool()
        try tool.execute("PRAGMA journal_mode = DELETE")
        try Self.leaveJournal(in: tool.folder)
        let run = try await tool("status --database killed.sqlite")
        #expect(run.status == 0)
        #expect(
            run.errors == "Rolled back a transaction of killed.sqlite that a crash has interrupted.\n")
        #expect(try await tool("rehearse --database killed.sqlite").errors == "")
    }

    @Test("reads what the journals beside a database hold, also through a link to it")
    func link() async throws {
        let tool = try await tool()
        let links = try TemporaryFolder()
        for name in ["app.sqlite", "killed.sqlite"] {
            try FileManager.default.createSymbolicLink(
                at: links.file(name), withDestinationURL: tool.folder.file(name))
        }
        try tool.execute("PRAGMA journal_mode = DELETE")
        try Self.leaveJournal(in: tool.folder)
        let killed = links.file("killed.sqlite").path
        #expect(
            try await tool.run(["status", "--database", killed]).errors
                == "Rolled back a transaction of \(killed) that a crash has interrupted.\n")

        let queue = try DatabaseQueue(path: tool.folder.file("app.sqlite").path)
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE logged(a)")
        }
        let dump = try await tool.run(["dump", "--database", links.file("app.sqlite").path])
        #expect(dump.output.contains("CREATE TABLE logged(a)"), "\(dump.errors)")
        try queue.close()
    }

    @Test("reads a database in WAL mode, and leaves no files beside it")
    func writeAheadLog() async throws {
        let tool = try await tool()
        try tool.execute("PRAGMA journal_mode = WAL")
        let before = try Data(contentsOf: tool.folder.file("app.sqlite"))
        for command in ["status", "plan", "rehearse", "history", "dump"] {
            let run = try await tool("\(command) --database app.sqlite")
            #expect(run.errors == "")
            #expect(run.status == 0)
            // Encrypted bytes do not say that they are in WAL mode.
            guard Self.opensURIs, before.starts(with: "SQLite format 3\0".utf8) else { continue }
            #expect(try tool.folder.fileNames == ["Migrations", "app.sqlite"], "\(command)")
        }
        #expect(try Data(contentsOf: tool.folder.file("app.sqlite")) == before)
    }

    @Test("dump prints the schema in a fixed order")
    func dump() async throws {
        let tool = try await tool()
        _ = try await tool("migrate --database app.sqlite")
        let run = try await tool("dump --database app.sqlite")
        #expect(
            run.output == """
                -- A schema at version 2, by app-migrations dump.

                CREATE TABLE "book"(id INTEGER PRIMARY KEY, title TEXT NOT NULL, shelf INTEGER REFERENCES shelf(id));

                CREATE TABLE shelf(id INTEGER PRIMARY KEY);

                CREATE INDEX by_title ON book(title);

                """)
    }

    @Test("snapshot keeps the settings of full-text tables, which their definitions do not name")
    func fullTextSettings() async throws {
        let tool = try Tool([
            "1_text.sql": "CREATE VIRTUAL TABLE text USING fts5(a, b);",
            "2_rank.sql": "INSERT INTO text(text, rank) VALUES ('rank', 'bm25(10.0, 5.0)');",
        ])
        #expect(try await tool("snapshot write --output schema.sql").status == 0)
        let text = try String(contentsOf: tool.folder.file("schema.sql"), encoding: .utf8)
        let setting = "INSERT INTO \"text\"(\"text\", rank) VALUES ('rank', 'bm25(10.0, 5.0)');\n"
        #expect(text.contains(setting), "\(text)")
        #expect(try await tool("snapshot verify --output schema.sql").status == 0)

        try tool.write(text.replacingOccurrences(of: setting, with: ""), to: "schema.sql")
        #expect(
            try await tool("snapshot verify --output schema.sql").errors.hasPrefix(
                "error: schema.sql: is not what the migrations make: "))
        #expect(try await tool("squash --before 2").status == 0)
        try tool.execute("PRAGMA user_version")
        #expect(try await tool("migrate --database app.sqlite").status == 0)
        #expect(try tool.strings("SELECT v FROM text_config WHERE k = 'rank'") == ["bm25(10.0, 5.0)"])
    }

    @Test("snapshot writes a snapshot, verifies it, and reports later changes")
    func snapshot() async throws {
        let tool = try Tool(Self.migrations)
        #expect(try await tool("snapshot write --output schema.sql").output == "schema.sql: 2 migrations\n")
        let verified = try await tool("snapshot verify --output schema.sql")
        #expect(verified.output == "✓ schema.sql makes the same schema as the migrations do\n")

        try tool.write(
            "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT);CREATE TABLE junk(x);",
            to: "Migrations/1_a.sql")
        #expect(try await tool("snapshot verify --output schema.sql").status == 0)
        try tool.write(
            Self.migrations["2_b.sql"]?.replacingOccurrences(of: "title TEXT NOT NULL", with: "title BLOB")
                ?? "",
            to: "Migrations/2_b.sql")
        let stale = try await tool("snapshot verify --output schema.sql")
        #expect(
            stale.errors == """
                error: schema.sql: is not what the migrations make: table `book`: column `title` is BLOB after all \
                migrations, TEXT NOT NULL after the snapshot.
                Write it again with `app-migrations snapshot write`.

                """)
        #expect(stale.status == 1)
    }
}
