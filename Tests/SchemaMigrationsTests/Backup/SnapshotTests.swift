import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A snapshot", .timed)
struct SnapshotTests {
    let folder: TemporaryFolder

    /// Every kind of object that a schema can have.
    private static let files = [
        "1_entries.sql": """
        CREATE TABLE entry(
            id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL DEFAULT '-- none;',
            length AS (length(text)), shout TEXT GENERATED ALWAYS AS (upper(text)) STORED
        );
        CREATE TABLE "strange; name"("a b" BLOB, c REAL) STRICT;
        INSERT INTO entry(text) VALUES ('first; it''s'), ('second
        -- snapshot: 99 no header'), ('');
        INSERT INTO "strange; name" VALUES (x'00ff', 0.1), (NULL, 1e300);
        """,
        "2_search.sql": "CREATE VIRTUAL TABLE search USING fts5(text, content='entry', content_rowid='id');",
        "3_rest.sql": """
        CREATE INDEX long ON entry(length) WHERE length > 10;
        CREATE TABLE log(id INTEGER PRIMARY KEY, x) WITHOUT ROWID;
        CREATE TRIGGER logged AFTER INSERT ON entry BEGIN
            INSERT INTO log SELECT new.id, CASE WHEN new.text = ';' THEN 'semi;colon' END;
        END;
        INSERT INTO entry(text) VALUES ('third');
        CREATE VIEW texts AS SELECT text FROM entry; CREATE TRIGGER new_text INSTEAD OF INSERT ON texts BEGIN
            INSERT INTO entry(text) VALUES (new.text);
        END;
        """, "4_view.sql": "CREATE VIEW ids AS SELECT id FROM entry -- a comment at the end",
    ]

    init() throws {
        folder = try TemporaryFolder()
    }

    private var url: URL { folder.url.appendingPathComponent("snapshot.sql") }

    private func migrator(
        _ files: [String: String] = files, migrations: [any SchemaMigration] = []
    ) throws -> SchemaMigrator {
        try SchemaMigrator(directories: [folder.folder(files)], migrations: migrations, snapshot: url)
    }

    @Test("creates the same database as the migrations, including inserted rows")
    func same() throws {
        try migrator().writeSnapshot(to: url)
        let replayed = try folder.queue("replayed.sqlite")
        try SchemaMigrator(directory: folder.folder([:])).migrate(replayed)
        let loaded = try folder.queue("loaded.sqlite")
        #expect(try migrator().migrate(loaded).applied == [1, 2, 3, 4])
        for question in [
            "SELECT type || name || tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY type, name",
            "SELECT id || text || length || shout FROM entry ORDER BY id",
            "SELECT quote(\"a b\") || c FROM \"strange; name\"",
            "SELECT * FROM log", "SELECT text FROM texts", "SELECT id FROM ids",
            "SELECT seq FROM sqlite_sequence",
            "SELECT version FROM schema_migrations ORDER BY 1",
        ] {
            let answer = try loaded.strings(question)
            #expect(try replayed.strings(question) == answer)
            #expect(!answer.isEmpty)
        }
        let history = try loaded.read(AppliedMigration.fetchAll)
        #expect(history.map(\.origin) == Array(repeating: .snapshot, count: 4))
        #expect(history.map(\.name) == ["entries", "search", "rest", "view"])

        try loaded.execute(
            "INSERT INTO texts VALUES ('by the view'); INSERT INTO search(search) VALUES ('rebuild')")
        #expect(try loaded.integers("SELECT rowid FROM search WHERE search MATCH 'view'") == [5])
        #expect(try loaded.integers("SELECT id FROM log ORDER BY id") == [4, 5])
    }

    @Test(
        "holds the full-text index of rows that the migrations inserted",
        arguments: [
            "fts5(text, content='entry', content_rowid='id')", "fts4(text, content=\"entry\")",
            "fts5(text, content=texts, content_rowid=id)",
        ])
    func fullText(definition: String) throws {
        let schema = try migrator([
            "1_entries.sql": """
            CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT);
            INSERT INTO entry VALUES (1, 'first'), (7, 'second seed'), (8, '...');
            """,
            "2_search.sql": """
            CREATE VIEW texts AS SELECT id, text FROM entry;
            CREATE VIRTUAL TABLE search USING \(definition);
            INSERT INTO search(search) VALUES ('rebuild');
            CREATE TRIGGER deleted BEFORE DELETE ON entry BEGIN
                INSERT INTO search(search, rowid, text) VALUES ('delete', old.id, old.text);
            END;
            """,
        ])
        try schema.writeSnapshot(to: url)
        let loaded = try folder.queue("loaded.sqlite")
        try schema.migrate(loaded)
        #expect(try loaded.integers("SELECT rowid FROM search WHERE search MATCH 'seed'") == [7])
        if !definition.hasPrefix("fts4") {
            try loaded.execute("DELETE FROM entry WHERE id = 7")
            #expect(try loaded.integers("SELECT rowid FROM search WHERE search MATCH 'seed'") == [])
        }
        try loaded.execute("INSERT INTO search(search) VALUES ('integrity-check')")
    }

