import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Bad databases", .timed)
struct BadDatabaseTests {
    let folder: TemporaryFolder
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)",
            "2_fill.sql": """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO a SELECT randomblob(4000) FROM n;
            """,
            "3_b.sql": "CREATE TABLE b(x)",
        ])
    }

    private func write(_ data: Data, to name: String = "app.sqlite") throws {
        try data.write(to: folder.url.appendingPathComponent(name))
    }

    @Test("a read-only database is an error, and can be migrated once it is writable")
    func readOnly() throws {
        _ = try folder.queue().write { db in try db.execute(sql: "PRAGMA user_version = 1") }
        var configuration = Configuration()
        configuration.readonly = true
        let error = try failure { try schema.migrate(folder.queue("app.sqlite", configuration)) }
        #expect(error.code == .unwritable)
        #expect(
            error.description == """
                attempt to write a readonly database (SQLite 8). Make the file and its folder writable, and open \
                it for writing, then retry.
                """)
        #expect(try schema.migrate(folder.queue()).applied == [1, 2, 3])
    }

    @Test("a file that is not a database is an error, and stays unchanged")
    func noDatabase() throws {
        let text = Data(String(repeating: "no database. ", count: 400).utf8)
        try write(text)
        let error = try failure { try schema.migrate(path: folder.path("app.sqlite")) }
        #expect(error.code == .databaseFailed)
        #expect(
            error.description
                == """
                app.sqlite: file is not a database (SQLite 26). If it is encrypted, pass its passphrase; if not, restore \
                the database from a backup.
                """)
        #expect(error.sqliteCode == 26)
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("app.sqlite")) == text)
    }

    @Test("a database in a missing folder is an error")
    func noFolder() throws {
        let error = try failure { try schema.migrate(path: folder.path("nowhere/app.sqlite")) }
        #expect(
            error.description == """
                app.sqlite: unable to open database file (SQLite 14). Check that its folder exists, and that both can \
                be read and written.
                """)
    }

    @Test("a damaged database is an error, and its ledger does not change")
    func corrupt() throws {
        let queue = try folder.queue()
        try schema.migrate(queue, upTo: 2)
        try queue.execute("CREATE INDEX i ON a(x)")
        let root = try #require(try queue.integer("SELECT rootpage FROM sqlite_master WHERE name = 'a'"))
        let pageSize = try #require(try queue.integer("PRAGMA page_size"))
        try queue.close()
        var data = try Data(contentsOf: folder.url.appendingPathComponent("app.sqlite"))
        let start = Int((root - 1) * pageSize)
        data.replaceSubrange(start..<start + Int(pageSize), with: Data(repeating: 0xff, count: Int(pageSize)))
        try write(data)

        try folder.folder(["3_b.sql": "CREATE TABLE b(x); UPDATE a SET x = 1"])
        let error = try failure { try schema.migrate(folder.queue()) }
        #expect(error.code == .damagedDatabase)
        #expect(error.advice == .repair)
        #expect(
            error.description == """
                3_b.sql:1: database disk image is malformed (SQLite 11). Save its rows with \
                DatabaseFile.salvage(into:), or restore a backup.
                """)
        #expect(try folder.queue().ledger() == [1, 2])
    }

    @Test("a full disk is an error, earlier migrations stay, and the next run continues")
    func full() throws {
        let queue = try folder.queue()
        try queue.execute("PRAGMA max_page_count = 20")
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .diskFull)
        #expect(
            error.description == """
                2_fill.sql:1: database or disk is full (SQLite 13). The disk is full. Free some space, then retry.
                """)
        #expect(error.committed == [1])
        #expect(try queue.tables() == ["a"])
        #expect(try queue.ledger() == [1])
        try queue.execute("PRAGMA max_page_count = 100000")
        #expect(try schema.migrate(queue).applied == [2, 3])
        #expect(try queue.integer("SELECT count(*) FROM a") == 200)
    }

    @Test("a full disk leaves no migration with all or nothing")
    func fullAtOnce() throws {
        let queue = try folder.queue()
        var schema = schema
        schema.options.commits = .allOrNothing
        try queue.execute("PRAGMA max_page_count = 20")
        let error = try failure { try schema.migrate(queue) }
        #expect(error.message == "2_fill.sql:1: database or disk is full (SQLite 13).")
        #expect(error.committed == [])
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
    }

    @Test(
        "a ledger may have other columns only if they are optional"
    )
    func otherColumns() throws {
        let queue = try folder.queue()
        try queue.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL, note TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP);
            INSERT INTO schema_migrations(version) VALUES (1); CREATE TABLE a(x)
            """)
        #expect(try schema.migrate(queue).applied == [2, 3])
        #expect(try queue.ledger() == [1, 2, 3])

        let strict = try folder.queue("strict.sqlite")
        try strict.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL, dirty INTEGER NOT NULL);
            INSERT INTO schema_migrations VALUES (1, 0); CREATE TABLE a(x)
            """)
        let error = try failure { try schema.migrate(strict) }
        #expect(error.code == .databaseFailed)
        #expect(
            error.description == """
                The table schema_migrations takes no version: NOT NULL constraint failed: schema_migrations.dirty. \
                It was left as it is. If another tool or the app itself made it, let the app look for that tool's columns before \
                it migrates, rename the table if it has them, and return the version of the tables from `adopting`. If not, fix \
                it by hand: it needs a column `version`, with an integer for each migration.
                """)
        #expect(try strict.ledger() == [1])
        #expect(try strict.tables() == ["a"])
    }

    @Test(
        "another tool's ledger can be renamed, and its version adopted, as the error says",
        arguments: [
            "version INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL",
            "version TEXT PRIMARY KEY, name, at",
            "number INTEGER, name, at",
        ])
    func renamedLedger(columns: String) throws {
        let queue = try folder.queue()
        try queue.execute(
            """
            CREATE TABLE schema_migrations(\(columns)); CREATE TABLE a(x);
            INSERT INTO schema_migrations VALUES (1, 'a', 'now')
            """)
        let schema = try SchemaMigrator(
            migrations: schema.migrations,
            adopting: SchemaAdoption { try Int64.fetchOne($0, sql: "SELECT max(rowid) FROM former") })
        let error = try failure { try schema.migrate(queue) }
        #expect(error.remedy.contains("rename the table if it has them"))
        for applied in [[2, 3], []] as [[SchemaVersion]] {
            if try queue.strings("SELECT name FROM pragma_table_info('schema_migrations')").contains("name") {
                try queue.execute("ALTER TABLE schema_migrations RENAME TO former")
            }
            #expect(try schema.migrate(queue).applied == applied)
        }
        #expect(try queue.ledger() == [1, 2, 3])
    }

    @Test("a ledger in which golang-migrate has marked a version as dirty is an error until it is not")
    func dirty() throws {
        let queue = try folder.queue()
        try queue.execute(
            """
            CREATE TABLE schema_migrations(version uint64, dirty bool);
            CREATE UNIQUE INDEX version_unique ON schema_migrations(version);
            INSERT INTO schema_migrations VALUES (2, 1); CREATE TABLE a(x)
            """)
        for call in [{ _ = try schema.migrate(queue) }, { _ = try queue.read(schema.status) }] {
            let error = try failure(call)
            #expect(error.code == .databaseFailed)
            #expect(
                error.description == """
                    The table schema_migrations says that version 2 is dirty: golang-migrate failed in the middle of it. \
                    Nothing was changed. Complete or undo that migration by hand, then set `dirty` to 0, as `migrate force` does.
                    """)
        }
        try queue.execute("UPDATE schema_migrations SET dirty = 0")
        #expect(try schema.migrate(queue).applied == [3])
    }

    @Test("a ledger that is a view is an error")
    func view() throws {
        let queue = try folder.queue()
        try queue.execute("CREATE VIEW schema_migrations AS SELECT 1 AS version")
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .databaseFailed)
        #expect(error.message == "The table schema_migrations is a view, not a table.")
        #expect(try queue.tables() == [])
    }

    @Test("the largest possible version is accepted")
    func largest() throws {
        let queue = try folder.queue()
        let schema = try folder.migrator(["9223372036854775807_last.sql": "CREATE TABLE z(x)"])
        #expect(try schema.migrate(queue).applied.last == .max)
        #expect(try queue.ledger().last == .max)
        #expect(try schema.migrate(queue).applied == [])
    }

    @Test("an error quotes the failing statement, shortened")
    func statement() throws {
        let row = String(repeating: "(1), ", count: 1_000)
        let schema = try folder.migrator(["1_a.sql": "CREATE TABLE a(x);\nINSERT INTO b VALUES \(row) (2);"])
        let error = try failure { try schema.migrate(folder.queue()) }
        #expect(error.statement == "INSERT INTO b VALUES \(String(repeating: "(1), ", count: 35))(1),…")
        #expect(error.description.count < 200)
        #expect(error.line == 2)
    }
}
