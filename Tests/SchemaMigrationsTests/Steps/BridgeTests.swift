import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Steps and schema steps in databases", .timed)
struct BridgeTests {
    let app: App

    init() throws { app = try App() }

    @Test("schema steps run on a fresh install, and steps in a database do not")
    func freshInstall() throws {
        let report = try app.launch("2.0")
        #expect(report.launch == .freshInstall)
        #expect(report.completed == [])
        #expect(
            report.schemaSteps.texts == [
                "Library: schema step 1.0 in library.sqlite: 10",
                "Library: schema step 1.2 in library.sqlite: 12",
                "Library: schema step 2.0 in library.sqlite: 20",
            ])
        #expect(try app.titles() == [])
        #expect(try app.launch("2.0").schemaSteps == [])
    }

    @Test("an upgrade migrates the schema, and runs the steps in the database once")
    func upgrade() throws {
        try app.launch("1.0")
        #expect(try app.columns() == ["id", "title"])
        let report = try app.launch("2.0")
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed.versions == ["1.2", "2.0"])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["12"], ["20"]])
        #expect(try app.columns() == ["id", "title", "author", "year"])
        #expect(try app.launch("2.0").completed == [])
        #expect(try app.titles() == ["by 1.2", "by 2.0"])
    }

    @Test("a late step is out of order once a later schema step has begun in a launch that has failed")
    func lateStep() throws {
        try app.launch("1.2")
        let database = try app.open()
        let schema = try app.schema()
        var found: [AppVersion: Bool] = [:]
        func launch(_ version: String, isHotfix: Bool) throws {
            let manager = try app.manager(version)
            manager.whenMigratingToVersion("1.2", migrate: schema, upTo: 12, in: database)
            if isHotfix {
                let isOutOfOrder = Locked(false)
                manager.whenMigratingToVersion("1.2.1", in: database) { _, context in
                    isOutOfOrder.withLock { $0 = context.isOutOfOrder }
                }
                manager.whenMigratingToVersion("1.2.2") { context in
                    found["1.2.1"] = isOutOfOrder.withLock { $0 }
                    found["1.2.2"] = context.isOutOfOrder
                }
            }
            manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20, in: database)
            manager.whenMigratingToVersion("2.0") { context in
                if !isHotfix { throw CocoaError(.fileNoSuchFile) }
                found["2.0"] = context.isOutOfOrder
            }
            try manager.migrate()
        }
        #expect(throws: MigrationError.self) { try launch("2.0", isHotfix: false) }
        #expect(try app.columns().contains("year"))
        try launch("2.0.1", isHotfix: true)
        #expect(found == ["1.2.1": true, "1.2.2": true, "2.0": false])
    }

    @Test("a step of 1.2 runs after the schema step of 1.2 and before the schema step of 2.0")
    func order() throws {
        try app.launch("1.0")
        let database = try app.open()
        let manager = try app.manager("2.0")
        let schema = try app.schema()
        var columns: [AppVersion: [String]] = [:]
        func note(_ version: AppVersion) throws {
            columns[version] = try database.read {
                try String.fetchAll($0, sql: "SELECT name FROM pragma_table_info('book')")
            }
        }
        // A step may be registered before the schema step of its version: the schema step still runs first.
        manager.whenMigratingToVersion("1.2") { try note("1.2") }
        manager.whenMigratingToVersion("1.2", migrate: schema, upTo: 12, in: database)
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20, in: database)
        manager.whenMigratingToVersion("2.0") { try note("2.0") }
        try manager.migrate()
        #expect(columns["1.2"] == ["id", "title", "author"])
        #expect(columns["2.0"] == ["id", "title", "author", "year"])
    }

    @Test(
        "a database restored from a backup of 1.0 is upgraded again, even if the store is at 2.0"
    )
    func restoredBackup() throws {
        try app.launch("1.0")
        let backup = try Data(contentsOf: app.databaseURL)
        try app.launch("2.0")
        try backup.write(to: app.databaseURL)

        let report = try app.launch("2.0")
        #expect(report.launch == .relaunch)
        #expect(report.completed.versions == ["1.2", "2.0"])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["12"], ["20"]])
        #expect(try app.titles() == ["by 1.2", "by 2.0"])
    }

    @Test("a deleted database is created again, and its steps do not run")
    func replacedFile() throws {
        try app.launch("2.0")
        try FileManager.default.removeItem(at: app.databaseURL)
        let report = try app.launch("2.0")
        #expect(report.launch == .relaunch)
        #expect(report.schemaSteps.map(\.schemaVersions) == [["10"], ["12"], ["20"]])
        #expect(report.completed == [])
    }

    @Test("deleting the store's file does not run a step in the database twice")
    func lostRecord() throws {
        try app.launch("1.0")
        try app.launch("2.0")
        try FileManager.default.removeItem(at: app.storeURL)
        #expect(try app.launch("2.0").completed == [])
        #expect(try app.titles() == ["by 1.2", "by 2.0"])
    }

    @Test("a step in the database that throws is rolled back, and runs at the next launch")
    func failure() throws {
        try app.launch("1.0")
        let database = try app.open()
        let manager = try app.manager("1.2")
        manager.whenMigratingToVersion("1.2", in: database) { db in
            try db.execute(sql: "INSERT INTO book(title) VALUES ('half')")
            throw DatabaseError(message: "the other half is missing")
        }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .stepFailed)
        #expect(try app.titles() == [])
        try app.launch("1.2")
        #expect(try app.titles() == ["by 1.2"])
    }

    @Test(
        "a step for fresh installs runs at the next launch if the first one fails", arguments: [true, false])
    func owedStep(inDatabase: Bool) throws {
        struct Death: Error {}
        func launch(dying: Bool) throws -> MigrationReport {
            let database = try app.open()
            let manager = try app.manager("2.0")
            manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
            manager.whenMigratingToVersion("1.1") { if dying { throw Death() } }
            if inDatabase {
                manager.whenMigratingToVersion("2.0", in: database, onFreshInstall: .run) { db in
                    if dying { throw Death() }
                    try db.execute(sql: "INSERT INTO book(title) VALUES ('welcome')")
                }
            } else {
                manager.whenMigratingToVersion("2.0", onFreshInstall: .run) {
                    if dying { throw Death() }
                    try database.write { try $0.execute(sql: "INSERT INTO book(title) VALUES ('welcome')") }
                }
            }
            return try manager.migrate()
        }
        #expect(throws: MigrationError.self) { try launch(dying: true) }
        #expect(try app.titles() == [])
        #expect(try launch(dying: false).completed.versions == ["2.0"])
        #expect(try launch(dying: false).completed == [])
        #expect(try app.titles() == ["welcome"])
    }

    @Test("a database with tables but no ledger or record is refused, and stays unchanged")
    func unmanaged() throws {
        try app.open().write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
        let before = try Data(contentsOf: app.databaseURL)
        let database = try app.open()
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("2.0", in: database) { db in try db.execute(sql: "DELETE FROM book") }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                Library: library.sqlite has tables, but no record or `adopting` says which app version created them. \
                Pass an `adopting` that does: for example .databaseHasTables(dbQueue, means: "1.0"), or a closure that \
                returns the current version if the app has just created them. Nothing was changed.
                """)
        #expect(try Data(contentsOf: app.databaseURL) == before)
        #expect(!FileManager.default.fileExists(atPath: app.storeURL.path))
    }

    @Test("a schema step in a database with tables and no ledger asks for the options `adopting`")
    func unmanagedWithMove() throws {
        let database = try app.open()
        try database.write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "pages", sql: "CREATE TABLE page(x)")
        ])
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                Library: library.sqlite: The database has tables, but there is no `schema_migrations` table. Pass the \
                migrator an `adopting:` that returns the version of the tables, such as `SchemaAdoption { db in … }`. \
                Nothing was changed. The manager's own `adopting` has to say which app version created them.
                """)
        #expect(!FileManager.default.fileExists(atPath: app.storeURL.path))
    }

    @Test("a database with tables is adopted at the version that the app returns")
    func adopted() throws {
        try app.open().write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
        let database = try app.open()
        let manager = try app.manager("2.0", adopting: Adoption { "1.0" })
        manager.whenMigratingToVersion("1.0", in: database) { [log = app.log] _ in log.add("1.0") }
        manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in log.add("2.0") }
        #expect(try manager.migrate().launch == .adoption(from: "1.0"))
        #expect(app.log.lines == ["2.0"])
    }

    @Test("a database migrated without a manager is adopted at the version that the app returns")
    func ledgerOnly() throws {
        try app.schema([10]).migrate(app.open())
        let error = try #require(throws: MigrationError.self) { try app.launch("2.0") }
        #expect(error.code == .undecided)
        let adopting = try Adoption.databaseHasTables(app.open(), means: "1.0")
        #expect(try app.launch("2.0", adopting: adopting).launch == .adoption(from: "1.0"))
        #expect(try app.titles() == ["by 1.2", "by 2.0"])
    }

    @Test("a manager without a record takes its version from the database")
    func lostStore() throws {
        try app.launch("1.0")
        try app.launch("2.0")
        try FileManager.default.removeItem(at: app.storeURL)
        let database = try app.open()
        let manager = try app.manager("2.1")
        manager.whenMigratingToVersion("1.1") { [log = app.log] in log.add("1.1 again") }
        manager.whenMigratingToVersion("2.1") { [log = app.log] in log.add("2.1") }
        manager.whenMigratingToVersion("2.1", in: database) { _ in }
        let before = app.log.lines
        let report = try manager.migrate()
        #expect(report.launch == .adoption(from: "2.0"))
        #expect(
            report.completed.map(\.description) == [
                "Library: step 2.1", "Library: step 2.1 in library.sqlite",
            ])
        #expect(app.log.lines == before + ["2.1"])
    }

    @Test(
        "all managers of a fresh install agree, even after the first one has created the tables",
        arguments: [2, 5])
    func severalManagers(count: Int) throws {
        func launch(_ version: String, _ names: [String]) throws -> [Launch] {
            let database = try app.open()
            defer { try? database.close() }
            return try names.map { name in
                let manager = try MigrationManager(
                    name: name, currentVersion: version, adopting: .databaseHasTables(database, means: "1.0"),
                    store: .jsonFile(at: app.storeURL))
                manager.whenMigratingToVersion("1.5") { [log = app.log] in log.add("\(name) 1.5") }
                if name == names[0] {
                    manager.whenMigratingToVersion("2.0", migrate: try app.schema([10]), in: database)
                }
                manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in
                    log.add("\(name) 2.0")
                }
                return try manager.migrate().launch
            }
        }
        let names = (1...count).map { "Manager \($0)" }
        #expect(try launch("2.0", names) == names.map { _ in .freshInstall })
        #expect(app.log.lines == [])
        let late = try MigrationManager(
            name: "Late", currentVersion: "2.1", adopting: .newApp, store: .jsonFile(at: app.storeURL))
        #expect(try late.migrate().launch == .adoption(from: "2.0"))
    }

    @Test("all managers of an existing install adopt it, in any order", arguments: [2, 5])
    func severalManagersOfOldInstall(count: Int) throws {
        try app.open().write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
        let names = (1...count).map { "Manager \($0)" }
        for name in names.reversed() {
            let database = try app.open()
            let manager = try MigrationManager(
                name: name, currentVersion: "2.0", adopting: .databaseHasTables(database, means: "1.0"),
                store: .jsonFile(at: app.storeURL))
            manager.whenMigratingToVersion("1.0") { [log = app.log] in log.add("\(name) 1.0") }
            manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in log.add("\(name) 2.0")
            }
            #expect(try manager.migrate().launch == .adoption(from: "1.0"))
        }
        #expect(app.log.lines == names.reversed().map { "\($0) 2.0" })
    }

    @Test("a manager with only schema steps can get steps in the database later")
    func stepsAddedLater() throws {
        let database = try app.open()
        func manager(_ version: String) throws -> MigrationManager {
            let manager = try app.manager(version)
            manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
            return manager
        }
        try manager("1.0").migrate()
        let later = try manager("1.1")
        later.whenMigratingToVersion("1.1", in: database) { [log = app.log] _ in log.add("1.1") }
        #expect(try later.migrate().completed.versions == ["1.1"])
    }

    @Test("a store in the database of steps has one record with it")
    func sharedDatabase() throws {
        func launch(_ version: String) throws -> MigrationReport {
            let database = try app.open()
            let manager = try app.manager(version, store: .database(database))
            let schema = try app.schema(version == "1.0" ? [10] : [10, 12, 20])
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: database)
            if version == "2.0" {
                manager.whenMigratingToVersion("1.1") { [log = app.log] in log.add("1.1") }
                manager.whenMigratingToVersion("1.2", in: database) { [log = app.log] _ in log.add("in 1.2") }
                manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
            }
            return try manager.migrate()
        }
        #expect(try launch("1.0").launch == .freshInstall)
        let report = try launch("2.0")
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed.versions == ["1.1", "1.2"])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["12", "20"]])
        #expect(try launch("2.0").completed == [])
        #expect(app.log.lines == ["1.1", "in 1.2"])
        let record = try MigrationStore.database(app.open()).read("Library").record(of: "Library")
        #expect(record?.settled == ["1.1", "1.2"])
        #expect(record?.completed == "2.0")
    }

    @Test("listing pending schema steps changes nothing")
    func pendingSchemaSteps() throws {
        try app.launch("1.0")
        let before = try Data(contentsOf: app.databaseURL)
        let database = try app.open()
        let manager = try app.manager("2.0")
        let schema = try app.schema()
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: database)
        manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
        let pending = try manager.pending()
        #expect(pending.map(\.work.description) == ["Library: schema step 2.0 in library.sqlite"])
        #expect(pending.map(\.schemaVersions) == [["12", "20"]])
        #expect(try Data(contentsOf: app.databaseURL) == before)
    }

    @Test("a schema migration added out of order runs in the first schema step that covers it")
    func lateFile() throws {
        let database = try app.open()
        func launch(_ versions: [SchemaVersion]) throws -> MigrationReport {
            let manager = try app.manager("2.0")
            let schema = try app.schema(versions)
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: database)
            manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20, in: database)
            return try manager.migrate()
        }
        _ = try launch([10, 20])
        #expect(
            try launch([5, 10, 12, 20]).schemaSteps.texts == [
                "Library: schema step 1.0 in library.sqlite: 5",
                "Library: schema step 2.0 in library.sqlite: 12",
            ])
    }

    @Test("a downgrade refuses a database that is newer than the app")
    func newerDatabase() throws {
        try app.launch("2.0")
        let error = try #require(throws: MigrationError.self) { try app.launch("1.2") }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                Library: library.sqlite: The database has had migrations that are unknown and not compatible: 20_SQL. \
                A newer version of the app has applied them: update the app. If their files were removed, put them back. \
                Nothing was changed.
                """)
    }

    @Test("a reset runs the steps in the database again, and keeps its schema")
    func reset() throws {
        try app.launch("1.0")
        try app.launch("1.2")
        let database = try app.open()
        let manager = try app.manager("1.2")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10, 12]), in: database)
        manager.whenMigratingToVersion("1.2", in: database) { [log = app.log] _ in log.add("again") }
        try manager.rerunAllSteps()
        #expect(try manager.pendingSchemaSteps() == [])
        #expect(try manager.migrate().completed.versions == ["1.2"])
        #expect(app.log.lines == ["in 1.2", "again"])
    }
}