    @Test(
        "holds tables that are named like those of a virtual table, but are the app's",
        .needs(.shadowNames))
    func shadows() throws {
        let schema = try migrator([
            "1_docs.sql": """
            CREATE VIRTUAL TABLE doc USING fts5(title, content='');
            CREATE TABLE doc_content(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO doc_content VALUES (1, 'seed');
            CREATE INDEX doc_title ON doc_content(title);
            CREATE VIRTUAL TABLE notes USING fts3(text);
            CREATE TABLE notes_stat(x); CREATE TABLE notes_docsize(y PRIMARY KEY) WITHOUT ROWID;
            """
        ])
        try schema.writeSnapshot(to: url)
        let loaded = try folder.queue("loaded.sqlite")
        try schema.migrate(loaded)
        #expect(try loaded.strings("SELECT title FROM doc_content") == ["seed"])
        let names = try loaded.strings("SELECT name FROM sqlite_master ORDER BY name")
        for name in ["doc_title", "notes_stat", "notes_docsize", "doc_data", "notes_content"] {
            #expect(names.count { $0 == name } == 1, "\(name)")
        }
    }

    @Test("holds user_version, application_id, and the sequences of AUTOINCREMENT")
    func settings() throws {
        let schema = try migrator([
            "1_a.sql": """
            PRAGMA user_version = 7; PRAGMA application_id = -2;
            CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO a VALUES (41), (42);
            DELETE FROM a WHERE id = 42;
            CREATE TABLE b(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO b VALUES (5); DELETE FROM b;
            """
        ])
        try schema.writeSnapshot(to: url)
        let loaded = try folder.queue("loaded.sqlite")
        try schema.migrate(loaded)
        #expect(try loaded.strings("PRAGMA user_version") == ["7"])
        #expect(try loaded.strings("PRAGMA application_id") == ["-2"])
        #expect(try loaded.strings("SELECT name || seq FROM sqlite_sequence ORDER BY name") == ["a42", "b5"])
    }

    @Test("holds every value as it is: ids of rows, texts with a NUL or not in UTF-8, and extreme numbers")
    func values() throws {
        let schema = try migrator([
            "1_a.sql": """
            CREATE TABLE a(x);
            INSERT INTO a(rowid, x) VALUES (5, 'a' || char(0) || 'b'), (9, CAST(x'ff41' AS TEXT)), (10, 'it''s'),
                (11, -9223372036854775808), (12, 9e999), (13, -9e999), (14, 0.1), (15, 5e-324), (16, x''), (17, ''),
                (18, 'e' || char(769)), (19, char(233)), (20, 1.0), (21, 1), (22, char(39, 769));
            CREATE TABLE b(id INTEGER PRIMARY KEY, rowid, _rowid_ AS (id)); INSERT INTO b VALUES (3, 4);
            """
        ])
        try schema.writeSnapshot(to: url)
        let loaded = try folder.queue("loaded.sqlite")
        try schema.migrate(loaded)
        let replayed = try folder.queue("replayed.sqlite")
        try SchemaMigrator(directory: folder.folder([:])).migrate(replayed)
        let sql =
            "SELECT rowid || typeof(x) || hex(x) || CASE typeof(x) WHEN 'text' THEN '' ELSE quote(x) END FROM a"
        let values = try loaded.strings(sql)
        #expect(try values == replayed.strings(sql))
        #expect(values.count == 15)
    }

    @Test("replaces the migrations that it contains, and later ones run")
    func notRun() throws {
        let runs = Locked<[SchemaVersion]>([])
        func recording(_ version: SchemaVersion) -> CodeMigration {
            CodeMigration(version, "Code\(version)") { db in
                runs.withLock { $0.append(version) }
                try db.execute(sql: "CREATE TABLE t\(version)(x)")
            }
        }
        try migrator(migrations: [recording(5)]).writeSnapshot(to: url)
        runs.withLock { $0 = [] }
        let schema = try migrator(migrations: [recording(5), recording(6)])
        let queue = try folder.queue()
        #expect(try schema.migrate(queue).applied == [1, 2, 3, 4, 5, 6])
        #expect(runs.withLock { $0 } == [6])
        #expect(try queue.ledger() == [1, 2, 3, 4, 5, 6])
        #expect(try schema.migrate(queue).applied == [])
        #expect(try queue.tables().filter { $0.hasPrefix("t") } == ["t5", "t6"])
    }

