package import AppMigrations
package import Foundation
package import GRDB
package import SchemaMigrations
package import TestSupport
import Testing

/// An app with one database, with the steps and schema steps of its versions.
package struct App {
    package let folder: TemporaryFolder
    package let log = BridgeLog()

    package init() throws { folder = try TemporaryFolder() }

    package var databaseURL: URL { folder.url.appendingPathComponent("library.sqlite") }
    package var storeURL: URL { folder.url.appendingPathComponent("migrations.json") }

    package static let sql: [SchemaVersion: String] = [
        10: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL)",
        12: "ALTER TABLE book ADD COLUMN author TEXT",
        20: "ALTER TABLE book ADD COLUMN year INTEGER",
    ]

    package func schema(_ versions: [SchemaVersion] = [10, 12, 20]) throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: versions.map { ExecutedSQL(version: $0, sql: Self.sql[$0] ?? "SELECT 1") })
    }

    package func open() throws -> DatabaseQueue { try DatabaseQueue(path: databaseURL.path) }

    package func manager(
        _ version: String, adopting: Adoption = .newApp, store: MigrationStore? = nil,
        options: MigrationOptions = MigrationOptions()
    ) throws -> MigrationManager {
        try MigrationManager(
            name: "Library", currentVersion: version, adopting: adopting,
            store: store ?? .jsonFile(at: storeURL),
            options: options)
    }

    /// Launches a version of the app with all steps and schema steps up to it.
    @discardableResult
    package func launch(
        _ version: String, adopting: Adoption = .newApp, store: MigrationStore? = nil,
        options: MigrationOptions = MigrationOptions()
    ) throws -> MigrationReport {
        let database = try open()
        defer { try? database.close() }
        let manager = try manager(version, adopting: adopting, store: store, options: options)
        let versions: [SchemaVersion] = version == "1.0" ? [10] : version == "1.2" ? [10, 12] : [10, 12, 20]
        let schema = try schema(versions)
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: database)
        if version != "1.0" {
            manager.whenMigratingToVersion("1.2", migrate: schema, upTo: 12, in: database)
            manager.whenMigratingToVersion("1.2", in: database) { [log] db in
                log.add("in 1.2")
                try db.execute(sql: "INSERT INTO book(title) VALUES ('by 1.2')")
            }
        }
        if version == "2.0" {
            manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20, in: database)
            manager.whenMigratingToVersion("2.0", in: database) { [log] db in
                log.add("in 2.0")
                try db.execute(sql: "INSERT INTO book(title, year) VALUES ('by 2.0', 2000)")
            }
        }
        return try manager.migrate()
    }

    /// Runs deferred steps to their end, a few batches in each of many managers, as after kills between batches.
    package func runInPieces(
        between: (Int) throws -> Void = { _ in }, _ makeManager: () throws -> MigrationManager
    ) throws {
        for piece in 1...500 {
            let manager = try makeManager()
            try manager.migrate()
            var batches = 0
            let report = try manager.runDeferred(while: {
                batches += 1
                if batches > piece % 4 { manager.deferredProgress.cancel() }
                return true
            })
            #expect(report.failures.isEmpty, "\(report.failures)")
            if report.pending.isEmpty { return }
            try between(piece)
        }
        Issue.record("the step does not come to an end")
    }

    package func titles() throws -> [String] {
        try open().read { try String.fetchAll($0, sql: "SELECT title FROM book ORDER BY id") }
    }

    package func columns() throws -> [String] {
        try open().read { try String.fetchAll($0, sql: "SELECT name FROM pragma_table_info('book')") }
    }
}

/// A migration in Swift that executes SQL.
package struct ExecutedSQL: SchemaMigration {
    package let version: SchemaVersion
    package let name = "SQL"
    let sql: String

    package init(version: SchemaVersion, sql: String) {
        self.version = version
        self.sql = sql
    }

    package func migrate(_ db: Database) throws { try db.execute(sql: sql) }
}

/// Lines that steps write when they run, on any thread.
package final class BridgeLog: Sendable {
    private let storage = Locked<[String]>([])

    package init() {}

    package func add(_ line: String) { storage.withLock { $0.append(line) } }
    package var lines: [String] { storage.withLock { $0 } }
}
