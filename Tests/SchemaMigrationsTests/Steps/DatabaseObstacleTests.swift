import AppMigrations
import Foundation
import GRDB
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
        database = try DatabaseQueue(path: app.databaseURL.path, configuration: configuration)
    }

    /// Suspends the databases that observe suspension, as GRDB's guide tells apps with extensions to do.
    ///
    /// One test at a time: the notification reaches every database of the process, and this suite alone observes it.
    private static let suspension = NSRecursiveLock()

    private func suspended<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.suspension.withLock {
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            defer { NotificationCenter.default.post(name: Database.resumeNotification, object: nil) }
            return try body()
        }
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

    @Test("A suspended database stops a step, which is not counted as failed")
    func suspendedStep() throws {
        try Self.suspension.withLock {
            func migrate(suspending: Bool) throws -> MigrationReport {
                let manager = try manager()
                manager.whenMigratingToVersion("2.0", in: database) { db in
                    if suspending {
                        NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
                    }
                    try db.execute(sql: "INSERT INTO book(title) VALUES ('once')")
                }
                return try manager.migrate()
            }
            let error = try #require(throws: MigrationError.self) { try migrate(suspending: true) }
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
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
                            if suspending {
                                NotificationCenter.default.post(
                                    name: Database.suspendNotification, object: nil)
                            }
                            try db.execute(sql: "CREATE TABLE note(text)")
                        }
                    ])
            }
            let error = try failure { try schema(suspending: true).migrate(database) }
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
            #expect(error.code == .suspended)
            #expect(error.file == "add_notes")
            #expect(try schema(suspending: false).migrate(database).applied == [30])
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
