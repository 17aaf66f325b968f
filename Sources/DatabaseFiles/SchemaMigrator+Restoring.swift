import AppMigrations
public import Foundation
public import GRDB
import MigrationDiagnostics
public import SchemaMigrations

extension SchemaMigrator {
    /// Restores a copy that was made before migrating.
    ///
    /// The method opens the copy with the database's own configuration, which knows its passphrase.
    ///
    /// - Parameters:
    ///   - backup: the copy, from `SchemaReport.backup` or from the folder of the copies.
    ///   - database: the database, open and not in use. Its contents are replaced.
    /// - Throws: `MigrationError`, when the copy is damaged, or holds neither a ledger nor a table.
    public func restore(_ backup: URL, to database: any DatabaseWriter) throws {
        try withWriter(database) { db in
            try CopyFile.withPrivateName { file in
                var copy = try Self.openCopy(of: backup, at: file, db.configuration)
                try copy.inDatabase { copy in
                    try Self.check(copy, of: backup)
                    try Self.mark(copy, asMovedLike: db)
                }
                copy = try Self.givingPageSize(of: db, to: copy)
                try copy.inDatabase { copy in
                    try db.withDurableCommits(waitingUpTo: options.busyTimeout) {
                        do { try copy.backup(to: db) } catch { throw db.explained(error) }
                    }
                    // A copy ends without a commit.
                    try db.notifyObserversOfCommitted()
                }
                try copy.close()
            }
        }
        BackupAttempt(of: backup)?.end()
    }

    /// Opens a copy of the backup, which the app's configuration may change, in its journal mode for instance.
    private static func openCopy(
        of backup: URL, at file: URL, _ configuration: Configuration
    ) throws -> DatabaseQueue {
        do {
            try FileManager.default.copyItem(at: backup, to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            throw unusable(backup, "cannot be copied: \(error.localizedDescription)", underlying: error)
        }
        return try DatabaseQueue(path: file.path, configuration: configuration.forCopying())
    }

    private static func check(_ copy: Database, of backup: URL) throws {
        if let problem = try IntegrityCheck(copy, .quick, limit: 1).problems.first {
            throw unusable(backup, "is damaged: \(problem)")
        }
        guard try Ledger(copy).exists || Ledger.hasOtherTables(copy) else {
            throw unusable(backup, "holds no table")
        }
    }

    /// Returns the copy with the page size of the database, if that is in WAL mode or in memory, and so cannot take it from the copy
    /// (c3ref/backup_finish.html).
    ///
    /// A `VACUUM` in place would number rows anew that have no key (lang_vacuum.html), to which the app's own rows may refer.
    private static func givingPageSize(of db: Database, to copy: DatabaseQueue) throws -> DatabaseQueue {
        let size = try db.pragma("main.page_size")
        let mode = try String.fetchOne(db, sql: "PRAGMA main.journal_mode")
        guard mode == "wal" || mode == "memory",
            try copy.inDatabase({ try $0.pragma("main.page_size") }) != size
        else { return copy }
        let path = copy.path + "-resized"
        try copy.inDatabase {
            try $0.leaveWAL()
            try $0.execute(sql: "PRAGMA main.page_size = \(size)")
            try $0.execute(sql: "VACUUM main INTO ?", arguments: [path])
        }
        try copy.close()
        return try DatabaseQueue(path: path, configuration: copy.configuration)
    }

    /// Gives the copy the note of where the database was moved to: it may be from before that.
    private static func mark(_ copy: Database, asMovedLike db: Database) throws {
        let table = MoveMark.table
        let sql = "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?"
        // What is too damaged to be read is replaced all the same.
        guard let sql = try? String.fetchOne(db, sql: sql, arguments: [table.text]),
            let rows = try? Row.fetchAll(db, sql: "SELECT * FROM \(table.inMain)")
        else { return }
        try copy.execute(sql: "DROP TABLE IF EXISTS \(table.inMain); \(sql)")
        for row in rows {
            let values = Array(row.databaseValues)
            try copy.execute(
                sql: "INSERT INTO \(table.inMain) VALUES (\(databaseQuestionMarks(count: values.count)))",
                arguments: StatementArguments(values))
        }
    }

    private static func unusable(
        _ backup: URL, _ problem: String, underlying: (any Error)? = nil
    ) -> MigrationError {
        MigrationError(
            underlying.flatMap(Obstacle.init)?.code ?? .databaseFailed, at: .file(backup.lastPathComponent),
            problem,
            remedy: "Restore another copy. Nothing was changed.", underlyingError: underlying)
    }
}
