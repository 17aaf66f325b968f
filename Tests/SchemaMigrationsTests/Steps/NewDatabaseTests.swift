import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// What is new must not be taken for what was made anew: then nothing would be imported into it.
@Suite("A new database", .timed)
struct NewDatabaseTests {
    private let folder: TemporaryFolder
    private let log = BridgeLog()

    init() throws { folder = try TemporaryFolder() }

    private func queue(_ path: String) throws -> DatabaseQueue {
        let file = folder.file(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        return try DatabaseQueue(path: file.path)
    }

    private func manager(
        _ version: String, name: String = "Library", build: String? = nil, line: String = "app"
    ) throws -> MigrationManager {
        try Environment.$current.withValue(Environment.changed { $0.build = build }) {
            try MigrationManager(
                name: name, currentVersion: version, adopting: .newApp,
                store: .jsonFile(at: folder.file("migrations.json")),
                options: MigrationOptions(
                    ignoresStepsAboveCurrent: true, line: line, lockTimeout: .milliseconds(20)))
        }
    }

    private func register(_ versions: AppVersion..., in database: DatabaseQueue, _ manager: MigrationManager)
    {
        for version in versions {
            manager.whenMigratingToVersion(version, in: database) { [log] _ in log.add("\(version)") }
        }
    }

    @Test("gets its steps although another one, in another folder, has its name")
    func sameName() throws {
        let (first, second) = (try queue("a/data.sqlite"), try queue("b/data.sqlite"))
        let earlier = try manager("1.0")
        register("1.0", in: first, earlier)
        try earlier.migrate()
        func launch(_ version: String, _ databases: DatabaseQueue...) throws {
            let manager = try manager(version)
            register("1.0", in: first, manager)
            for database in databases { register("2.0", "3.0", in: database, manager) }
            try manager.migrate()
        }
        try launch("2.0", second)
        #expect(log.lines == ["2.0"])
        try second.close()
        try FileManager.default.removeItem(at: folder.file("b/data.sqlite"))
        try launch("3.0", queue("b/data.sqlite"))
        #expect(log.lines == ["2.0"], "of two with this name, one was made anew")
    }

    @Test("is known even if the process has died before the store could name it")
    func diedBeforeItWasNamed() throws {
        let (store, before) = (folder.file("migrations.json"), folder.file("before.json"))
        func launch(_ version: String, _ versions: AppVersion...) throws {
            let database = try queue("data.sqlite")
            let manager = try manager(version)
            for version in versions { register(version, in: database, manager) }
            try manager.migrate()
            try database.close()
        }
        try launch("1.0")
        try FileManager.default.copyItem(at: store, to: before)
        try launch("1.0", "1.0")
        // The store is written last.
        try FileManager.default.removeItem(at: store)
        try FileManager.default.copyItem(at: before, to: store)
        try launch("1.0", "1.0")
        try FileManager.default.removeItem(at: folder.file("data.sqlite"))
        try launch("2.0", "1.0", "2.0")
        #expect(log.lines == [], "it was made anew")
    }

    @Test("gets its steps although it could not be written when the app was new")
    func lockedAtFirst() throws {
        let database = try queue("data.sqlite")
        func library(_ version: String) throws -> MigrationManager {
            let library = try manager(version)
            register("1.0", "2.0", in: database, library)
            return library
        }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: database.path, configuration: configuration)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let error = try #require(throws: MigrationError.self) { try library("1.0").migrate() }
        #expect(error.code == .locked)
        try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try library("2.0").migrate()
        #expect(log.lines == ["2.0"])
    }

    @Test(
        "may have tables that a plug-in has made in this build, but not in another one",
        arguments: [true, false])
    func plugIn(isThisBuild: Bool) throws {
        try manager("1.0", build: "1.0 (1)").migrate()
        let database = try queue("data.sqlite")
        let plugIn = try manager(
            "7.0", name: "PlugIn", build: isThisBuild ? "2.0 (1)" : "1.0 (1)", line: "PlugIn")
        plugIn.whenMigratingToVersion("7.0", in: database, onFreshInstall: .run) { db in
            try db.execute(sql: "CREATE TABLE a(x)")
        }
        try plugIn.migrate()
        let library = try manager("2.0", build: "2.0 (1)")
        register("1.0", "2.0", in: database, library)
        if isThisBuild {
            try library.migrate()
            #expect(log.lines == ["2.0"])
        } else {
            let error = try #require(throws: MigrationError.self) { try library.migrate() }
            #expect(error.code == .undecided)
        }
    }
}
