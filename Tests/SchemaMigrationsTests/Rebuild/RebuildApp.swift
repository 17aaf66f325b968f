import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

/// An app at 2.1 that rebuilds a table of its version 1.0.
struct RebuildApp {
    let app: App
    let database: DatabaseQueue
    var table = "photo"
    var schema: String
    var copying: [String: String] = [:]
    var dropping: [String] = []

    /// Creates the database as version 1.0 has left it.
    init(_ setUp: String, as schema: String, copying: [String: String] = [:]) throws {
        app = try App()
        database = try DatabaseQueue(path: app.folder.url.appendingPathComponent("photos.sqlite").path)
        self.schema = schema
        self.copying = copying
        try database.execute(setUp)
    }

    func manager(
        _ version: String = "2.1", options: MigrationOptions = MigrationOptions(),
        in other: DatabaseQueue? = nil
    ) throws -> MigrationManager {
        let manager = try app.manager(version, adopting: Adoption { "1.0" }, options: options)
        manager.whenMigratingToVersion(
            "2.1", rebuilding: table, deferredIn: other ?? database, as: schema, copying: copying,
            dropping: dropping, fileID: "App/Migrations.swift", line: 7)
        return manager
    }

    /// Launches, and then runs what is deferred.
    @discardableResult
    func launchAndRun() throws -> DeferredReport {
        let manager = try manager()
        try manager.migrate()
        return try manager.runDeferred()
    }

    /// Rebuilds the table in three launches.
    func rebuild(sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        let copied = try launchAndRun()
        #expect(copied.failures.isEmpty, "\(copied.failures)", sourceLocation: sourceLocation)
        #expect(copied.pending.map(\.awaitsLaunch) == [true], sourceLocation: sourceLocation)
        #expect(!copied.canContinue, sourceLocation: sourceLocation)
        let emptied = try launchAndRun()
        #expect(emptied.failures.isEmpty, "\(emptied.failures)", sourceLocation: sourceLocation)
        #expect(emptied.pending.isEmpty, sourceLocation: sourceLocation)
        #expect(try leftovers() == [], sourceLocation: sourceLocation)
    }

    /// Rebuilds the table batch by batch, each in a launch of its own.
    func rebuildInPieces(between: (Int) throws -> Void = { _ in }) throws {
        try app.runInPieces(between: between) { try manager() }
        #expect(try leftovers() == [])
    }

    /// The names of what the rebuild has in the database.
    func leftovers() throws -> [String] {
        try database.strings(
            """
            SELECT name FROM sqlite_master WHERE name LIKE 'app\\_migrations\\_%' ESCAPE '\\'
            AND name <> 'app_migrations_history' ORDER BY name
            """)
    }

    func rows(_ table: String = "photo") throws -> [String] {
        try database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { row in
                row.databaseValues.map { "\($0)" }.joined(separator: ", ")
            }.sorted()
        }
    }
}
