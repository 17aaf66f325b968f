import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Replacing a record in a database", .timed)
struct BridgeReplaceRecordTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    func manager(_ name: String = "Library") throws -> MigrationManager {
        let manager = try MigrationManager(
            name: name, currentVersion: "2.0", adopting: .newApp, store: .database(database))
        for version in ["1.0", "1.5", "2.0"] as [AppVersion] {
            manager.whenMigratingToVersion(version) { [log = app.log] in log.add("\(name) \(version)") }
        }
        return manager
    }

    func damage(_ sql: String) throws {
        try manager().migrate()
        try manager("Settings").migrate()
        try database.write { try $0.execute(sql: sql) }
    }

    func tablesSetAside() throws -> [String] {
        try database.read {
            try String.fetchAll(
                $0,
                sql: """
                    SELECT name FROM sqlite_master WHERE name LIKE 'app\\_migrations\\_damaged\\_%' ESCAPE '\\'
                    AND name NOT LIKE '%mirror'
                    """)
        }
    }

    @Test(
        "a damaged table is renamed, and the manager continues from the assumed version",
        arguments: [
            "UPDATE app_migrations SET value = '{' WHERE name = 'Library'",
            "UPDATE app_migrations SET value = x'00' WHERE name = 'Library'",
            "UPDATE app_migrations SET value = '\"2.0\"' WHERE part = 'format'",
        ])
    func damaged(sql: String) throws {
        try damage(sql)
        let rows = try database.read {
            try Row.fetchAll($0, sql: "SELECT * FROM app_migrations ORDER BY part, name")
        }
        let manager = try manager()
        #expect(throws: MigrationError.self) { try manager.migrate() }
        try manager.replaceRecord(assuming: "1.0")
        #expect(try manager.migrate().completed.versions == ["1.5", "2.0"])
        #expect(try self.manager("Settings").migrate().completed.versions == ["1.5", "2.0"])
        #expect(app.log.lines == ["Library 1.5", "Library 2.0", "Settings 1.5", "Settings 2.0"])

        let aside = try #require(try tablesSetAside().first)
        #expect(aside.contains(#/^app_migrations_damaged_\d{8}T\d{6}Z_[0-9A-F]{4}$/#))
        let kept = try database.read {
            try Row.fetchAll($0, sql: "SELECT * FROM \(aside) WHERE part <> 'setAside' ORDER BY part, name")
        }
        #expect(kept == rows)
    }

    @Test("a damaged table is renamed in a database with a broken view, and renaming is as strict as before")
    func brokenView() throws {
        try damage("UPDATE app_migrations SET value = '{' WHERE name = 'Library'")
        try database.write { try $0.execute(sql: "CREATE VIEW broken AS SELECT * FROM missing") }
        try manager().replaceRecord(assuming: "2.0")
        #expect(try tablesSetAside().count == 1)
        #expect(throws: DatabaseError.self) {
            try database.write { try $0.execute(sql: "ALTER TABLE app_migrations RENAME TO other") }
        }
    }

    @Test("two replacements in the same second set two tables aside")
    func twice() throws {
        for _ in 1...2 {
            try damage("UPDATE app_migrations SET value = '{' WHERE name = 'Library'")
            try manager().replaceRecord(assuming: "2.0")
        }
        #expect(try tablesSetAside().count == 2)
    }

    @Test("a database that holds only records set aside counts as new")
    func empty() throws {
        try damage("UPDATE app_migrations SET value = '{' WHERE name = 'Library'")
        try database.write {
            try $0.execute(sql: "ALTER TABLE app_migrations RENAME TO app_migrations_damaged_now")
        }
        let manager = try MigrationManager(
            name: "Other", currentVersion: "2.0", adopting: .newApp, store: .inMemory())
        manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in log.add("2.0") }
        try manager.migrate()
        #expect(app.log.lines == [], "no step is needed in a new database")
    }

    @Test("replacing the store's record keeps a readable record in a database")
    func readableBesideDamaged() throws {
        try app.launch("1.2")
        let titles = try app.titles()
        try Data("{".utf8).write(to: app.storeURL)
        let manager = try app.manager("1.2")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10, 12]), in: database)
        manager.whenMigratingToVersion("1.2", in: database) { [log = app.log] _ in log.add("again") }
        try manager.replaceRecord(assuming: "1.0")
        #expect(try manager.migrate().completed == [])
        #expect(try app.titles() == titles)
        #expect(!app.log.lines.contains("again"))
    }

    @Test("replacing a record inside a transaction is refused, and changes nothing")
    func insideTransaction() throws {
        try damage("UPDATE app_migrations SET value = '{' WHERE name = 'Library'")
        let manager = try manager()
        try database.write { _ in
            let error = try #require(throws: MigrationError.self) {
                try manager.replaceRecord(assuming: "1.0")
            }
            #expect(error.code == .misuse)
        }
        #expect(try tablesSetAside() == [])
    }
}
