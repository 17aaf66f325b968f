import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// An app whose version 2.0 has a step in its database, which is at version 1.0.
private struct UpgradedApp {
    let app: App
    let database: DatabaseQueue

    init(_ sql: String) throws {
        app = try App()
        try app.launch("1.0")
        database = try app.open()
        try database.write { try $0.execute(sql: sql) }
    }

    func migrate(
        foreignKeys: ForeignKeys? = nil, _ step: @escaping @Sendable (Database) throws -> Void
    ) throws -> MigrationReport {
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10]), in: database)
        if let foreignKeys {
            manager.whenMigratingToVersion("2.0", in: database, foreignKeys: foreignKeys, run: step)
        } else {
            manager.whenMigratingToVersion("2.0", in: database, run: step)
        }
        return try manager.migrate()
    }
}

@Suite("The transaction of a step", .timed)
struct StepTransactionTests {
    private let upgrade: UpgradedApp
    var app: App { upgrade.app }

    init() throws {
        upgrade = try UpgradedApp("CREATE UNIQUE INDEX title ON book(title)")
    }

    private static let ended = """
        library.sqlite: the step ended the transaction that it ran in. Leave the transaction open: a step and its \
        record are committed together.
        """

    private func migrate(_ body: @escaping @Sendable (Database) throws -> Void) throws -> MigrationReport {
        try upgrade.migrate(body)
    }

    @Test(
        "commits no other database, which SQLite does by itself if one has a write-ahead log",
        .needs(.clearText))
    func attached() throws {
        let archive = try app.folder.queue("archive.sqlite")
        try archive.execute("PRAGMA journal_mode = WAL; CREATE TABLE entry(x)")
        let path = archive.path
        // The second attempt finds nothing attached.
        for _ in 1...2 {
            let error = try #require(throws: MigrationError.self) {
                try migrate { db in
                    try db.execute(
                        sql: "ATTACH '\(path)' AS archive; INSERT INTO archive.entry VALUES (1)")
                }
            }
            #expect(error.code == .stepFailed)
            #expect(error.message.contains("writes the attached database archive, which cannot"), "\(error)")
            #expect(try archive.integers("SELECT x FROM entry") == [])
        }
    }

    @Test("is no part of a transaction of the app's, also one that only reads", arguments: [false, true])
    func insideRead(isStore: Bool) throws {
        let pool = try DatabasePool(path: app.folder.path("pool.sqlite"))
        let store: MigrationStore =
            try isStore ? .database(pool) : .jsonFile(at: app.folder.file("pool.json"))
        let log = app.log
        func manager() throws -> MigrationManager {
            let manager = try MigrationManager(
                name: "Pool", currentVersion: "2.1", adopting: Adoption { "1.0" }, store: store)
            manager.whenMigratingToVersion("2.0", in: pool) { _ in log.add("in the pool") }
            manager.whenMigratingToVersion("2.1") { log.add("closure") }
            return manager
        }
        let first = try manager()
        let error = try #require(throws: MigrationError.self) { try pool.read { _ in try first.migrate() } }
        #expect(error.code == .misuse)
        #expect(
            error.description.contains("pool.sqlite: is migrated from inside one of its own transactions"),
            "\(error)")
        #expect(try pool.read { _ in try first.pending().map(\.work.version) } == ["2.0", "2.1"])
        try first.migrate()
        // Where nothing is pending, nothing is written.
        try pool.read { _ in _ = try manager().migrate() }
        #expect(log.lines == ["in the pool", "closure"])
    }

    @Test("is refused inside one of the app's before it finds a death, which the next launch finds")
    func deathBeforeRefusal() throws {
        let store = try MigrationStore.jsonFile(at: app.storeURL)
        let log = app.log
        func manager() throws -> MigrationManager {
            let manager = try app.manager("2.0")
            manager.whenMigratingToVersion("1.5") { context in log.add("attempt \(context.attempt)") }
            manager.whenMigratingToVersion("2.0", in: upgrade.database) { _ in }
            return manager
        }
        try store.changeRecord(of: "Library") { record in
            record?.apply(
                .started(
                    WorkID("1.5"), OpenWork.Start(build: "2.0", since: Date()), remaining: nil, isRetry: false
                ))
        }
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        release.abandon()
        let refused = try manager()
        let error = try #require(throws: MigrationError.self) {
            try upgrade.database.write { _ in _ = try refused.migrate() }
        }
        #expect(error.code == .misuse)
        try manager().migrate()
        #expect(log.lines == ["attempt 2"])
    }

    @Test("leaves nothing attached for the next step")
    func detached() throws {
        let archive = try app.folder.queue("archive.sqlite")
        try archive.execute("CREATE TABLE entry(x)")
        let path = archive.path
        let manager = try app.manager("3.0")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10]), in: upgrade.database)
        for version: AppVersion in ["2.0", "3.0"] {
            manager.whenMigratingToVersion(version, in: upgrade.database) { db in
                try db.execute(sql: "ATTACH '\(path)' AS archive; INSERT INTO archive.entry VALUES (1)")
            }
        }
        try manager.migrate()
        #expect(try archive.integers("SELECT x FROM entry") == [1, 1])
    }

    @Test("leaves the connection as it was, whether the step fails or not", arguments: [false, true])
    func settings(fails: Bool) throws {
        let database = upgrade.database
        let report = try? migrate { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON; PRAGMA recursive_triggers = ON")
            if fails { throw Mishap() }
        }
        #expect((report == nil) == fails)
        #expect(try database.integers("PRAGMA ignore_check_constraints") == [0])
        #expect(try database.integers("PRAGMA recursive_triggers") == [0])
    }

    @Test("keeps foreign keys that the step defers until its end")
    func deferredKeys() throws {
        try upgrade.database.execute(
            "CREATE TABLE page(book REFERENCES book(title)); INSERT INTO book(title) VALUES ('first')")
        let error = try #require(throws: MigrationError.self) {
            try upgrade.migrate(foreignKeys: .immediate) { db in
                try db.execute(
                    sql: "PRAGMA defer_foreign_keys = ON; INSERT INTO page VALUES ('missing')")
            }
        }
        #expect(error.description.contains("FOREIGN KEY constraint failed"), "\(error)")
        #expect(try upgrade.database.integers("SELECT count(*) FROM page") == [0])
    }

    @Test("that a conflict rolled back is an error, and the step runs again")
    func conflict() throws {
        let error = try #require(throws: MigrationError.self) {
            try migrate { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('first')")
                try? db.execute(sql: "INSERT OR ROLLBACK INTO book(title) VALUES ('first')")
                try? db.execute(sql: "INSERT INTO book(title) VALUES ('outside')")
            }
        }
        #expect(error.code == .stepFailed)
        #expect(error.description.contains(Self.ended), "\(error)")
        #expect(try app.titles() == [])
        #expect(
            try migrate { try $0.execute(sql: "INSERT INTO book(title) VALUES ('once')") }.completed.versions
                == [
                    "2.0"
                ])
        #expect(try app.titles() == ["once"])
    }

    @Test(
        "cannot be committed by the step, which leaves nothing behind",
        arguments: ["COMMIT", "ROLLBACK", "END"])
    func commit(statement: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try migrate { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('half')")
                try db.execute(sql: statement)
                throw Mishap()
            }
        }
        #expect(error.description.contains(Self.ended), "\(error)")
        #expect(try app.titles() == [])
    }

    @Test(
        "is rolled back if the step removes the manager's record",
        arguments: [
            "DROP TABLE app_migrations", "DELETE FROM app_migrations",
        ])
    func recordRemoved(statement: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try migrate { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('half')")
                try db.execute(sql: statement)
            }
        }
        #expect(error.code == .stepFailed)
        #expect(
            error.description.contains(
                """
                library.sqlite: the step removed the record of its manager. Keep the tables whose names begin with \
                app_migrations. The step was rolled back.
                """), "\(error)")
        #expect(try app.titles() == [])
        #expect(
            try migrate { try $0.execute(sql: "INSERT INTO book(title) VALUES ('once')") }.completed.versions
                == [
                    "2.0"
                ])
    }
}

