import AppMigrations
import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Edge cases with databases", .timed)
struct BridgeEdgeCaseTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    @Test("a store in a new database still asks the app for the adopted version")
    func emptyStoreDatabase() throws {
        let manager = try app.manager(
            "2.0", adopting: Adoption { "1.0" }, store: .database(database))
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
                "2.0", adopting: Adoption { "1.0" }, store: .inMemory())
        }
        func register(in manager: MigrationManager) {
            manager.whenMigratingToVersion("2.0", in: database) { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('once')")
            }
        }
        let other = try manager()
        register(in: other)
        // The other manager runs everything after this one has made its plan, and before it writes.
        let one = try manager()
        one.whenMigratingToVersion("1.1", onFreshInstall: .run) { try other.migrate() }
        register(in: one)
        try one.migrate()
        #expect(try app.titles() == ["once"])
    }

    @Test("two databases whose names Swift takes for one are two places")
    func equivalentNames() throws {
        let databases = try ["\u{e9}.sqlite", "e\u{301}.sqlite"].map { try app.folder.queue($0) }
        // Some file systems do so, too.
        guard try app.folder.fileNames.count(where: { $0.hasSuffix(".sqlite") }) == 2 else { return }
        let manager = try app.manager("2.0", adopting: Adoption { "1.0" })
        for database in databases {
            manager.whenMigratingToVersion("2.0", in: database) { db in
                try db.execute(sql: "CREATE TABLE a(x)")
            }
        }
        try manager.migrate()
        for database in databases { #expect(try database.tables().contains("a")) }
    }

    @Test(
        "tables without a ledger are refused, even with a schema step by GRDB's migrator")
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

    @Test("a migration of GRDB's migrator that is merged out of order runs")
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
        #expect(try launch(["v1", "v3"]).schemaSteps.map(\.schemaVersions) == [["v1"], ["v3"]])
        #expect(try launch(["v1", "v2", "v3"]).schemaSteps.map(\.schemaVersions) == [["v2"]])
        #expect(try launch(["v1", "v2", "v3"]).schemaSteps == [])
    }

    @Test("details of the wrong type count as unknown")
    func wrongDetails() throws {
        let schema = try app.schema([10])
        try schema.migrate(database)
        try database.write {
            try $0.execute(sql: "UPDATE schema_migrations_details SET seconds = 'x', applied = 7")
        }
        let migration = try #require(try database.read(AppliedMigration.fetchAll).first)
        #expect(migration.duration == nil)
        #expect(migration.date == nil)
        #expect(migration.name == "SQL")
        #expect(try database.read(schema.status).appliedVersions == [10])

        // A flipped bit of 0.003.
        try database.write { try $0.execute(sql: "UPDATE schema_migrations_details SET seconds = 5.6e305") }
        #expect(try database.read(AppliedMigration.fetchAll).map(\.duration) == [nil])

        try database.write {
            try $0.execute(sql: "ALTER TABLE schema_migrations_details DROP COLUMN seconds")
        }
        let error = try #require(throws: MigrationError.self) { try database.read(AppliedMigration.fetchAll) }
        #expect(error.code == .databaseFailed)
    }

    @Test("a manager whose record was removed is new, whatever versions its database has seen")
    func forgotten() throws {
        try app.launch("1.0")
        try app.launch("1.2")
        let manager = try app.manager("1.2")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10, 12]), in: database)
        manager.whenMigratingToVersion("1.2", in: database) { [log = app.log] _ in log.add("again") }
        try manager.removeRecord()
        #expect(try manager.pendingVersions() == [])
        #expect(try manager.migrate().launch == .freshInstall)
    }

    @Test("waiting for a busy database ends after the migrator's timeout")
    func busy() throws {
        try app.launch("1.0")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let blocker = try DatabaseQueue(path: app.databaseURL.path, configuration: configuration)
        try blocker.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        var schema = try app.schema([10, 12])
        schema.options.busyTimeout = .zero
        let manager = try app.manager("1.2")
        manager.whenMigratingToVersion("1.2", migrate: schema, in: database)
        let statements = Locked(0)
        database.inDatabase { db in db.trace { _ in statements.withLock { $0 += 1 } } }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .locked)
        // In the ten seconds of the default, a thousand and more.
        #expect(statements.withLock { $0 } < 30)
        try blocker.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try manager.migrate().schemaSteps.map(\.schemaVersions) == [["12"]])
    }

    @Test("a database with a damaged ledger is refused, and nothing runs")
    func damagedLedger() throws {
        try app.launch("1.0")
        try database.write {
            try $0.execute(sql: "DROP TABLE schema_migrations; CREATE TABLE schema_migrations(x)")
        }
        let error = try #require(throws: MigrationError.self) { try app.launch("1.2") }
        #expect(error.code == .databaseFailed)
        #expect(error.message.hasPrefix("Library: library.sqlite: "), "\(error)")
        #expect(error.manager == "Library")
        #expect(app.log.lines == [])
    }
}
