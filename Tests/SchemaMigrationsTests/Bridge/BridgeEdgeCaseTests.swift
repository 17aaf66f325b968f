import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

@Suite("The bridge, in hard luck")
struct BridgeHardLuckTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    @Test("a store in a new database still asks at which version the app's data is elsewhere")
    func emptyStoreDatabase() throws {
        let manager = try app.manager(
            "2.0", store: SQLiteStore(database), options: MigrationOptions(adopting: Adoption { "1.0" }))
        manager.whenMigratingToVersion("1.5") { [log = app.log] in log.add("1.5") }
        manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in log.add("2.0") }
        #expect(try manager.migrate().launch == .adoption(from: "1.0"))
        #expect(app.log.lines == ["1.5", "2.0"])
    }

    @Test("two stores that share a database run a step in it once")
    func twoStores() throws {
        try app.schema([10]).migrate(database)
        func manager() throws -> MigrationManager {
            try app.manager(
                "2.0", store: InMemoryStore(), options: MigrationOptions(adopting: Adoption { "1.0" }))
        }
        func register(in manager: MigrationManager) {
            manager.whenMigratingToVersion("2.0", in: database) { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('once')")
            }
        }
        let other = try manager()
        register(in: other)
        // The other one does it all after this one has looked, and before it writes.
        let one = try manager()
        one.whenMigratingToVersion("1.1", onFreshInstall: .run) { try other.migrate() }
        register(in: one)
        try one.migrate()
        #expect(try app.titles() == ["once"])
    }

    @Test(
        "tables that nobody has kept a ledger of are refused, also when a migrator of GRDB's is to move them")
    func unmanagedWithGRDB() throws {
        try database.write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
        let manager = try app.manager("2.0")
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { _ in }
        manager.whenMigratingToVersion("1.0", migrate: migrator, in: database)
        manager.whenMigratingToVersion("1.1", in: database) { [log = app.log] _ in log.add("1.1") }
        #expect(try #require(throws: MigrationError.self) { try manager.migrate() }.code == .undecided)
        #expect(app.log.lines == [])
    }

    @Test("a migration of GRDB's that is merged late runs, and does not trap")
    func lateGRDBMigration() throws {
        func launch(_ identifiers: [String]) throws -> MigrationReport {
            var migrator = DatabaseMigrator()
            for identifier in identifiers {
                migrator.registerMigration(identifier) {
                    try $0.execute(sql: "CREATE TABLE \(identifier)(x)")
                }
            }
            let manager = try app.manager("2.0")
            manager.whenMigratingToVersion(
                "1.0", migrate: migrator, upTo: identifiers[identifiers.count - 2], in: database)
            manager.whenMigratingToVersion("2.0", migrate: migrator, upTo: "v3", in: database)
            return try manager.migrate()
        }
        #expect(try launch(["v1", "v3"]).moves.map(\.schemaVersions) == [["v1"], ["v3"]])
        #expect(try launch(["v1", "v2", "v3"]).moves.map(\.schemaVersions) == [["v2"]])
        #expect(try launch(["v1", "v2", "v3"]).moves == [])
    }

    @Test("what is of the wrong type in the table of details counts as not known")
    func wrongDetails() throws {
        let schema = try app.schema([10])
        try schema.migrate(database)
        try database.write {
            try $0.execute(sql: "UPDATE schema_migrations_details SET seconds = 'x', applied = 7")
        }
        let migration = try #require(try database.read(schema.history).first)
        #expect(migration.duration == nil)
        #expect(migration.date == nil)
        #expect(migration.name == "SQL")
        #expect(try database.read(schema.status).appliedVersions == [10])

        try database.write {
            try $0.execute(sql: "ALTER TABLE schema_migrations_details DROP COLUMN seconds")
        }
        let error = try #require(throws: SchemaMigrationError.self) { try database.read(schema.history) }
        #expect(error.code == .damagedLedger)
    }

    @Test("a database whose last manager was forgotten remembers the versions that it has seen")
    func forgotten() throws {
        try app.launch("1.0")
        try app.launch("1.2")
        let manager = try app.manager("1.2")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10, 12]), in: database)
        manager.whenMigratingToVersion("1.2", in: database) { [log = app.log] _ in log.add("again") }
        try manager.forget()
        #expect(try manager.pendingVersions() == ["1.2"], "adopted from 1.0, which the database has seen")
    }

    @Test("a database that is in use is waited for no longer than its migrator says")
    func busy() throws {
        try app.launch("1.0")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let blocker = try DatabaseQueue(path: app.databaseURL.path, configuration: configuration)
        try blocker.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        var schema = try app.schema([10, 12])
        schema.options.busyTimeout = .milliseconds(50)
        let manager = try app.manager("1.2")
        manager.whenMigratingToVersion("1.2", migrate: schema, in: database)
        let start = ContinuousClock.now
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .unusableDatabase)
        // By default it would be ten seconds.
        #expect(ContinuousClock.now - start < .seconds(5))
        try blocker.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try manager.migrate().moves.map(\.schemaVersions) == [["12"]])
    }

    @Test("a database whose ledger is damaged is not usable, and nothing runs")
    func damagedLedger() throws {
        try app.launch("1.0")
        try database.write {
            try $0.execute(sql: "DROP TABLE schema_migrations; CREATE TABLE schema_migrations(x)")
        }
        let error = try #require(throws: MigrationError.self) { try app.launch("1.2") }
        #expect(error.code == .unusableDatabase)
        #expect((error.underlyingError as? SchemaMigrationError)?.code == .damagedLedger)
        #expect(app.log.lines == [])
    }
}
