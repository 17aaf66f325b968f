import AppMigrations

/// A plain class, on no actor: its asynchronous methods stay on the actor of their caller.
nonisolated final class Importer {
    /// Whether each migration ran on the main actor.
    private(set) var ranOnMainActor: [Bool] = []

    func launch(_ store: InMemoryStore) async throws -> MigrationReport {
        let manager = try MigrationManager(name: "Importer", currentVersion: "2.0", store: store)
        manager.whenMigratingToVersion("1.1") { try await self.performMigration1() }
        manager.whenMigratingToVersion("1.2", run: performMigration1)
        manager.whenVersionChanges { _, _ in try await self.performMigration1() }
        return try await manager.migrate()
    }

    private func performMigration1() async throws {
        await Task.yield()
        ranOnMainActor.append(#isolation is MainActor)
    }
}
