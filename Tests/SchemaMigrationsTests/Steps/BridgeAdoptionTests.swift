import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Adoption by the tables of a database", .timed)
struct BridgeAdoptionTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    /// Launches 2.0 of an app that is adopted at 1.0 if it has tables.
    func launch(store: MigrationStore? = nil) throws -> MigrationReport {
        let manager = try app.manager(
            "2.0", adopting: .databaseHasTables(database, means: "1.0"), store: store)
        for version in ["1.0", "1.1", "2.0"] as [AppVersion] {
            manager.whenMigratingToVersion(version) { [log = app.log] in log.add("\(version)") }
        }
        return try manager.migrate()
    }

    @Test("an install whose database has tables is adopted at the version given for them")
    func tables() throws {
        try database.write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY)") }
        let report = try launch()
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.completed.versions == ["1.1", "2.0"])
        #expect(try launch().launch == .relaunch)
        #expect(app.log.lines == ["1.1", "2.0"])
    }

    @Test("an install whose database is empty is fresh")
    func empty() throws {
        #expect(try launch().launch == .freshInstall)
        #expect(app.log.lines == [])
    }

    @Test(
        "the package's own tables do not count")
    func ownTables() throws {
        let store = MigrationStore.database(database)
        let other = try MigrationManager(
            name: "Settings", currentVersion: "2.0", adopting: .newApp, store: store)
        other.whenMigratingToVersion("1.0") {}
        try other.migrate()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE app_migrations_damaged_20260302T180411Z_A1B2(part, name, value);
                    CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                    CREATE TABLE schema_migrations_details(version INTEGER PRIMARY KEY NOT NULL)
                    """)
        }
        let tables = try database.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        }
        #expect(tables.count == 6)
        #expect(try launch().launch == .freshInstall)
    }

    @Test("a view counts as a table")
    func view() throws {
        try database.write { try $0.execute(sql: "CREATE VIEW one AS SELECT 1") }
        #expect(try launch().launch == .adoption(from: "1.0"))
    }

    @Test("an unreadable database is an error, and nothing runs")
    func unreadable() throws {
        try database.close()
        let error = try #require(throws: MigrationError.self) { try launch() }
        #expect(error.code == .undecided)
        #expect(error.message.hasPrefix("Cannot tell whether the database has tables: "))
        #expect(error.underlyingError is DatabaseError)
        #expect(app.log.lines == [])
    }

    @Test(
        "an old database needs the version of its tables and the app's; an error names the one that is missing"
    )
    func twoAnswers() throws {
        try database.write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
        func launch(adoptsTables: Bool, adoptsInstall: Bool) throws -> MigrationReport {
            let schema = try SchemaMigrator(
                migrations: [
                    SQLMigration(version: 1, name: "books", sql: "CREATE TABLE book(id, title)"),
                    SQLMigration(version: 2, name: "shelves", sql: "CREATE TABLE shelf(id)"),
                ], adopting: adoptsTables ? SchemaAdoption { _ in 1 } : nil)
            let manager = try app.manager(
                "2.0",
                adopting: adoptsInstall ? .databaseHasTables(database, means: "1.0") : .newApp)
            manager.whenMigratingToVersion("1.0") { [log = app.log] in log.add("1.0") }
            manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
            manager.whenMigratingToVersion("2.0") { [log = app.log] in log.add("2.0") }
            return try manager.migrate()
        }
        let missingInstall = try #require(throws: MigrationError.self) {
            try launch(adoptsTables: true, adoptsInstall: false)
        }
        #expect(missingInstall.code == .undecided)
        #expect(
            missingInstall.remedy.contains("Pass an `adopting` that does: for example .databaseHasTables"))
        let missingTables = try #require(throws: MigrationError.self) {
            try launch(adoptsTables: false, adoptsInstall: true)
        }
        #expect(missingTables.code == .undecided)
        #expect(missingTables.remedy.contains("Pass the migrator an `adopting:` that returns"))

        let report = try launch(adoptsTables: true, adoptsInstall: true)
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.schemaSteps.map(\.schemaVersions) == [["2"]])
        #expect(app.log.lines == ["2.0"])
        #expect(try database.ledger() == [1, 2])
    }

    @Test("a new database that the app migrates before its first manager is not new to the manager")
    func migratedBefore() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "books", sql: "CREATE TABLE book(id, title)")
        ])
        func launch(_ adopting: Adoption) throws -> MigrationReport {
            try schema.migrate(database)
            let manager = try app.manager("2.0", adopting: adopting)
            manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in log.add("2.0") }
            return try manager.migrate()
        }
        let unanswered = try #require(throws: MigrationError.self) { try launch(.newApp) }
        #expect(unanswered.code == .undecided)
        #expect(
            unanswered.description == """
                Library: library.sqlite has tables, but no record or `adopting` says which app version created them. \
                Pass an `adopting` that does: for example .databaseHasTables(dbQueue, means: "1.0"), or a closure that \
                returns the current version if the app has just created them. Nothing was changed.
                """)
        // The version that its tables have, now that the app has made them.
        #expect(try launch(Adoption { "2.0" }).launch == .adoption(from: "2.0"))
        #expect(app.log.lines == [])
    }

    @Test(
        "databases of different shapes are brought to one shape by a step, and adopted by the schema step after it"
    )
    func shapes() throws {
        let shapes = [
            "CREATE TABLE server(id INTEGER PRIMARY KEY, name TEXT)",
            "CREATE TABLE server(id INTEGER PRIMARY KEY, name TEXT, color TEXT)",
            "CREATE TABLE server(id INTEGER PRIMARY KEY, name TEXT, sort INTEGER)",
        ]
        let schema = try SchemaMigrator(
            migrations: [
                SQLMigration(
                    version: 1, name: "servers",
                    sql: "CREATE TABLE server(id INTEGER PRIMARY KEY, name TEXT, color TEXT)"),
                SQLMigration(version: 2, name: "index", sql: "CREATE INDEX server_name ON server(name)"),
            ],
            adopting: SchemaAdoption { _ in 1 })
        for shape in [nil] + shapes {
            let app = try App()
            let database = try app.open()
            if let shape { try database.execute("\(shape); INSERT INTO server(name) VALUES ('home')") }
            for expected in [shape == nil ? Launch.freshInstall : .adoption(from: "1.0"), .relaunch] {
                let manager = try app.manager(
                    "2.0", adopting: .databaseHasTables(database, means: "1.0"))
                manager.whenMigratingToVersion("2.0", in: database) { db in
                    let columns = try db.columns(in: "server").map(\.name)
                    if !columns.contains("color") {
                        try db.alter(table: "server") { $0.add(column: "color", .text) }
                    }
                    if columns.contains("sort") { try db.alter(table: "server") { $0.drop(column: "sort") } }
                }
                manager.whenMigratingToVersion("2.0-1", migrate: schema, in: database)
                #expect(try manager.migrate().launch == expected)
            }
            #expect(
                try database.read { try $0.columns(in: "server").map(\.name) } == ["id", "name", "color"])
            #expect(try database.ledger() == [1, 2])
            #expect(try database.strings("SELECT name FROM server") == (shape == nil ? [] : ["home"]))
        }
    }
}