@Suite("Foreign keys in a step", .timed)
struct StepForeignKeyTests {
    private let upgrade: UpgradedApp
    var database: DatabaseQueue { upgrade.database }

    init() throws {
        upgrade = try UpgradedApp(
            """
            CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE work(title TEXT, author INTEGER REFERENCES author(id) ON DELETE CASCADE);
            INSERT INTO author VALUES (1, 'Ada'), (2, 'Bo');
            INSERT INTO work VALUES ('first', 1), ('second', 2);
            """)
    }

    private func addOldOrphan() throws {
        try database.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF; INSERT INTO work VALUES ('old orphan', 9); PRAGMA foreign_keys = ON
                    """)
        }
    }

    private static func rebuild(keeping condition: String = "1") -> String {
        """
        CREATE TABLE new_author(id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO new_author SELECT id, upper(name) FROM author WHERE \(condition);
        DROP TABLE author;
        ALTER TABLE new_author RENAME TO author;
        """
    }

    /// Runs a step, and counts in the log how often its body runs.
    private func run(
        _ sql: String, _ foreignKeys: ForeignKeys = .deferred,
        before: @escaping @Sendable () throws -> Void = {}
    ) throws -> MigrationReport {
        try upgrade.migrate(foreignKeys: foreignKeys) { [log = upgrade.app.log] db in
            log.add("step")
            try before()
            try db.execute(sql: sql)
        }
    }

    private func works() throws -> [String] {
        try database.strings("SELECT title FROM work ORDER BY rowid")
    }

    private func foreignKeySetting() throws -> Int? {
        try database.read { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") }
    }

    private func steps() -> Int { upgrade.app.log.lines.count { $0 == "step" } }

    @Test("are deferred unless the step asks otherwise, so that rebuilding a table cascades to no row")
    func rebuildByDefault() throws {
        #expect(try upgrade.migrate { try $0.execute(sql: Self.rebuild()) }.completed.versions == ["2.0"])
        #expect(try works() == ["first", "second"])
        #expect(try database.strings("SELECT name FROM author") == ["ADA", "BO"])
        #expect(try foreignKeySetting() == 1)
    }

    @Test("are enforced on request, which cascades")
    func immediate() throws {
        #expect(try run(Self.rebuild(), .immediate).completed.versions == ["2.0"])
        #expect(try works() == [])
        #expect(try foreignKeySetting() == 1)
    }

    @Test("are neither enforced nor checked on request")
    func unchecked() throws {
        #expect(try run("DELETE FROM author WHERE id = 2", .unchecked).completed.versions == ["2.0"])
        #expect(try works() == ["first", "second"])
        #expect(steps() == 1)
    }

    @Test(
        "keep a step that leaves new orphans from being committed",
        arguments: [
            rebuild(keeping: "id <> 2"), "DELETE FROM author WHERE id = 2",
            "UPDATE work SET author = author + 1",
        ]
    )
    func newOrphans(sql: String) throws {
        try addOldOrphan()
        let error = try #require(throws: MigrationError.self) { try run(sql) }
        #expect(error.code == .stepFailed)
        let count =
            sql.hasPrefix("UPDATE")
            ? "2 rows of table work whose author refer" : "1 row of table work whose author refers"
        #expect(
            error.description.contains(
                """
                library.sqlite: the step leaves \(count) to no row of author. Keep the rows that others refer to, or \
                delete the rows that refer to them. A step that relies on ON DELETE CASCADE needs foreignKeys: .immediate.
                """), "\(error)")
        #expect(try works() == ["first", "second", "old orphan"])
        #expect(try database.strings("SELECT name FROM author") == ["Ada", "Bo"])
        #expect(try foreignKeySetting() == 1)
        #expect(
            try run("DELETE FROM work WHERE author = 2; DELETE FROM author WHERE id = 2").completed.versions
                == ["2.0"]
        )
    }

    @Test("that were broken before lock nobody out")
    func oldOrphan() throws {
        try addOldOrphan()
        #expect(try run(Self.rebuild()).completed.versions == ["2.0"])
        #expect(try works() == ["first", "second", "old orphan"])
        #expect(try database.strings("SELECT name FROM author") == ["ADA", "BO"])
        #expect(try database.strings("SELECT name FROM sqlite_temp_master") == [])
        // To find out that the orphan is old, the step is undone and runs again.
        #expect(steps() == 2)
    }

    @Test("that were broken before do not make a step run twice that touches none of their tables")
    func untouched() throws {
        try addOldOrphan()
        #expect(
            try run("INSERT INTO book(title) VALUES ('new'); CREATE TABLE shelf(x)").completed.versions == [
                "2.0"
            ])
        #expect(steps() == 1)
    }

    @Test("are checked when the parent is dropped and created again as it was")
    func recreated() throws {
        let recreate = """
            CREATE TEMP TABLE kept AS SELECT * FROM author;
            DROP TABLE author; CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT);
            """
        let error = try #require(throws: MigrationError.self) { try run("\(recreate) DROP TABLE temp.kept") }
        #expect(
            error.description.contains("leaves 2 rows of table work whose author refer to no row of author"))
        #expect(try works() == ["first", "second"])
        #expect(
            try run("\(recreate) INSERT INTO author SELECT * FROM temp.kept; DROP TABLE temp.kept").completed
                .versions
                == ["2.0"])
        #expect(try works() == ["first", "second"])
    }

    @Test("that refer to a dropped table are an error")
    func dropped() throws {
        let error = try #require(throws: MigrationError.self) {
            try run("DELETE FROM work; DROP TABLE author")
        }
        #expect(
            error.description.contains(
                "the step leaves table work with a foreign key to table author, which no longer exists"),
            "\(error)")
    }

    @Test(
        "are set as before when the step throws or is cancelled",
        arguments: [true, false], [ForeignKeys.deferred, .immediate, .unchecked])
    func restored(isOn: Bool, foreignKeys: ForeignKeys) throws {
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = \(isOn)") }
        #expect(throws: MigrationError.self) { try run("", foreignKeys) { throw Mishap() } }
        #expect(try foreignKeySetting() == (isOn ? 1 : 0))
        #expect(throws: (any Error).self) { try run("", foreignKeys) { throw CancellationError() } }
        #expect(try foreignKeySetting() == (isOn ? 1 : 0))
        #expect(try run(Self.rebuild(), foreignKeys).completed.versions == ["2.0"])
        #expect(try foreignKeySetting() == (isOn ? 1 : 0))
    }
}
