import AppMigrations
import Foundation
import Testing

@Suite("A migration error", .timed)
struct MigrationErrorTests {
    @Test("has the same text in the system's alerts")
    func localized() {
        let error: any Error = MigrationError(.locked, "It is locked.", remedy: "Wait.")
        #expect("\(error)" == "It is locked. Wait.")
    }

    @Test("has no trailing space if it has no remedy")
    func noRemedy() {
        #expect("\(MigrationError(.damagedStore, "It is damaged.", remedy: ""))" == "It is damaged.")
    }

    @Test("ends with a period if the step's error has no text")
    func silentStep() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("2.0", fileID: "App/Migrations.swift", line: 3) {
            throw StepError(description: "")
        }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.message == "Library: step 2.0 (Migrations.swift:3) failed.")
    }
}
