import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

@Suite("Adoption by the tables of a database")
struct BridgeAdoptionTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    /// Launches 2.0 of an app that is adopted at 1.0 if it has tables.
    func launch(store: (any MigrationStore)? = nil) throws -> MigrationReport {
        let manager = try app.manager(
            "2.0", store: store,
            options: MigrationOptions(adopting: .databaseHasTables(database, means: "1.0")))
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
        #expect(report.completed == ["1.1", "2.0"])
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
        let store = SQLiteStore(database)
        let other = try MigrationManager(name: "Settings", currentVersion: "2.0", store: store)
        other.whenMigratingToVersion("1.0") {}
        try other.migrate()
        try database.write {
            try $0.execute(sql: "UPDATE app_migrations SET value = 'x' WHERE part = 'managers'")
        }
        try other.replaceRecord(assuming: "2.0")
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                    CREATE TABLE schema_migrations_details(version INTEGER PRIMARY KEY NOT NULL)
                    """)
        }
        let tables = try database.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        }
        #expect(tables.count == 5)
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
}
