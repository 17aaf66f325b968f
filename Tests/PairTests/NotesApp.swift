import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// An app whose release 2.0 changes each of its notes in several kinds of work, and whose 3.0 finishes them.
///
/// Each adds a letter to the texts, so that these say what has run, and how often.
struct NotesApp: Sendable {
    /// How the app makes its tables.
    enum Schema: CaseIterable, Sendable {
        case files, swift, grdb, redefinition, snapshot, baseline, backups
    }

    /// The work of a release: `d` in a step, `r` over rows and `c` by a cursor, both after the launch.
    enum Work: CaseIterable, Sendable { case step, rows, cursor }

    var schema = Schema.files
    var works = Set(Work.allCases)
    /// The work runs in new databases as well.
    var onFreshInstall = FreshInstallRule.run
    var adopting: @Sendable (DatabaseQueue) -> Adoption = { _ in .newApp }
    var name = "Notes"
    var ignoresStepsAboveCurrent = false
    /// Is called before any work, and may throw.
    var before: @Sendable () throws -> Void = {}
    /// Is called with the manager before it migrates.
    var more: @Sendable (MigrationManager, DatabaseQueue) throws -> Void = { _, _ in }

    /// The texts of the 25 notes, after these letters.
    static func texts(_ letters: String) -> [String] { (1...25).map { "note \($0) \(letters)" } }

    // MARK: Launching

    /// Launches a release in a folder, and runs its deferred steps.
    func launch(in folder: URL, as version: AppVersion) throws {
        try open(in: folder) { queue in
            let manager = try manager(version, in: folder, queue)
            try manager.migrate()
            let report = try manager.runDeferred()
            if let failure = report.failures.first { throw failure }
        }
    }

    func device() throws -> SimulatedDevice { try SimulatedDevice { try launch(in: $0, as: $1) } }

    /// Returns a device that was updated from 1.0 to 2.0, and has done so many batches of deferred work.
    func upgradedDevice(deferredBatches batches: Int) throws -> SimulatedDevice {
        let device = try device()
        try device.launch(as: "1.0")
        try device.launch(as: "2.0", deferredBatches: batches)
        return device
    }

    @discardableResult
    func open<Result>(in folder: URL, _ body: (DatabaseQueue) throws -> Result) throws -> Result {
        let queue = try DatabaseQueue(path: Self.path(in: folder))
        defer { try? queue.close() }
        return try body(queue)
    }

    static func path(in folder: URL) -> String { folder.appendingPathComponent("notes.sqlite").path }

