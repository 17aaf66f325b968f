import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("History with databases", .timed)
struct BridgeHistoryTests {
    let app: App

    init() throws { app = try App() }

    @Test("the steps of the store and of the databases are merged by date", arguments: [true, false])
    func merged(storeIsJSON: Bool) throws {
        func launch(_ version: String) throws -> [String] {
            let database = try app.open()
            let store: MigrationStore =
                storeIsJSON
                ? try MigrationStore.jsonFile(at: app.storeURL)
                : try MigrationStore.database(
                    DatabaseQueue(path: app.folder.url.appendingPathComponent("store.sqlite").path))
            let manager = try app.manager(
                version, store: store, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.0") {}
            manager.whenMigratingToVersion("1.0-1", in: database) { _ in }
            manager.whenMigratingToVersion("1.1", in: database) { _ in }
            manager.whenMigratingToVersion("1.2") {}
            manager.whenMigratingToVersion("1.3", in: database) { _ in }
            manager.whenMigratingToVersion("2.0") {}
            if version == "2.0" { try manager.skip("1.3") }
            // Dates have a precision of one millisecond, and what has one date is sorted by version.
            usleep(2_000)
            try manager.migrate()
            let history = try manager.history()
            #expect(history.allSatisfy { ($0.duration != nil) == ($0.outcome == .ran) })
            #expect(
                try manager.seenVersions().map(\.version) == (version == "1.0" ? ["1.0"] : ["1.0", "2.0"]))
            return history.map { "\($0.version) \($0.outcome) by \($0.appVersion)" }
        }
        let first = ["1.0 notNeeded by 1.0", "1.0-1 notNeeded by 1.0"]
        #expect(try launch("1.0") == first)
        #expect(
            try launch("2.0") == first + [
                "1.3 skipped by 2.0", "1.1 ran by 2.0", "1.2 ran by 2.0", "2.0 ran by 2.0",
            ])
    }

    @Test("a store in the steps' database lists each step once")
    func sharedDatabase() throws {
        func launch(_ version: String) throws -> [String] {
            let database = try app.open()
            let manager = try app.manager(
                version, store: .database(database), options: MigrationOptions(ignoresStepsAboveCurrent: true)
            )
            manager.whenMigratingToVersion("1.0") {}
            manager.whenMigratingToVersion("1.1", in: database) { _ in }
            manager.whenMigratingToVersion("2.0") {}
            try manager.migrate()
            return try manager.history().map { "\($0.version) \($0.outcome)" }
        }
        #expect(try launch("1.0") == ["1.0 notNeeded"])
        #expect(try launch("2.0") == ["1.0 notNeeded", "1.1 ran", "2.0 ran"])
        let before = try Data(contentsOf: app.databaseURL)
        #expect(try launch("2.0").count == 3)
        #expect(try Data(contentsOf: app.databaseURL) == before, "a relaunch writes nothing")
    }
}
