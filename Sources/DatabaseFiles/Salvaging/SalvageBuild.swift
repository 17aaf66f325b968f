import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The making of a new database from the rows of a damaged one.
struct SalvageBuild {
    let damaged: DamagedDatabase
    let history: SchemaHistory
    let version: SchemaHistory.Entry
    let schema: SchemaMigrator
    let interrupter: Interrupter
    let progress: Progress?

    /// Makes the database, complete and checked.
    ///
    /// - Parameters:
    ///   - original: the file whose permissions the new one gets.
    ///   - marked: true to note in it that it is where it belongs, if the damaged one's note cannot be read.
    ///   - sync: puts on the disk what the file has so far. It runs on another thread, while indexes are made and then while
    ///     the complete file is checked.
    func make(
        at url: URL, like original: URL, _ configuration: Configuration, marked: Bool,
        syncing sync: @escaping @Sendable () throws -> Void = {}
    ) throws -> SalvageReport {
        var configuration = configuration
        configuration.foreignKeysEnabled = false
        let queue = try CopyFile.open(at: url, like: original, configuration)
        defer { try? queue.close() }
        // Nobody else has the file, and a crash leaves one that is removed.
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA main.journal_mode = MEMORY; PRAGMA main.synchronous = OFF; PRAGMA foreign_keys = OFF;
                    PRAGMA main.cache_size = -16000
                    """)
        }
        let migrator = schema.forSalvaging
        try migrator.migrate(queue, upTo: version.version)
        var report = SalvageReport(schemaVersion: version.version)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.inTransaction(.immediate) {
                var refill = Refill(db, from: damaged, version.layouts, interrupter, progress)
                try refill.run(syncing: sync)
                if try marked && MoveMark(db) == nil { try MoveMark.write(db) }
                (report.tables, report.unassigned) = (refill.report, refill.unassigned)
                report.hasLostRecord = refill.hasLostRecords
                return .commit
            }
        }
        try interrupter.check()
        try migrator.migrate(queue)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA main.journal_mode = DELETE; PRAGMA foreign_keys = OFF")
            // SQLite only reads from here on.
            try alongside(sync) { try check(db) }
        }
        return report
    }

    /// Checks the database; that indexes match their tables only if migrations have changed them since SQLite made both.
    private func check(_ db: Database) throws {
        let isMigrated = history.entries.last.map { $0.version != version.version } ?? true
        if let problem = try IntegrityCheck(db, isMigrated ? .full : .quick, limit: 1).problems.first {
            throw MigrationError(
                .databaseFailed, "the new database is damaged: \(problem)",
                remedy: "Check the disk, then try again. Nothing was changed.")
        }
        if let row = try Row.fetchOne(db, sql: "PRAGMA main.foreign_key_check") {
            throw MigrationError(
                .migrationFailed, "the migrations leave a row of \(row[0] as String) without its parent",
                remedy: "Fix the migration. Nothing was changed.")
        }
    }
}

extension SchemaMigrator {
    /// The same migrations without a snapshot, and without copies of a database that is not the app's yet.
    var forSalvaging: SchemaMigrator {
        var migrator = with(snapshot: nil)
        migrator.options.backupFolder = nil
        return migrator
    }
}
