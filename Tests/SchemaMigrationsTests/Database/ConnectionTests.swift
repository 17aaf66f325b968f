import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

// One at a time: some settings belong to the whole process.
@Suite("The app's connection", .timed, .serialized)
struct ConnectionTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    @Test("is left without a transaction, although it was interrupted while a step keeps a cursor")
    func interruptedWithCursor() throws {
        var kept: RowCursor?
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2)")
            #expect(throws: CancellationError.self) {
                try db.withWriteTransaction(waitingUpTo: .zero) {
                    try db.execute(sql: "DELETE FROM a WHERE x = 2")
                    kept = try Row.fetchCursor(db, sql: "SELECT * FROM a")
                    _ = try kept?.next()
                    queue.interrupt()
                    throw CancellationError()
                }
            }
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM a") == 2)
            kept = nil
        }
    }

    @Test("whose file was replaced begins no transaction, which would write to the log of the new file")
    func replacedFile() throws {
        try queue.execute("CREATE TABLE a(x)")
        let pool = try DatabasePool(path: folder.path("new.sqlite"))
        try pool.execute("CREATE TABLE a(x)")
        try pool.close()
        try FileManager.default.removeItem(atPath: queue.path)
        try FileManager.default.moveItem(atPath: pool.path, toPath: queue.path)
        let new = try DatabasePool(path: queue.path)
        try new.execute("INSERT INTO a VALUES (1)")
        let error = try #require(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction { db in
                try db.withWriteTransaction(waitingUpTo: .zero) {
                    try db.execute(sql: "INSERT INTO a VALUES (2)")
                }
            }
        }
        #expect(error.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        #expect(try new.integers("SELECT x FROM a") == [1])
        try new.close()
    }

    /// Pragmas, with a value other than the default.
    static let pragmas = [
        ("ignore_check_constraints", "ON"), ("query_only", "1"), ("writable_schema", "ON"),
        ("legacy_alter_table", "1"),
        ("recursive_triggers", "1"), ("locking_mode", "EXCLUSIVE"), ("main.locking_mode", "EXCLUSIVE"),
        ("trusted_schema", "0"), ("busy_timeout", "1234"), ("reverse_unordered_selects", "1"),
        ("read_uncommitted", "1"), ("automatic_index", "0"), ("cell_size_check", "1"),
        ("checkpoint_fullfsync", "1"),
        ("fullfsync", "1"), ("full_column_names", "1"), ("short_column_names", "0"), ("count_changes", "1"),
        ("empty_result_callbacks", "1"), ("analysis_limit", "77"), ("cache_size", "-123"),
        ("cache_spill", "0"),
        ("journal_size_limit", "4096"), ("mmap_size", "65536"), ("secure_delete", "FAST"),
        ("defer_foreign_keys", "1"),
        ("soft_heap_limit", "100000000"), ("threads", "2"),
    ]

    private func values(_ writer: any DatabaseWriter) throws -> [String: DatabaseValue?] {
        try writer.writeWithoutTransaction { db in
            let names = Set(Self.pragmas.map(\.0)).union(["foreign_keys", "main.synchronous", "temp_store"])
            return try names.reduce(into: [:]) {
                $0[$1] = try DatabaseValue.fetchOne(db, sql: "PRAGMA \($1)")
            }
        }
    }

    @Test(
        "is given back as it was, after a file that ran and after one that failed", arguments: pragmas,
        [false, true])
    func givenBack(pragma: (String, String), fails: Bool) throws {
        let before = try values(queue)
        let files = [
            "1_a.sql": "CREATE TABLE a(x CHECK (x > 0));",
            "2_b.sql": "EXPLAIN PRAGMA \(pragma.0) = \(pragma.1);\nPRAGMA \(pragma.0) = \(pragma.1);\n"
                + (fails ? "SELECT nonsense;" : ""),
            "3_c.sql": "INSERT INTO a VALUES (1);",
        ]
        let schema = try folder.migrator(files)
        if fails {
            #expect(try failure { try schema.migrate(queue) }.schemaVersion == 2)
        } else {
            #expect(try schema.migrate(queue).applied == [1, 2, 3])
        }
        #expect(try values(queue) == before)
    }

    @Test("is given back by migrations in Swift, and by files without a transaction", arguments: pragmas)
    func others(pragma: (String, String)) throws {
        let before = try values(queue)
        let sql = "PRAGMA \(pragma.0) = \(pragma.1)"
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: sql),
            SQLMigration(version: 2, name: "alone", sql: "-- migrations: transaction=none\n\(sql)"),
            CodeMigration(3, sql: "CREATE TABLE a(x)"),
        ])
        #expect(try schema.migrate(queue).applied == [1, 2, 3])
        #expect(try values(queue) == before)
    }

    @Test("is given back by migrations in Swift, where SQLite changes it and where it does not")
    func temporary() throws {
        let before = try values(queue)
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: "PRAGMA temp_store = MEMORY; CREATE TABLE a(x)"),
            CodeMigration(2, sql: "PRAGMA temp_store = MEMORY; CREATE TEMP TABLE b(x); CREATE TABLE c(x)"),
        ])
        #expect(try schema.migrate(queue, upTo: 1).applied == [1])
        #expect(try values(queue) == before)
        #expect(try schema.migrate(queue).applied == [2])
    }

    @Test(
        "begins each file as the app's began, whether the files are committed together or not",
        arguments: [false, true])
    func grouping(atOnce: Bool) throws {
        let schema = try folder.migrator([
            "1_a.sql":
                "CREATE TABLE a(x CHECK (x > 0)); PRAGMA ignore_check_constraints = 1; INSERT INTO a VALUES (-1);",
            "2_b.sql": "INSERT INTO a VALUES (-2);",
        ])
        if !atOnce { try schema.migrate(queue, upTo: 1) }
        let error = try failure { try schema.migrate(queue) }
        #expect(error.message == "2_b.sql:1: CHECK constraint failed: x > 0 (SQLite 275).")
        #expect(try queue.integers("SELECT x FROM a") == [-1])
    }

    @Test("has a journal on the disk meanwhile, whatever the app has set", arguments: ["MEMORY", "OFF"])
    func journal(mode: String) throws {
        try queue.execute("PRAGMA journal_mode = \(mode); PRAGMA cache_size = 5; CREATE TABLE a(x)")
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.0", adopting: .databaseHasTables(queue, means: "0.9"),
            store: .database(queue))
        manager.whenMigratingToVersion("1.0", in: queue) { db in
            // The journal takes over the name of its mode.
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete")
            // More than the cache holds: the file has it before the commit.
            try db.execute(sql: "INSERT INTO a SELECT zeroblob(100000); DROP TABLE missing")
        }
        #expect(try failure { try manager.migrate() }.code == .stepFailed)
        #expect(try queue.strings("PRAGMA journal_mode") == [mode.lowercased()])
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        #expect(try queue.integers("SELECT count(*) FROM a") == [0])
    }

    // On Apple's systems, the folder is synced as well.
    @Test("may be to a file in a folder that must not be read, as in a sandbox")
    func refusedFolder() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x)")
        ])
        try folder.withoutRoot {
            #expect(chmod(folder.url.path, 0o300) == 0)
            defer { chmod(folder.url.path, 0o700) }
            let report = try schema.migrate(queue)
            #expect(report.applied == [1])
        }
    }

    @Test("keeps the journal that a file chooses for it")
    func chosenJournal() throws {
        try queue.execute("PRAGMA journal_mode = MEMORY")
        try folder.migrator(["1_wal.sql": "-- migrations: transaction=none\nPRAGMA journal_mode = WAL;"])
            .migrate(queue)
        #expect(try queue.strings("PRAGMA journal_mode") == ["wal"])
    }

    @Test("keeps the time that the app waits, and the callback with which it does")
    func busyTimeout() throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(3)
        let files = ["1_a.sql": "CREATE TABLE a(x);\nPRAGMA busy_timeout = 1;"]
        let waiting = try folder.queue("waiting.sqlite", configuration)
        try folder.migrator(files).migrate(waiting)
        #expect(try waiting.integer("PRAGMA busy_timeout") == 3_000)

        configuration.busyMode = .callback { _ in false }
        let calling = try folder.queue("calling.sqlite", configuration)
        let error = try failure { try folder.migrator(files).migrate(calling) }
        #expect(
            error.description
                == "1_a.sql:2: PRAGMA busy_timeout would replace the callback with which the app waits. Remove it. Nothing was changed."
        )
        #expect(try calling.tables() == [])
    }

    @Test(
        "keeps what could not be put back, so a file that sets it is refused",
        arguments: [
            "case_sensitive_like", "data_store_directory", "hard_heap_limit", "max_page_count",
            "temp_store", "temp_store_directory", "wal_autocheckpoint",
        ], ["", "-- migrations: transaction=none\n"])
    func refused(pragma: String, comment: String) throws {
        let error = try failure {
            try folder.migrator(["1_a.sql": "\(comment)PRAGMA \(pragma) = 1;"]).migrate(queue)
        }
        #expect(error.code == .invalidMigration)
        #expect(error.message.contains("PRAGMA \(pragma) cannot be put back after the file."))
        #expect(error.remedy == "Set it where the app opens the database.")
    }

    // MARK: Attached databases

    @Test(
        "keeps no database that a file attaches, whatever comes after it",
        // SQLCipher attaches a database with its own KEY.
        .needs(.clearText),
        arguments: [false, true])
    func attached(fails: Bool) throws {
        let other = try folder.queue("other.sqlite")
        try other.execute("CREATE TABLE o(x); INSERT INTO o VALUES (7);")
        try other.close()
        let path = folder.url.appendingPathComponent("other.sqlite").path
        try queue.execute(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id)); PRAGMA foreign_keys = OFF;
            INSERT INTO c VALUES (9); PRAGMA foreign_keys = ON; CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (1);
            """)
        // With an old orphan, the file runs twice.
        let schema = try folder.migrator(
            [
                "1_a.sql": "", "2_b.sql": "CREATE TABLE b(x);",
                "3_c.sql":
                    "ATTACH '\(path)' AS other; INSERT INTO c SELECT NULL FROM other.o; INSERT INTO b SELECT x FROM other.o;"
                    + (fails ? "SELECT nonsense;" : ""),
                "4_d.sql": "CREATE TABLE d(x); INSERT INTO c VALUES (NULL);",
            ].mapValues { $0.isEmpty ? "-- nothing" : $0 })
        if fails {
            let error = try failure { try schema.migrate(queue) }
            #expect(error.message == "3_c.sql:1: no such column: nonsense (SQLite 1).")
            #expect(try queue.ledger() == [1, 2])
        } else {
            #expect(try schema.migrate(queue).applied == [2, 3, 4])
            #expect(try queue.integers("SELECT x FROM b") == [7])
        }
        #expect(try queue.strings("SELECT name FROM pragma_database_list WHERE name <> 'temp'") == ["main"])
    }

    /// Makes a database in which rows are put away, and returns the statement that attaches it.
    private func archive(_ journalMode: String) throws -> String {
        let archive = try folder.queue("archive.sqlite")
        try archive.execute(
            "PRAGMA journal_mode = \(journalMode); CREATE TABLE entry(x); INSERT INTO entry VALUES (1)")
        try archive.close()
        return "ATTACH '\(folder.path("archive.sqlite"))' AS archive; "
    }

    @Test(
        "commits no other database, which SQLite does by itself if one has a write-ahead log",
        .needs(.clearText), arguments: [("WAL", "DELETE"), ("DELETE", "WAL"), ("WAL", "WAL")], [false, true])
    func separateCommits(modes: (String, String), isCode: Bool) throws {
        let attach = try archive(modes.1)
        try queue.execute(
            "PRAGMA journal_mode = \(modes.0); CREATE TABLE entry(x); INSERT INTO entry VALUES (2)")
        let move = attach + "INSERT INTO archive.entry SELECT * FROM entry; DELETE FROM entry"
        let schema = try SchemaMigrator(
            migrations: [
                CodeMigration(1, sql: "SELECT 1"),
                isCode ? CodeMigration(2, sql: move) : SQLMigration(version: 2, name: "move", sql: move),
            ], adopting: SchemaAdoption { _ in 1 })
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(error.schemaVersion == 2)
        #expect(
            error.description == """
                \(isCode ? "Code2" : "2_move.sql"): writes the attached database archive, which cannot be committed together \
                with this one in WAL mode. Copy the rows through a separate connection to that database, in a step that can \
                run again. Delete them here in a later migration.
                """)
        #expect(try queue.integers("SELECT x FROM entry") == [2])
        #expect(try queue.read { try !$0.tableExists("schema_migrations") })
        #expect(try folder.queue("archive.sqlite").integers("SELECT x FROM entry") == [1])
    }

    @Test(
        "reads another database in any mode, and writes it where both have a rollback journal",
        .needs(.clearText), arguments: [("WAL", true), ("DELETE", true), ("DELETE", false)])
    func commonCommit(journalMode: String, onlyReads: Bool) throws {
        let attach = try archive(journalMode)
        try queue.execute("PRAGMA journal_mode = \(journalMode); CREATE TABLE entry(x)")
        let schema = try folder.migrator(
            [
                "1_a.sql": "SELECT 1",
                "2_b.sql": attach + "INSERT INTO entry SELECT x FROM archive.entry;"
                    + (onlyReads ? "" : "DELETE FROM archive.entry"),
            ], adopting: SchemaAdoption { _ in 1 })
        #expect(try schema.migrate(queue).applied == [2])
        #expect(try queue.integers("SELECT x FROM entry") == [1])
        #expect(
            try folder.queue("archive.sqlite").integers("SELECT x FROM entry") == (onlyReads ? [1] : []))
    }

    // MARK: What other tables need

    @Test(
        "may lack a module or a tokenizer that another table needs",
        .needs(.clearText))
    func modules() throws {
        _ = try folder.migrator(["1_a.sql": "CREATE TABLE a(x); CREATE TABLE b(x);"]).migrate(queue)
        try queue.execute(
            """
            CREATE VIRTUAL TABLE f USING fts5(x, tokenize = 'unicode61');
            CREATE VIRTUAL TABLE m USING fts5(y);
            """)
        try queue.close()
        try folder.damage(replacing: "tokenize = 'unicode61'", with: "tokenize = 'missing__'")
        try folder.damage(replacing: "m USING fts5(y)", with: "m USING none(y)")
        let queue = try folder.queue()
        let report = try folder.migrator([
            "2_b.sql": "ALTER TABLE a ADD COLUMN y;", "3_c.sql": "DROP TABLE b;",
            "4_d.sql": "ALTER TABLE a RENAME TO e;",
        ]).migrate(queue)
        #expect(report.applied == [2, 3, 4])
        #expect(report.warnings == [])
    }

    @Test("may have a temporary table of the same name as one with a trigger")
    func shadowed() throws {
        _ = try folder.migrator([
            "1_a.sql": """
            CREATE TABLE t(a, b); CREATE TABLE log(x);
            CREATE TRIGGER r AFTER UPDATE OF b ON t BEGIN INSERT INTO log VALUES (new.b); END;
            """
        ]).migrate(queue)
        let report = try folder.migrator([
            "2_b.sql": "CREATE TEMP TABLE t(other); CREATE TABLE more(x);",
            "3_c.sql": "DROP TABLE temp.t; UPDATE t SET b = 1;",
        ]).migrate(queue)
        #expect(report.applied == [2, 3])
    }
}
