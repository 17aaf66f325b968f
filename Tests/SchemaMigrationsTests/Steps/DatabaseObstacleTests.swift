import AppMigrations
import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("An obstacle in a database", .timed)
struct DatabaseObstacleTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        try app.launch("1.0")
        var configuration = Configuration()
        configuration.observesSuspensionNotifications = true
        configuration.prepareDatabase { db in
            // For SQL that suspends.
            db.add(
                function: DatabaseFunction("suspend", argumentCount: 0) { _ in
                    Self.suspend()
                    return nil
                })
        }
        database = try DatabaseQueue(path: app.databaseURL.path, configuration: configuration)
    }

    /// Suspends the databases that observe suspension, as GRDB's guide tells apps with extensions to do.
    ///
    /// One test at a time: the notification reaches every database of the process, and this suite alone observes it.
    private static let suspension = NSRecursiveLock()

    private static func suspend() {
        NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
    }

    private static func resume() {
        NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
    }

    private func suspended<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.suspension.withLock {
            Self.suspend()
            defer { Self.resume() }
            return try body()
        }
    }

    /// Runs a body that suspends the database, and expects the connection to be as it was once the database is resumed.
    private func keepingConnection<Value>(_ body: () throws -> Value) throws -> Value {
        func connection() throws -> [String] {
            try database.writeWithoutTransaction { db in
                let pragmas = [
                    "foreign_keys", "main.synchronous", "fullfsync", "ignore_check_constraints",
                    "legacy_alter_table",
                ]
                return try pragmas.map { "\($0) \(try Int.fetchOne(db, sql: "PRAGMA \($0)") ?? -1)" }
                    + String.fetchAll(db, sql: "SELECT name FROM pragma_database_list WHERE name <> 'temp'")
            }
        }
        let before = try connection()
        #expect(before.first == "foreign_keys 1")
        let result = Result { try body() }
        Self.resume()
        #expect(try connection() == before)
        return try result.get()
    }

    @Test(
        "of a writer keeps a step waiting, which does not begin once its launch is cancelled",
        arguments: ["closure", "step in the database", "deferred closure"])
    func cancelledMeanwhile(kind: String) async throws {
        // The tests beside it suspend each connection that observes suspension.
        let database = try app.open()
        try await app.manager("1.0", store: .database(database)).migrate()
        func manager() throws -> MigrationManager {
            let manager = try app.manager("2.0", store: .database(database))
            let log = app.log
            switch kind {
            case "closure": manager.whenMigratingToVersion("2.0") { log.add("ran") }
            case "deferred closure":
                manager.afterMigratingToVersion("1.5") { _ in log.add("ran") }
                manager.whenMigratingToVersion("2.0", finishing: ["1.5"]) {}
            default: manager.whenMigratingToVersion("2.0", in: database) { _ in log.add("ran") }
            }
            return manager
        }
        let (waiting, other) = (try manager(), try app.open())
        let progress = waiting.progress
        let hasBegun = Locked(false)
        Thread.detachNewThread {
            try? other.writeWithoutTransaction { db in
                try db.beginTransaction(.immediate)
                hasBegun.withLock { $0 = true }
                Thread.sleep(forTimeInterval: 0.2)
                progress.cancel()
                try db.rollback()
            }
        }
        while !hasBegun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: CancellationError.self) { try await waiting.migrate() }
        #expect(app.log.lines == [])
        try await manager().migrate()
        #expect(app.log.lines == ["ran"])
    }

    private func manager() throws -> MigrationManager {
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
        return manager
    }

    @Test("A suspended database stops a launch that has a schema step to make")
    func suspendedSchemaStep() throws {
        try Self.suspension.withLock {
            let error = try suspended {
                try #require(throws: MigrationError.self) { try manager().migrate() }
            }
            #expect(error.code == .suspended)
            #expect(error.remedy == "What is complete stays complete. Migrate again when the app is active.")
            #expect(try manager().migrate().schemaSteps.map(\.schemaVersions) == [["12", "20"]])
        }
    }

    @Test("A suspended database leaves an adoption for later, which is not undecided")
    func suspendedAdoption() throws {
        try Self.suspension.withLock {
            func migrate() throws -> MigrationReport {
                try MigrationManager(
                    name: "Settings", currentVersion: "2.0",
                    adopting: .databaseHasTables(database, means: "1.0"),
                    store: .jsonFile(at: app.folder.file("settings.json"))
                ).migrate()
            }
            let error = try suspended { try #require(throws: MigrationError.self) { try migrate() } }
            #expect(error.code == .suspended, "\(error)")
            #expect(error.message.hasPrefix("Cannot tell whether the database has tables: "), "\(error)")
            #expect(try migrate().launch == .adoption(from: "1.0"))
        }
    }

    @Test("A suspended database stops a step, which is not counted as failed")
    func suspendedStep() throws {
        try Self.suspension.withLock {
            func migrate(suspending: Bool) throws -> MigrationReport {
                let manager = try manager()
                manager.whenMigratingToVersion("2.0", in: database) { db in
                    try db.execute(sql: "ATTACH ':memory:' AS archive")
                    if suspending { Self.suspend() }
                    try db.execute(sql: "INSERT INTO book(title) VALUES ('once')")
                }
                return try manager.migrate()
            }
            let error = try failure { try keepingConnection { try migrate(suspending: true) } }
            #expect(error.code == .suspended)
            #expect(try app.titles() == [])
            let report = try migrate(suspending: false)
            #expect(report.completed.versions == ["2.0"])
            #expect(try app.titles() == ["once"])
        }
    }

    @Test("A store in a suspended database stops the launch")
    func suspendedStore() throws {
        try Self.suspension.withLock {
            let manager = try app.manager("2.0", store: .database(database))
            let error = try suspended { try #require(throws: MigrationError.self) { try manager.migrate() } }
            #expect(error.code == .suspended)
        }
    }

    @Test("A database that suspends in the middle of a migration keeps what was committed")
    func suspendedMigration() throws {
        try Self.suspension.withLock {
            func schema(suspending: Bool) throws -> SchemaMigrator {
                try SchemaMigrator(
                    migrations: app.schema([10]).migrations + [
                        CodeMigration(30, "add_notes") { db in
                            if suspending { Self.suspend() }
                            try db.execute(sql: "CREATE TABLE note(text)")
                        }
                    ])
            }
            let error = try failure {
                try keepingConnection { try schema(suspending: true).migrate(database) }
            }
            #expect(error.code == .suspended)
            #expect(error.file == "add_notes")
            #expect(try schema(suspending: false).migrate(database).applied == [30])
        }
    }

    @Test("A database that suspends in a file keeps nothing that the file has set or attached")
    func suspendedFile() throws {
        try Self.suspension.withLock {
            func schema(_ statement: String) throws -> SchemaMigrator {
                let file = SQLMigration(
                    version: 30, name: "attach",
                    sql: """
                        PRAGMA ignore_check_constraints = 1; PRAGMA legacy_alter_table = 1;
                        ATTACH ':memory:' AS archive; \(statement); CREATE TABLE note(text)
                        """)
                return try SchemaMigrator(migrations: app.schema([10]).migrations + [file])
            }
            let error = try failure {
                try keepingConnection { try schema("SELECT suspend()").migrate(database) }
            }
            #expect(error.code == .suspended)
            #expect(error.committed == [])
            #expect(try keepingConnection { try schema("SELECT 1").migrate(database) }.applied == [30])
        }
    }

    @Test("A database that suspends right after a commit has been migrated")
    func suspendedAfterCommit() throws {
        final class Suspender: TransactionObserver {
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidRollback(_ db: Database) {}
            func databaseDidCommit(_ db: Database) { DatabaseObstacleTests.suspend() }
        }
        try Self.suspension.withLock {
            let file = SQLMigration(
                version: 30, name: "attach", sql: "ATTACH ':memory:' AS archive; CREATE TABLE note(text)")
            let schema = try SchemaMigrator(migrations: app.schema([10]).migrations + [file])
            let suspender = Suspender()
            database.add(transactionObserver: suspender, extent: .databaseLifetime)
            #expect(try keepingConnection { try schema.migrate(database) }.applied == [30])
            database.remove(transactionObserver: suspender)
        }
    }

    @Test("A database that suspends in a migration by GRDB's migrator keeps its settings")
    func suspendedByGRDB() throws {
        try Self.suspension.withLock {
            func migrate(suspending: Bool) throws -> MigrationReport {
                var migrator = DatabaseMigrator()
                migrator.registerMigration("note") { db in
                    if suspending { Self.suspend() }
                    try db.execute(sql: "CREATE TABLE note(text)")
                }
                let manager = try app.manager("2.0")
                manager.whenMigratingToVersion("2.0", migrate: migrator, in: database)
                return try manager.migrate()
            }
            let error = try failure { try keepingConnection { try migrate(suspending: true) } }
            #expect(error.code == .suspended)
            #expect(try migrate(suspending: false).schemaSteps.map(\.schemaVersions) == [["note"]])
        }
    }

    @Test("A database that another connection uses for too long is locked")
    func inUse() throws {
        let database = try app.open()
        let other = try app.open()
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN EXCLUSIVE")
            defer { try? db.execute(sql: "ROLLBACK") }
            var schema = try app.schema()
            schema.options.busyTimeout = .milliseconds(20)
            let manager = try app.manager("2.0")
            manager.whenMigratingToVersion("1.0", migrate: schema, in: database)
            let error = try #require(throws: MigrationError.self) { try manager.migrate() }
            #expect(error.code == .locked)
            #expect(
                error.description == """
                    Library: library.sqlite: database is locked (SQLite 5). Another connection or process is using \
                    the database. Let it finish, then retry.
                    """)
        }
    }
}