    @Test("is written in an app that lets definitions use trusted functions alone, as SQLite recommends")
    func trustedSchema() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        let schema = try SchemaMigrator(
            migrations: [
                SQLMigration(
                    version: 1, name: "entry",
                    sql: """
                        CREATE TABLE entry(created TEXT CHECK (created IS date(created)));
                        CREATE INDEX entry_day ON entry(date(created));
                        INSERT INTO entry VALUES ('2026-01-02')
                        """)
            ], snapshot: url)
        try schema.writeSnapshot(to: url, configuration: configuration)
        let queue = try folder.queue("app.sqlite", configuration)
        #expect(try schema.migrate(queue).applied == [1])
        #expect(try queue.strings("SELECT created FROM entry") == ["2026-01-02"])
    }

    @Test("is not used for a version below its own")
    func below() throws {
        try migrator().writeSnapshot(to: url)
        let queue = try folder.queue()
        #expect(try migrator().migrate(queue, upTo: 2).applied == [1, 2])
        #expect(try queue.read(AppliedMigration.fetchAll).map(\.origin) == [.applied, .applied])
        #expect(try migrator().migrate(queue).applied == [3, 4])
    }

    @Test("is not used for a database that is not empty")
    func notEmpty() throws {
        try migrator().writeSnapshot(to: url)
        let queue = try folder.queue()
        try migrator().migrate(queue, upTo: 1)
        #expect(try migrator().migrate(queue).applied == [2, 3, 4])
        let other = try folder.queue("other.sqlite")
        try other.execute("CREATE TABLE theirs(x)")
        #expect(try failure { try migrator().migrate(other) }.code == .undecided)
    }

    @Test("does not prevent an out-of-order migration that it does not contain from running")
    func late() throws {
        try migrator(["1_a.sql": "CREATE TABLE a(x)", "3_c.sql": "CREATE TABLE c(x)"]).writeSnapshot(to: url)
        let schema = try migrator(["2_b.sql": "CREATE TABLE b(x)"])
        let queue = try folder.queue()
        #expect(try schema.migrate(queue).applied == [1, 3, 2])
        #expect(try queue.tables() == ["a", "b", "c"])
    }

    @Test("is loaded by only one of two simultaneous connections")
    func twoConnections() throws {
        try migrator().writeSnapshot(to: url)
        for round in 0..<10 {
            var schema = try migrator()
            schema.options.busyTimeout = .seconds(600)
            let applied = Locked<[[SchemaVersion]]>([])
            let failures = Locked<[String]>([])
            let path = folder.path("\(round).sqlite")
            DispatchQueue.concurrentPerform(iterations: 2) { [schema] _ in
                do {
                    let database = try DatabaseFile(path: path, waitingFor: .seconds(600)).openQueue()
                    let report = try schema.migrate(database)
                    applied.withLock { $0.append(report.applied) }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
            #expect(applied.withLock { $0.flatMap { $0 } } == [1, 2, 3, 4])
            #expect(try DatabaseQueue(path: path).ledger() == [1, 2, 3, 4])
        }
    }
}

@Suite("An unusable snapshot", .timed)
struct BadSnapshotTests {
    let folder: TemporaryFolder
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        schema = try SchemaMigrator(
            directory: folder.folder([
                "1_a.sql": "CREATE TABLE a(x); INSERT INTO a VALUES (1);",
                "2_b.sql": "CREATE VIEW b AS SELECT x FROM a",
            ]), snapshot: folder.url.appendingPathComponent("snapshot.sql"))
    }

    private var url: URL { folder.url.appendingPathComponent("snapshot.sql") }
    private static let remedy = "Write it again with `app-migrations snapshot write`."

    private func expectStale(_ files: [String: String], _ differences: String) throws {
        try schema.writeSnapshot(to: url)
        try schema.verifySnapshot(at: url)
        try folder.folder(files)
        let error = try failure { try schema.verifySnapshot(at: url) }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description
                == "snapshot.sql: is not what the migrations make: \(differences). \(Self.remedy)")
        #expect(error.file == "snapshot.sql")
    }

    @Test(
        "reports the differences if a migration in it was edited",
        arguments: [
            (
                "CREATE TABLE a(x, y); INSERT INTO a(x) VALUES (1);",
                "table `a`: column `y` is missing after the snapshot; table `a` has 1 row after all migrations, 1 after the snapshot, with other values"
            ),
            ("CREATE TABLE a(x);", "table `a` has 0 rows after all migrations, 1 after the snapshot"),
            (
                "CREATE TABLE a(x); INSERT INTO a VALUES (2);",
                "table `a` has 1 row after all migrations, 1 after the snapshot, with other values"
            ),
            (
                "CREATE TABLE a(x); INSERT INTO a VALUES (1); CREATE INDEX i ON a(x)",
                "index `i` is missing after the snapshot"
            ),
        ])
    func edited(sql: String, differences: String) throws {
        try expectStale(["1_a.sql": sql], differences)
    }

    @Test("reports what is missing if a migration in it no longer creates it")
    func less() throws {
        try expectStale(["2_b.sql": "-- Nothing."], "view `b` is missing after all migrations")
    }

    @Test("is not one whose migrations changed only in white space or comments")
    func whiteSpace() throws {
        try schema.writeSnapshot(to: url)
        try folder.folder(["1_a.sql": "CREATE TABLE  a( x /* x */ );\nINSERT INTO a VALUES (1);"])
        try schema.verifySnapshot(at: url)
    }

    @Test(
        "is reported with the reason, and leaves the database empty",
        arguments: [
            (
                "-- snapshot: 1 a\n-- snapshot: 7 z\n",
                "snapshot.sql: contains version 7, which no migration has."
            ),
            ("CREATE TABLE a(x);", "snapshot.sql: does not say which migrations it contains."),
            (
                "CREATE TABLE a(x);\n-- snapshot: 1 a\n",
                "snapshot.sql: does not say which migrations it contains."
            ),
            ("", "snapshot.sql: is empty."),
            ("-- snapshot: x a\n", "snapshot.sql: does not say which migrations it contains."),
            (
                "-- snapshot: 1 a\nCREATE TABLE b(x);\nCREATE b;",
                "snapshot.sql:3: near \"b\": syntax error (SQLite 1)."
            ),
        ])
    func bad(text: String, message: String) throws {
        try Data(text.utf8).write(to: url)
        let queue = try folder.queue()
        let error = try failure { try schema.migrate(queue) }
        #expect(error.message == message)
        #expect(error.committed == [])
        let remedies = [
            "If it is meant to do nothing, write a comment into it.", Self.remedy,
            "\(Self.remedy) Nothing was changed.",
        ]
        #expect(remedies.contains(error.remedy))
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
    }

    @Test("is reported if it is missing")
    func missing() throws {
        let error = try failure { try schema.migrate(folder.queue()) }
        #expect(error.code == .invalidMigration)
        #expect(error.message.hasPrefix("snapshot.sql: cannot be read: "))
        #expect(error.remedy == Self.remedy)
    }

    @Test("is not read for a database that is not empty")
    func notNeeded() throws {
        let queue = try folder.queue()
        try SchemaMigrator(directory: folder.folder([:])).migrate(queue, upTo: 1)
        #expect(try schema.migrate(queue).applied == [2])
    }

    @Test(
        "holds the texts of a full-text table that indexes its own",
        arguments: [
            "fts5(title, body UNINDEXED)", "fts4(title, body)", "fts4(title, body, languageid=\"lid\")",
            "fts3(title, body)",
        ])
    func ownTexts(definition: String) throws {
        let language = definition.contains("lid")
        let files = """
            CREATE VIRTUAL TABLE "the help" USING \(definition);
            INSERT INTO "the help"(rowid, title, body) VALUES (3, 'how to', NULL), (7, 'it''s', x'00ff');
            INSERT INTO "the help"(title, body) VALUES ('gone', 'gone'), (NULL, NULL);
            DELETE FROM "the help" WHERE title = 'gone';
            \(language ? "UPDATE \"the help\" SET lid = 2 WHERE rowid = 7;" : "")
            """
        func schema(snapshot: URL?) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: [SQLMigration(version: 1, name: "help", sql: files)], snapshot: snapshot)
        }
        try schema(snapshot: nil).writeSnapshot(to: url)
        let loaded = try folder.queue("loaded.sqlite")
        try schema(snapshot: url).migrate(loaded)
        let sql = "SELECT rowid FROM \"the help\""
        #expect(try loaded.integers(sql) == [3, 7, 9])
        #expect(try loaded.integers("\(sql) WHERE \"the help\" MATCH 'how'") == [3])
        if language { #expect(try loaded.integers("\(sql) WHERE \"the help\" MATCH 's' AND lid = 2") == [7]) }
    }

    @Test("is an error if a virtual table of another kind has rows")
    func virtualRows() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "area",
                sql:
                    "CREATE VIRTUAL TABLE area USING rtree(id, low, high); INSERT INTO area VALUES (1, 2, 3);"
            )
        ])
        let error = try failure { try schema.writeSnapshot(to: url) }
        #expect(
            error.message == """
                snapshot.sql: is not what the migrations make: table `area` has 1 row after all migrations, 0 after the \
                snapshot.
                """)
        #expect(error.remedy.hasPrefix("A snapshot cannot hold that: "))
    }

    @Test(
        "because one of its values is different says so",
        arguments: [
            (
                "PRAGMA user_version = 2",
                "PRAGMA user_version is 2 after all migrations, 1 after the snapshot"
            ),
            (
                "UPDATE sqlite_sequence SET seq = 9",
                "the AUTOINCREMENT sequence of table `a` is at 9 after all migrations, 3 after the snapshot"
            ),
            (
                "UPDATE a SET x = 'e' || char(769)",
                "table `a` has 1 row after all migrations, 1 after the snapshot, with other values"
            ),
            (
                "INSERT INTO s(s, rowid, x) VALUES ('delete', 3, char(233))",
                "the full-text index of table `s` differs between all migrations and the snapshot"
            ),
        ])
    func value(sql: String, differences: String) throws {
        let first = """
            CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x); INSERT INTO a VALUES (3, char(233));
            CREATE VIRTUAL TABLE s USING fts5(x, content='a', content_rowid='id'); INSERT INTO s(s) VALUES ('rebuild');
            PRAGMA user_version = 1;
            """
        func schema(_ sql: String) throws -> SchemaMigrator {
            try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "a", sql: sql)])
        }
        try schema(first).writeSnapshot(to: url)
        let error = try failure { try schema(first + sql).verifySnapshot(at: url) }
        #expect(error.message.contains(differences), "\(error.message)")
    }

    @Test("because it cannot be verified leaves the last one")
    func keepsLast() throws {
        try schema.writeSnapshot(to: url)
        let last = try Data(contentsOf: url)
        let bad = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "search",
                sql:
                    "CREATE VIRTUAL TABLE area USING rtree(id, low, high); INSERT INTO area VALUES (1, 2, 3);"
            )
        ])
        let error = try failure { try bad.writeSnapshot(to: url) }
        #expect(error.message.hasPrefix("snapshot.sql: is not what the migrations make"))
        #expect(try Data(contentsOf: url) == last)
        #expect(try folder.fileNames.filter { $0.hasPrefix(".") } == [])
    }

    @Test("does not replace a migration or any other file")
    func otherFiles() throws {
        let migration = folder.url.appendingPathComponent("2_b.sql")
        let before = Data("CREATE TABLE mine(x)".utf8)
        try before.write(to: migration)
        let names = try folder.fileNames
        #expect(
            try failure { try schema.writeSnapshot(to: migration) }.message
                == "2_b.sql: has the name of a migration, which begins with a digit.")
        #expect(try Data(contentsOf: migration) == before)
        let notes = folder.url.appendingPathComponent("notes.txt")
        try Data("mine".utf8).write(to: notes)
        let error = try failure { try schema.writeSnapshot(to: notes) }
        #expect(error.message == "notes.txt: exists already, and is not a snapshot.")
        #expect(error.remedy == "Remove it, or pass another path. Nothing was changed.")
        #expect(try Data(contentsOf: notes) == Data("mine".utf8))
        #expect(try Set(folder.fileNames) == Set(names + ["notes.txt"]))
    }

    @Test("is replaced where a link leads to it")
    func link() throws {
        try schema.writeSnapshot(to: url)
        let link = folder.url.appendingPathComponent("link.sql")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        try Data("-- snapshot: 1 a\n".utf8).write(to: url)
        try schema.writeSnapshot(to: link)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == url.path)
        try schema.verifySnapshot(at: url)
    }

    @Test("cannot be written to a missing folder")
    func unwritable() throws {
        let error = try failure {
            try schema.writeSnapshot(to: folder.url.appendingPathComponent("no/where.sql"))
        }
        #expect(error.code == .invalidMigration)
        #expect(error.message.hasPrefix("where.sql: cannot be written: "))
        #expect(error.remedy == "Create its folder, or make it writable.")
    }
}

extension Requirement {
    /// An SQLite that lets an app give a table the name of a virtual table's, as it does not in its defensive mode.
    fileprivate static let shadowNames = Self(
        "shadow tables", "build SQLite without SQLITE_DBCONFIG_DEFENSIVE."
    ) {
        (try? DatabaseQueue().execute(
            "CREATE VIRTUAL TABLE doc USING fts5(title, content=''); CREATE TABLE doc_content(id)")) != nil
    }
}
