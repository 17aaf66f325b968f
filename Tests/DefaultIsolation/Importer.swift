public import AppMigrations

/// A plain class, on no actor: its asynchronous methods stay on the actor of their caller.
public nonisolated final class Importer {
    /// Whether each migration ran on the main actor.
    public private(set) var ranOnMainActor: [Bool] = []

    public init() {}

    public func launch(_ store: InMemoryStore) async throws -> MigrationReport {
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
