import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport

/// An app that launches with a database: its schema steps, its steps in the database, and one outside of it.
struct SalvageApp {
    let shape: SalvageShape
    let schema: SalvageSchema
    /// The record of a manager that keeps it outside of the database.
    let record: URL

    /// What the step of each release appends to every title.
    static let marks: [Int: String] = [2: "!", 3: "?"]

    /// The number of times that a launch has run the step outside of the database, which belongs to release 2.
    final class Runs: Sendable {
        private let counted = Locked(0)
        var count: Int { counted.withLock { $0 } }
        func add() { counted.withLock { $0 += 1 } }
    }

    /// Makes the manager of a release.
    func manager(of release: Int, _ queue: DatabaseQueue, _ runs: Runs) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Notes", currentVersion: Self.version(release), adopting: adoption(queue),
            store: store(queue))
        let migrator = try schema.migrator(shape.migrations, upTo: release)
        for number in 1...release {
            migrator.register(Self.version(number), upTo: number, in: queue, of: manager)
            guard let mark = Self.marks[number] else { continue }
            manager.whenMigratingToVersion(Self.version(number), in: queue) { db in
                try db.execute(sql: "UPDATE note SET title = title || ?", arguments: [mark])
            }
            if number == 2 { manager.whenMigratingToVersion("2.0-1") { runs.add() } }
        }
        return manager
    }

    static func version(_ release: Int) -> AppVersion { AppVersion("\(release).0") ?? "1.0" }

    private func adoption(_ queue: DatabaseQueue) -> Adoption {
        switch shape.adopting {
        case .newApp: .newApp
        case .tables: .databaseHasTables(queue, means: "1.0")
        }
    }

    private func store(_ queue: DatabaseQueue) throws -> MigrationStore {
        switch shape.store {
        case .database: MigrationStore.database(queue)
        case .json: try MigrationStore.jsonFile(at: record)
        }
    }
}
