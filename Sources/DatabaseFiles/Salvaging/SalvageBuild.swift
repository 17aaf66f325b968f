import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The making of a new database from the rows of a damaged one.
struct SalvageBuild {
    let damaged: DamagedDatabase
    let schema: OwnSchema
    let migrations: any MigrationSet
    let version: SchemaHistory.Entry
    let interrupter: Interrupter
    let progress: Progress?
    /// True to run the migrations above the version of the damaged database.
    ///
    /// Otherwise the app's next launch does, since steps of managers may come between.
    var runsMigrations = false

    /// Makes the database, complete and checked.
    ///
    /// Its migrations have run before, in the damaged database: the files that the app attaches stay as they are.
    ///
    /// - Parameters:
    ///   - original: the file whose permissions the new one gets.
    ///   - home: where it belongs, which is noted in it if the damaged one's note cannot be read; nil to note nothing.
    ///   - sync: puts on the disk what the file has so far. It runs on another thread, while indexes are made and then while
    ///     the complete file is checked.
    func make(
        at url: URL, like original: URL, _ configuration: Configuration, home: URL?,
        syncing sync: @escaping @Sendable () throws -> Void = {}
    ) throws -> SalvageReport {
        try AttachedDatabases.replacingFiles {
            try? FileManager.default.removeItem(at: url)
            return try CopyFile.open(at: url, like: original, configuration)
        } _: {
            try make($0, configuration, home: home, syncing: sync)
        }
    }

    private func make(
        _ queue: DatabaseQueue, _ configuration: Configuration, home: URL?,
        syncing sync: @escaping @Sendable () throws -> Void
    ) throws -> SalvageReport {
        // Texts stay as they are in the file. Nobody else has it, and a crash leaves one that is removed.
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA encoding = '\(damaged.encodingName)'; PRAGMA main.journal_mode = MEMORY;
                    PRAGMA main.synchronous = OFF; PRAGMA main.cache_size = -16000
                    """)
        }
        let applied = version.migrations ?? migrations
        if let count = version.count { try applied.migrate(queue, byFirst: count) }
        var report = SalvageReport(schemaVersion: version.version)
        report.hasUnusedJournal = damaged.hasUnusedJournal
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.inTransaction(.immediate) {
                var refill = try Refill(db, from: damaged, schema, version, interrupter, progress)
                refill.removesOrphans = configuration.foreignKeysEnabled
                if version.count != nil { refill.ledgerTables = migrations.ledgerTables }
                try refill.run(syncing: sync)
                if let ledger = version.ledger { try applied.record(ledger, after: version.count, db) }
                try damaged.copyNumbers(to: db)
                if let home { try MoveMark.writeIfMissing(movedTo: home, db) }
                (report.tables, report.unassigned) = (refill.report, refill.unassigned)
                report.hasLostRecord = refill.hasLostRecords
                return .commit
            }
        }
        try interrupter.check()
        // A migration may rely on the app's own setting.
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = \(configuration.foreignKeysEnabled ? "ON" : "OFF")")
        }
        if runsMigrations { try migrations.migrate(queue) }
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA main.journal_mode = DELETE; PRAGMA foreign_keys = OFF")
            // SQLite only reads from here on.
            try alongside(sync) { try check(db, enforcingKeys: configuration.foreignKeysEnabled) }
        }
        return report
    }

    /// Checks the database; that indexes match their tables only if migrations have changed them since SQLite made both.
    private func check(_ db: Database, enforcingKeys: Bool) throws {
        if let problem = try IntegrityCheck(db, runsMigrations ? .full : .quick, limit: 1).problems.first {
            throw MigrationError(
                .databaseFailed, "the new database is damaged: \(problem)",
                remedy: "Check the disk, then try again. Nothing was changed.")
        }
        guard enforcingKeys else { return }
        try Orphans.forEach(db, interrupter) { _, table in
            throw MigrationError(
                .stepFailed, "the migrations leave a row of \(table.text) without its parent",
                remedy: "Fix the migration. Nothing was changed.")
        }
    }
}
