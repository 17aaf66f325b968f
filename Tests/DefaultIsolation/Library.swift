import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The snippet of the design, in a module whose default isolation is the main actor.
final class Library {
    private(set) var done: [String] = []

    func launch(in folder: URL, _ dbQueue: DatabaseQueue) async throws -> MigrationReport {
        let schema = try SchemaMigrator(directory: folder.appendingPathComponent("Migrations"))
        let store = try MigrationStore.jsonFile(at: folder.appendingPathComponent("migrations.json"))
        let options = MigrationOptions(
            onEvent: { [self] event in if case .launchRecognized = event.kind { done.append("\(event)") } })
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0",
            adopting: .databaseHasTables(dbQueue, means: "1.0"), store: store, options: options)

        manager.whenMigratingToVersion("1.1") { try self.moveArchive() }
        manager.whenMigratingToVersion("1.1-1") { context in try self.resumeMove(attempt: context.attempt) }
        manager.whenMigratingToVersion("1.2") { _ in try await self.performMigration1() }
        manager.whenMigratingToVersion("1.2-1") { context in
            try await self.performMigration1()
            try await context.checkpoint()
        }
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20240601120000000, in: dbQueue)
        manager.whenMigratingToVersion("2.0", in: dbQueue) { db in
            try db.execute(sql: "UPDATE book SET author = trim(author)")
        }
        manager.whenVersionChanges { from, to in self.done.append("\(from) to \(to)") }
        manager.whenVersionChanges { _, _ in try await self.performMigration1() }

        try await manager.migrate(through: "1.1")
        let report = try await manager.migrate()
        let status = try await dbQueue.read { db in try schema.status(db) }
        done += status.pendingVersions.map(String.init)
        return report
    }

    func launchAtOnce(_ store: MigrationStore) throws -> MigrationReport {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.1") { try self.moveArchive() }
        manager.whenMigratingToVersion("1.1-1") { context in try self.resumeMove(attempt: context.attempt) }
        return try manager.migrate()
    }

    private func performMigration1() async throws {
        MainActor.assertIsolated()
        await Task.yield()
        done.append("migration 1")
    }

    private func moveArchive() throws { done.append("archive") }
    private func resumeMove(attempt: Int) throws { done.append("attempt \(attempt)") }
}

/// A plain class, on no actor: its asynchronous methods stay on the actor of their caller.
nonisolated final class Importer {
    /// True if each migration ran on the main actor.
    private(set) var ranOnMainActor: [Bool] = []

    func launch(_ store: MigrationStore) async throws -> MigrationReport {
        let manager = try MigrationManager(
            name: "Importer", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.1") { _ in try await self.performMigration1() }
        manager.whenMigratingToVersion("1.2", run: performMigration2)
        manager.whenVersionChanges { _, _ in try await self.performMigration1() }
        return try await manager.migrate()
    }

    private func performMigration1() async throws {
        await Task.yield()
        ranOnMainActor.append(#isolation is MainActor)
    }

    private func performMigration2(_ context: MigrationContext) async throws {
        try await performMigration1()
    }
}
