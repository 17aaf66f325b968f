import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Managers that share databases", .timed)
struct SharedDatabaseTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    private func manager(
        _ name: String, _ version: String, line: String = "app", adopting: Adoption = .newApp,
        store: MigrationStore? = nil
    ) throws -> MigrationManager {
        try MigrationManager(
            name: name, currentVersion: version, adopting: adopting,
            store: store ?? .jsonFile(at: app.storeURL),
            options: MigrationOptions(line: line))
    }

    /// Makes a database as an app does that has no migrations of its schema.
    private func makeTables(in database: DatabaseQueue) throws {
        try database.write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
    }

    private func addStep(_ version: AppVersion, to manager: MigrationManager, in database: DatabaseQueue) {
        manager.whenMigratingToVersion(version, in: database) { [log = app.log, name = manager.name] _ in
            log.add("\(name) \(version)")
        }
    }

    @Test("A manager does not take for new what another one has found to be old")
    func foundOld() throws {
        // Version 1.0 has two managers, neither of which works in the database.
        for name in ["Library", "Search"] { try manager(name, "1.0").migrate() }
        try makeTables(in: database)
        // In 2.0, the one migrates the schema, and the other has a step there.
        let schema = try SchemaMigrator(
            migrations: [
                ExecutedSQL(version: 10, sql: "SELECT 1"), ExecutedSQL(version: 20, sql: "SELECT 1"),
            ],
            adopting: SchemaAdoption { _ in 10 })
        let library = try manager("Library", "2.0")
        library.whenMigratingToVersion("2.0", migrate: schema, in: database)
        try library.migrate()
        let search = try manager("Search", "2.0")
        addStep("2.0", to: search, in: database)
        #expect(try search.migrate().completed.versions == ["2.0"])
        #expect(app.log.lines == ["Search 2.0"])
        // That it was old is no version that it has seen.
        let store = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .database(database))
        #expect(try store.seenVersions().map(\.version) == ["2.0"])
        // Its tables mean what the app says, and not that they are older still.
        let late = try manager(
            "Late", "2.0", adopting: .databaseHasTables(database, means: "1.0"), store: .inMemory())
        #expect(try late.migrate().launch == .adoption(from: "1.0"))
    }

    @Test("A database of unknown age that keeps the records does not take another one's word for its rows")
    func unknownRows() throws {
        let second = try DatabaseQueue(path: app.folder.path("second.sqlite"))
        try makeTables(in: second)
        func launch(_ version: String, recordsIn store: DatabaseQueue) throws -> MigrationReport {
            let manager = try manager("Library", version, store: .database(store))
            addStep("2.0", to: manager, in: store)
            addStep("2.0-1", to: manager, in: second)
            return try manager.migrate()
        }
        let adopting = try manager(
            "Library", "3.0", adopting: Adoption { "1.0" }, store: .database(database))
        addStep("2.0-1", to: adopting, in: second)
        try adopting.migrate()
        #expect(app.log.lines == ["Library 2.0-1"])

        // A database of an install from before the app had this package takes the place of the first one.
        let old = try DatabaseQueue(path: app.folder.path("old.sqlite"))
        try makeTables(in: old)
        for version in ["2.0", "3.0"] {
            let error = try #require(throws: MigrationError.self) { try launch(version, recordsIn: old) }
            #expect(error.code == .undecided)
            #expect(
                error.message
                    == "Library: old.sqlite has tables, but no record or `adopting` says which app version created them."
            )
        }
        #expect(app.log.lines == ["Library 2.0-1"])
    }

    @Test(
        "A manager with versions of its own is new in a database that was new to another one",
        arguments: [true, false])
    func otherLine(inDatabase: Bool) throws {
        let store: MigrationStore =
            inDatabase ? MigrationStore.database(database) : try MigrationStore.jsonFile(at: app.storeURL)
        let library = try manager("Library", "3.0", store: store)
        library.whenMigratingToVersion("3.0", migrate: try app.schema(), in: database)
        #expect(try library.migrate().launch == .freshInstall)
        let plugin = try manager("Plugin", "1.0", line: "Plugin", store: store)
        addStep("1.0", to: plugin, in: database)
        let report = try plugin.migrate()
        #expect(report.launch == .freshInstall)
        #expect(report.completed == [])
    }
}