    func manager(_ version: AppVersion, in folder: URL, _ queue: DatabaseQueue) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: name, currentVersion: version, adopting: adopting(queue),
            store: .jsonFile(at: folder.appendingPathComponent("migrations.json")),
            options: MigrationOptions(ignoresStepsAboveCurrent: ignoresStepsAboveCurrent))
        try registerSchema(version, on: manager, in: folder, queue)
        if version >= "2.0" { registerWork(on: manager, queue) }
        if version >= "3.0" {
            let finishing: [AppVersion] =
                (works.contains(.rows) ? ["2.0-1"] : []) + (works.contains(.cursor) ? ["2.0-2"] : [])
            manager.whenMigratingToVersion(
                "3.0", finishing: finishing, in: queue, onFreshInstall: onFreshInstall
            ) { db in try db.execute(sql: "UPDATE note SET text = text || '3' WHERE text NOT LIKE '%3'") }
        }
        try more(manager, queue)
        return manager
    }

    private func registerWork(on manager: MigrationManager, _ queue: DatabaseQueue) {
        if works.contains(.step) {
            let isOld: @Sendable (Database) throws -> Bool = { db in
                try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM note WHERE text NOT LIKE '%d%')")
                    ?? false
            }
            manager.whenMigratingToVersion("2.0", in: queue, onFreshInstall: onFreshInstall, again: isOld) {
                [before] db in
                try before()
                try db.execute(sql: "UPDATE note SET text = text || 'd' WHERE text NOT LIKE '%d%'")
            }
        }
        if works.contains(.rows) {
            manager.afterMigratingToVersion(
                "2.0-1", in: queue, overRowsOf: "note", onFreshInstall: onFreshInstall,
                again: "text NOT LIKE '%r%'"
            ) { [before] db, rows in
                try before()
                try db.execute(literal: "UPDATE note SET text = text || 'r' WHERE \(rows.condition)")
            }
        }
        if works.contains(.cursor) {
            manager.afterMigratingToVersion(
                "2.0-2", in: queue, startingAt: 0, onFreshInstall: onFreshInstall
            ) { [before] db, done in
                try before()
                try db.execute(
                    sql: "UPDATE note SET text = text || 'c' WHERE id > ? AND id <= ? + 3",
                    arguments: [done, done])
                return done >= 24 ? .done : .more(done + 3)
            }
        }
    }

    // MARK: Tables

    static let notes = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, mood TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
        INSERT INTO note(id, text) SELECT i, 'note ' || i || ' ' FROM n;
        CREATE TABLE damaged(x);
        """
    static let tags = "CREATE TABLE tag(id INTEGER PRIMARY KEY);"
    /// What stands for the first two migrations.
    static let baseline = SQLMigration(
        version: 2, name: "baseline", sql: "-- replaces: 1 notes\n-- replaces: 2 tags\n\(notes)\n\(tags)")
    static let index = "CREATE INDEX note_mood ON note(mood);"
    static let definition = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, mood TEXT)"

    private func registerSchema(
        _ version: AppVersion, on manager: MigrationManager, in folder: URL, _ queue: DatabaseQueue
    ) throws {
        if schema == .grdb {
            manager.whenMigratingToVersion(migrate: migrator(version), newerDatabases: .allow, in: queue)
        } else {
            manager.whenMigratingToVersion(migrate: try files(version, in: folder), in: queue)
        }
    }

    /// The app's migrations as GRDB runs them.
    func migrator(_ version: AppVersion) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { try $0.execute(sql: Self.notes) }
        if version >= "2.0" { migrator.registerMigration("index") { try $0.execute(sql: Self.index) } }
        return migrator
    }

    /// The app's migrations; release 2.0 has a second one.
    func files(_ version: AppVersion, in folder: URL) throws -> SchemaMigrator {
        let notes = SQLMigration(version: 1, name: "notes", sql: Self.notes)
        let index = SQLMigration(version: 2, name: "index", sql: Self.index)
        var options = SchemaOptions(newerDatabases: .allow)
        if schema == .backups { options.backupFolder = folder.appendingPathComponent("Backups") }
        guard version >= "2.0" else {
            let tags = schema == .baseline ? [SQLMigration(version: 2, name: "tags", sql: Self.tags)] : []
            return try SchemaMigrator(migrations: [notes] + tags, options: options)
        }
        switch schema {
        case .files, .grdb, .backups: return try SchemaMigrator(migrations: [notes, index], options: options)
        case .swift:
            let code = CodeMigration(2, "index") { try $0.execute(sql: Self.index) }
            return try SchemaMigrator(migrations: [notes, code], options: options)
        case .redefinition:
            let code = CodeMigration(2, "notNull") { try $0.redefine(table: "note", as: Self.definition) }
            return try SchemaMigrator(migrations: [notes, code], options: options)
        case .baseline:
            let index = SQLMigration(version: 3, name: "index", sql: Self.index)
            return try SchemaMigrator(migrations: [Self.baseline, index], options: options)
        case .snapshot:
            let url = folder.appendingPathComponent("snapshot.sql")
            if !FileManager.default.fileExists(atPath: url.path) {
                try SchemaMigrator(migrations: [notes, index]).writeSnapshot(to: url)
            }
            return try SchemaMigrator(migrations: [notes, index], snapshot: url, options: options)
        }
    }

    // MARK: Data

    func texts(in folder: URL) throws -> [String] {
        try open(in: folder) { try $0.strings("SELECT text FROM note ORDER BY id") }
    }

    /// Writes a note as release 1.0 does.
    func writeOldNote(in folder: URL) throws {
        try open(in: folder) { try $0.execute("INSERT INTO note(id, text) VALUES (100, 'late ')") }
    }

    /// Migrates the tables alone, as an app without a manager does.
    func migrateTables(to version: AppVersion, in folder: URL) throws {
        try open(in: folder) { queue in
            if schema == .grdb {
                try migrator(version).migrate(queue)
            } else {
                try files(version, in: folder).migrate(queue)
            }
        }
    }

    /// Registers all schema steps and steps of release 2.0.
    func registerAll(on manager: MigrationManager, in folder: URL, _ queue: DatabaseQueue) throws {
        try registerSchema("2.0", on: manager, in: folder, queue)
        registerWork(on: manager, queue)
    }

    /// Loses a page of a table that nobody needs.
    func damage(in folder: URL) throws {
        let path = Self.path(in: folder)
        let page = try open(in: folder) { queue in
            try queue.integers("SELECT rootpage FROM sqlite_schema WHERE name = 'damaged'")
        }
        let place = try (#require(page.first) - 1) * 4_096
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4_096))
        try file.close()
    }

    /// Loses a page of a table that nobody needs, and saves the rest.
    @discardableResult
    func salvage(in folder: URL, for version: AppVersion) throws -> SalvageReport {
        try damage(in: folder)
        let damaged = DatabaseFile(path: Self.path(in: folder))
        return schema == .grdb
            ? try damaged.salvage(into: migrator(version))
            : try damaged.salvage(into: files(version, in: folder))
    }
}

/// Keeps work from being done as long as it is closed.
final class Gate: Sendable {
    private let isClosed = Locked(true)

    func open() { isClosed.withLock { $0 = false } }
    func close() { isClosed.withLock { $0 = true } }
    /// Throws what postpones the work.
    func pass() throws { if isClosed.withLock({ $0 }) { throw MigrationPostponed(reason: "no network") } }
}
