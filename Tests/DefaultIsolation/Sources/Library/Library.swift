import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The snippet of the design, in a module whose default isolation is the main actor.
final class Library {
    private(set) var shelves: [String] = []

    func launch(in folder: URL, _ dbQueue: DatabaseQueue) async throws -> MigrationReport {
        let schema = try SchemaMigrator(directory: folder.appendingPathComponent("Migrations"))
        let store = try JSONStore(at: folder.appendingPathComponent("migrations.json"))
        let options = MigrationOptions(
            adopting: .databaseHasTables(dbQueue, means: "1.0"),
            onEvent: { [self] event in shelves.append("\(event)") })
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", store: store, options: options)

        manager.whenMigratingToVersion("1.1") { try moveArchive() }
        manager.whenMigratingToVersion("1.1-1") { context in try resumeMove(attempt: context.attempt) }
        manager.whenMigratingToVersion("1.2") { [self] in try await download() }
        manager.whenMigratingToVersion("1.2-1") { [self] context in
            try await download()
            try context.checkpoint()
        }
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20240601120000000, in: dbQueue)
        manager.whenMigratingToVersion("2.0", in: dbQueue) { db in
            try db.execute(sql: "UPDATE book SET author = trim(author)")
        }
        manager.whenVersionChanges { [self] from, to in shelves.append("\(from) to \(to)") }

        try await manager.migrate(through: "1.1")
        let report = try await manager.migrate()
        let status = try await dbQueue.read { db in try schema.status(db) }
        shelves += status.pendingVersions.map(String.init)
        return report
    }

    func launchAtOnce(_ store: InMemoryStore) throws -> MigrationReport {
        let manager = try MigrationManager(name: "Library", currentVersion: "2.0", store: store)
        manager.whenMigratingToVersion("1.1") { try moveArchive() }
        manager.whenMigratingToVersion("1.1-1") { context in try resumeMove(attempt: context.attempt) }
        return try manager.migrate()
    }

    private func download() async throws { shelves.append("download") }
}

var done: [String] = []
func moveArchive() throws { done.append("archive") }
func resumeMove(attempt: Int) throws { done.append("attempt \(attempt)") }
