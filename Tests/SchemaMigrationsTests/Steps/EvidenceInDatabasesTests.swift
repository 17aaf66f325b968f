import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Evidence in databases", .timed)
struct EvidenceInDatabasesTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    private static let damage = "UPDATE app_migrations SET value = '{' WHERE part = 'seen'"

    private func makeTables() throws {
        try database.write { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)") }
    }

    private func launch(
        _ version: String, name: String = "Library", line: String = "app",
        in store: MigrationStore? = nil,
        adopting: Adoption = .newApp, works: Bool = true
    ) throws -> MigrationReport {
        let manager = try MigrationManager(
            name: name, currentVersion: version, adopting: adopting, store: store ?? .database(database),
            options: MigrationOptions(line: line))
        manager.whenMigratingToVersion("1.0") { [log = app.log] in log.add("\(name) closure") }
        if works {
            manager.whenMigratingToVersion("1.0-1", in: database) { [log = app.log] _ in
                log.add("\(name) step")
            }
        }
        return try manager.migrate()
    }

    @Test("A store in a database full of old tables is not new, with and without steps in it")
    func tablesBesideStore() throws {
        try makeTables()
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .database(database))
        manager.whenMigratingToVersion("1.0") { [log = app.log] in log.add("ran") }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .undecided)
        #expect(
            error.message
                == "Library: library.sqlite has tables, but no record or `adopting` says which app version created them."
        )
        #expect(app.log.lines == [])
        let adopted = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .databaseHasTables(database, means: "1.0"),
            store: .database(database))
        #expect(try adopted.migrate().launch == .adoption(from: "1.0"))
        // The store has seen this version now: a second manager asks nobody.
        let second = try MigrationManager(
            name: "Second", currentVersion: "2.0", adopting: .newApp, store: .database(database))
        #expect(try second.migrate().launch == .adoption(from: "1.0"))
    }

    @Test("A ledger of another tool is a table like others, and one of this package that is damaged an error")
    func otherLedger() throws {
        try database.execute("CREATE TABLE schema_migrations(name TEXT PRIMARY KEY)")
        #expect(try #require(throws: MigrationError.self) { try launch("2.0") }.code == .undecided)
        try database.execute("CREATE TABLE schema_migrations_details(version)")
        let error = try #require(throws: MigrationError.self) { try launch("2.0") }
        #expect(error.message.contains("The table schema_migrations has no column `version`"))
        try database.execute("DROP TABLE schema_migrations_details")
        let adopting = Adoption.databaseHasTables(database, means: "1.0")
        #expect(try launch("2.0", adopting: adopting).launch == .adoption(from: "1.0"))
        #expect(app.log.lines == ["Library step"])
    }

    @Test(
        "Tables and a file are asked together, and the higher bound counts",
        arguments: [(true, true, "1.5"), (true, false, "1.5"), (false, true, "1.0"), (false, false, nil)]
            as [(Bool, Bool, AppVersion?)])
    func tablesAndFile(hasTables: Bool, hasFile: Bool, version: AppVersion?) throws {
        if hasTables { try makeTables() }
        let archive = app.folder.file("archive")
        if hasFile { try Data().write(to: archive) }
        let report = try launch(
            "2.0", in: MigrationStore.jsonFile(at: app.storeURL),
            adopting: .any(
                .databaseHasTables(database, means: "1.5"), .fileExists(archive, means: "1.0")))
        #expect(report.launch == version.map { .adoption(from: $0) } ?? .freshInstall)
    }

    @Test("Evidence that cannot be read decides nothing, whatever other evidence says")
    func unreadableEvidence() throws {
        try makeTables()
        let error = try #require(throws: MigrationError.self) {
            try launch(
                "2.0", in: MigrationStore.jsonFile(at: app.storeURL),
                adopting: .any(.databaseHasTables(database, means: "1.0"), Adoption { throw Mishap() }))
        }
        #expect(error.code == .undecided)
        #expect(app.log.lines == [])
    }

    @Test("A store in a database of its own is new")
    func ownDatabase() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .database(database))
        #expect(try manager.migrate().launch == .freshInstall)
    }

    @Test("Another line's record does not make old tables new")
    func otherLine() throws {
        try makeTables()
        #expect(
            try launch("2.0", adopting: .databaseHasTables(database, means: "1.0"), works: false).launch
                == .adoption(from: "1.0"))
        let error = try #require(throws: MigrationError.self) {
            try launch("5.0", name: "Plugin", line: "Plugin")
        }
        #expect(error.code == .undecided)
        #expect(app.log.lines == [])
        #expect(
            try launch("5.0", name: "Plugin", line: "Plugin", adopting: Adoption { "1.0" }).launch
                == .adoption(from: "1.0"))
    }

    @Test("Damaged records are replaced by a manager that has a step beside them")
    func damageElsewhere() throws {
        let other = try DatabaseQueue(path: app.folder.path("other.sqlite"))
        #expect(try launch("1.0").launch == .freshInstall)
        try database.write {
            try $0.execute(sql: Self.damage)
        }
        let error = try #require(throws: MigrationError.self) {
            try launch(
                "2.0", name: "Settings", in: .database(other),
                adopting: .databaseHasTables(database, means: "1.0"),
                works: false)
        }
        #expect(error.code == .undecided)
        #expect(
            error.remedy
                == "Nothing was run. Call replaceRecord(assuming:) for a manager with a step in that database first."
        )
    }

    @Test("Beside tables, a line whose records went with others is told to replace its own")
    func forgottenLine() throws {
        try makeTables()
        #expect(try launch("1.0", adopting: Adoption { "1.0" }).launch == .adoption(from: "1.0"))
        try database.write {
            try $0.execute(sql: Self.damage)
        }
        let app = try MigrationManager(
            name: "Library", currentVersion: "1.0", adopting: .newApp, store: .database(database))
        try app.replaceRecord(assuming: "1.0")
        let error = try #require(throws: MigrationError.self) {
            try launch("1.0", name: "Importer", line: "Importer")
        }
        #expect(error.code == .damagedStore)
        #expect(
            error.remedy == "Call replaceRecord(assuming:) for this manager as well. Nothing was changed.")
    }

    @Test("After damage, a line that is unknown is damaged as well, and not new", arguments: [true, false])
    func otherLineAfterDamage(inFile: Bool) throws {
        func store() throws -> MigrationStore {
            try inFile
                ? MigrationStore.jsonFile(at: app.storeURL)
                : MigrationStore.database(DatabaseQueue(path: app.folder.path("records.sqlite")))
        }
        func launch(_ name: String, _ line: String) throws -> Launch {
            try self.launch("2.0", name: name, line: line, in: store(), works: false).launch
        }
        #expect(try launch("Library", "app") == .freshInstall)
        #expect(try launch("Plugin", "Plugin") == .freshInstall)
        if inFile {
            try Data("damaged".utf8).write(to: app.storeURL)
        } else {
            let records = try DatabaseQueue(path: app.folder.path("records.sqlite"))
            try records.write { try $0.execute(sql: "UPDATE app_migrations SET value = 'damaged'") }
        }
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store())
        try manager.replaceRecord(assuming: "2.0")
        #expect(try launch("Library", "app") == .adoption(from: "2.0"))
        #expect(try launch("Late", "app") == .adoption(from: "2.0"))
        let error = try #require(throws: MigrationError.self) { try launch("Plugin", "Plugin") }
        #expect(error.code == .damagedStore)
        let name = inFile ? "migrations.json" : "records.sqlite"
        #expect(
            error.description == """
                Plugin: \(name) was damaged and has been replaced, and knows no version of line Plugin. Call \
                replaceRecord(assuming:) for this manager as well. Nothing was changed.
                """)
        let plugin = try MigrationManager(
            name: "Plugin", currentVersion: "2.0", adopting: .newApp, store: store(),
            options: MigrationOptions(line: "Plugin"))
        try plugin.replaceRecord(assuming: "1.0")
        #expect(try plugin.migrate().launch == .adoption(from: "1.0"))
    }

    @Test("An unknown version is neither seen nor told")
    func noInventedVersion() throws {
        try app.schema([10]).migrate(database)
        let manager = try app.manager("2.0", adopting: Adoption { nil })
        var changes: [String] = []
        manager.whenVersionChanges { from, to in changes.append("\(from) to \(to)") }
        manager.whenMigratingToVersion("1.0") {}
        #expect(try manager.migrate().launch == .freshInstall)
        let other = try MigrationManager(
            name: "Other", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: .inMemory())
        other.whenMigratingToVersion("1.5", in: database) { [log = app.log] _, context in
            log.add("from \(context.from.map { "\($0)" } ?? "nothing")")
        }
        try other.migrate()
        #expect(changes == [])
        #expect(
            try MigrationStore.database(database).read("Other").seen["app"]?.map(\.version) == ["1.0", "2.0"])
        #expect(app.log.lines == ["from 1.0"])
    }

    @Test("A step that is left out does not need its database")
    func leftOut() throws {
        let other = try DatabaseQueue(path: app.folder.path("other.sqlite"))
        try other.write { try $0.execute(sql: "CREATE TABLE app_migrations(x)") }
        func manager(_ version: String) throws -> MigrationManager {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp,
                store: .jsonFile(at: app.storeURL),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("3.0", in: other) { _ in }
            return manager
        }
        #expect(try manager("2.0").migrate().launch == .freshInstall)
        #expect(throws: MigrationError.self) { try manager("3.0").migrate() }
    }

    @Test("A downgrade for a while makes the data no older than it is")
    func oldestSupported() throws {
        let store = MigrationStore.inMemory()
        func launch(_ version: String, oldest: AppVersion? = nil) throws -> Launch {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp, store: store,
                options: MigrationOptions(oldestSupported: oldest, ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("2.0") {}
            return try manager.migrate().launch
        }
        #expect(try launch("1.0") == .freshInstall)
        #expect(try launch("3.0") == .upgrade(from: "1.0"))
        for _ in 1...2 { #expect(try launch("1.0") == .downgrade(from: "3.0")) }
        #expect(try launch("3.0", oldest: "2.5") == .upgrade(from: "1.0"))
        #expect(try launch("1.0") == .downgrade(from: "3.0"))
        let error = try #require(throws: MigrationError.self) { try launch("4.0", oldest: "3.5") }
        #expect(error.code == .tooOld)
        #expect(error.version == "3.0")
    }
}
