import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("A released manager", .timed)
struct ReleasedManagerTests {
    // The capture list needs Swift 6.3.
    #if DEBUG && compiler(>=6.3) && (os(macOS) || os(Linux))
        @Test("logs steps that were never migrated, and does not trap in debug builds", arguments: [1, 2])
        func released(count: Int) async throws {
            let result = await #expect(
                processExitsWith: .success, observing: [\.standardErrorContent]
            ) { [count] in
                let manager = try MigrationManager(
                    name: "Library", currentVersion: "2.0", adopting: .newApp, store: .inMemory())
                for version in ["1.0", "2.0"].prefix(count) {
                    manager.whenMigratingToVersion(try AppVersion(parsing: version)) {}
                }
            }
            let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(
                errors.contains(
                    "Library: released with steps that were never migrated: \(count == 1 ? "1.0" : "1.0, 2.0"). Call migrate()."
                ), "\(errors)")
        }
    #endif

    @Test("does not trap if it has no steps, was asked for pending ones, was forgotten, or refused to run")
    func notAMistake() throws {
        let store = MigrationStore.inMemory()
        _ = try MigrationManager(currentVersion: "2.0", adopting: .newApp, store: store)
        for call: (MigrationManager) throws -> Void in [
            { _ = try $0.pendingVersions() },
            { try $0.removeRecord() },
            { manager in #expect(throws: MigrationError.self) { try manager.migrate(through: "3.0") } },
        ] {
            let manager = try MigrationManager(currentVersion: "2.0", adopting: .newApp, store: store)
            manager.register(["2.0"], log: Log())
            try call(manager)
        }
    }
}
