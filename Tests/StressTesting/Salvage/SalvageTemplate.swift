import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// A database to be damaged, with what is in it and what was.
struct SalvageTemplate: Sendable {
    let shape: SalvageShape
    let schema: SalvageSchema
    let file: URL
    /// The record of the manager, if it is outside of the database.
    let record: URL
    let rows: SalvageSnapshot
    let past: SalvagePast
    /// The number of times that the app's step outside of the database has run.
    let runs: Int
    /// The number for the next row.
    let nextID: Int

    /// The rows that migrations insert into a new database, by its version.
    let seeds: [Int: SalvageSnapshot]

    var tables: [SalvageTable] { schema.tables }
    var version: Int { shape.release }

    /// Makes the database as an app does in a few releases.
    ///
    /// - Parameter isSmall: true for a test that has little time.
    init(seed: UInt64, in folder: URL, isSmall: Bool) throws {
        var random = RandomNumbers(seed: seed, subject: "template")
        shape = SalvageShape(&random, isSmall: isSmall)
        var other = RandomNumbers(seed: seed, subject: "seeds")
        schema = SalvageSchema(&random) { SalvageSeeding(into: &$0, &other) }
        seeds = try schema.seeding.rows(of: schema, shape.migrations)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("template.sqlite")
        record = folder.appendingPathComponent("template.json")
        try shape.create(at: file)
        let queue = try SalvageConnection.open(file)
        var life = SalvageLife(shape, schema, queue, record, random)
        try life.live()
        rows = try queue.read { [schema, shape] db in
            try SalvageSnapshot(db, schema.tables, at: shape.release)
        }
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try queue.close()
        (past, runs, nextID) = (life.past, life.runs.count, life.writer.nextID)
    }
}

/// The launches of an app, and what its user writes in between.
private struct SalvageLife {
    private let app: SalvageApp
    private let queue: DatabaseQueue
    private(set) var writer: SalvageWriter
    private(set) var past = SalvagePast()
    let runs = SalvageApp.Runs()

    init(
        _ shape: SalvageShape, _ schema: SalvageSchema, _ queue: DatabaseQueue, _ record: URL,
        _ random: RandomNumbers
    ) {
        app = SalvageApp(shape: shape, schema: schema, record: record)
        writer = SalvageWriter(shape: shape, tables: schema.tables, random: random)
        self.queue = queue
        writer.nextID += schema.seeding.lastNumber
    }

    mutating func live() throws {
        for release in 1...app.shape.release {
            writer.version = release
            try launch(release)
            try touchSeeds(app.schema.seeding.count)
            // Each release writes rows, and each deletes some: those of the last one leave whole pages free.
            let count = app.shape.scale / app.shape.release + 3
            try write { try $0.fill($1, count) }
            try write { try $0.change($1) }
        }
        try write { try $0.deleteMany($1) }
    }

    /// Changes the rows that a migration has just inserted into a table.
    private mutating func touchSeeds(_ count: Int) throws {
        guard count > 0 else { return }
        // The next ids, if the migration has taken these.
        try write { writer, _ in writer.nextID += count }
        try write { try $0.changeSeeds(upTo: count, $1) }
        try write { try $0.change($1) }
    }

    /// Launches a release; the first one of an app that has its manager later has none.
    private func launch(_ release: Int) throws {
        guard release > 1 || app.shape.adopting == .newApp else {
            return try app.schema.migrator(app.shape.migrations).migrate(queue, upTo: 1)
        }
        _ = try app.manager(of: release, queue, runs).migrate()
    }

    private mutating func write(_ change: (inout SalvageWriter, Database) throws -> Void) throws {
        var writer = writer
        try queue.write { try change(&writer, $0) }
        self.writer = writer
        try past.add(queue.read { try SalvageSnapshot($0, app.schema.tables, at: writer.version) })
    }
}
