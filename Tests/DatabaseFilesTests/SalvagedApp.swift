import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// An app whose manager changes 2,000 texts in steps, so that each text says which steps have run, and how often.
struct SalvagedApp {
    enum Kind: CaseIterable { case sqlite, json }
    enum Adopting: CaseIterable { case newApp, tables }
    /// The pages that a test loses, of those that hold records.
    enum Loss: CaseIterable { case record, mirror, both, schema, schemaAndRecord, schemaAndBoth }

    let folder: TemporaryFolder
    let kind: Kind
    let adopting: Adopting
    let schema: SchemaMigrator

    var path: String { folder.path("app.sqlite") }
    var pages: DatabasePages { DatabasePages(path: path) }

    init(_ kind: Kind, _ adopting: Adopting = .newApp) throws {
        folder = try TemporaryFolder()
        (self.kind, self.adopting) = (kind, adopting)
        schema = try SchemaMigrator(
            tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);")
    }

    /// Makes the app's database as version 1.0 leaves it.
    func begin() throws {
        if adopting == .newApp {
            try launch("1.0")
        } else {
            try open { try schema.migrate($0) }
        }
        try insertNotes()
    }

    func insertNotes() throws {
        try open { queue in
            try queue.write { db in
                for id in 1...2_000 {
                    try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, "note \(id)"])
                }
            }
        }
    }

    @discardableResult
    func open<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try body(queue)
    }

    /// Runs the body with a manager that has a step for each of some versions up to its own.
    ///
    /// A step adds its own letter to each text.
    func manage<Result>(
        _ version: AppVersion, _ name: String = "Library", steps: [AppVersion: String] = ["2.0": "!"],
        store: MigrationStore? = nil, options: MigrationOptions = MigrationOptions(),
        _ more: (MigrationManager, DatabaseQueue) throws -> Void = { _, _ in },
        _ body: (MigrationManager) throws -> Result
    ) throws -> Result {
        try open { queue in
            let manager = try MigrationManager(
                name: name, currentVersion: version,
                adopting: adopting == .newApp ? .newApp : .databaseHasTables(queue, means: "1.0"),
                store: store
                    ?? (kind == .sqlite
                        ? MigrationStore.database(queue) : MigrationStore.jsonFile(at: storeURL)),
                options: options)
            manager.whenMigratingToVersion("1.0", migrate: schema, in: queue)
            for (step, letter) in steps.sorted(by: { $0.key < $1.key }) where step <= version.ceiling {
                manager.whenMigratingToVersion(step, in: queue) { db in
                    try db.execute(sql: "UPDATE note SET text = text || ?", arguments: [letter])
                }
            }
            try more(manager, queue)
            return try body(manager)
        }
    }

    var storeURL: URL { folder.file("migrations.json") }

    @discardableResult
    func launch(_ version: AppVersion, steps: [AppVersion: String] = ["2.0": "!"]) throws -> MigrationReport {
        try manage(version, steps: steps) { try $0.migrate() }
    }

    /// The letters that steps have added to the texts, with the number of texts that have each: `!: 2000`.
    func letters() throws -> [String] {
        try open { queue in
            try queue.strings(
                """
                SELECT replace(text, 'note ' || id, '') || ': ' || count(*) AS found FROM note GROUP BY
                replace(text, 'note ' || id, '') ORDER BY found
                """)
        }
    }

    /// Loses pages, and salvages the database.
    @discardableResult
    func salvage(losing loss: Loss, andHistory: Bool = false) throws -> SalvageReport {
        let (record, mirror) = (try pages.root("app_migrations"), try pages.root("app_migrations_mirror"))
        let history = andHistory ? try pages.root("app_migrations_history") : nil
        if [.record, .both, .schemaAndRecord, .schemaAndBoth].contains(loss) { try pages.erase(record) }
        if [.mirror, .both, .schemaAndBoth].contains(loss) { try pages.erase(mirror) }
        if let history { try pages.erase(history) }
        if [.schema, .schemaAndRecord, .schemaAndBoth].contains(loss) { try loseSchema() }
        return try salvage()
    }

    func loseSchema() throws {
        try pages.change { $0.replaceSubrange(100..<4_096, with: Data(count: 3_996)) }
    }

    @discardableResult
    func salvage() throws -> SalvageReport { try DatabaseFile(path: path).salvage(into: schema) }

    /// Expects a launch to need the app's answer, and to change nothing.
    @discardableResult
    func expectUnknown(
        _ body: () throws -> some Any, _ location: Testing.SourceLocation = #_sourceLocation
    ) throws -> String {
        let before = try letters()
        let error = try #require(throws: MigrationError.self, sourceLocation: location) { _ = try body() }
        #expect(error.code == .damagedStore, sourceLocation: location)
        #expect(try letters() == before, sourceLocation: location)
        return error.debugDescription
    }
}
