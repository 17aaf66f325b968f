import AppMigrations
public import Foundation
public import GRDB
import MigrationDiagnostics

extension SchemaMigrator {
    /// Restores a copy that was made before migrating.
    ///
    /// The method opens the copy with the database's own configuration, which knows its passphrase.
    ///
    /// - Parameters:
    ///   - backup: the copy, from ``SchemaReport/backup`` or from the folder of the copies.
    ///   - database: the database, open and not in use. Its contents are replaced.
    /// - Throws: ``SchemaMigrationError``, when the copy is damaged, or holds neither a ledger nor a table.
    public func restore(_ backup: URL, to database: any DatabaseWriter) throws {
        try withWriter(database) { db in
            try withWorkingCopy(of: backup, db.configuration) { copy in
                try db.withDurableCommits(waitingUpTo: options.busyTimeout) { try copy.backup(to: db) }
                try db.notifyObservers(of: .anything)
            }
        }
    }

    /// Opens a copy of the backup, which the app's configuration may change, in its journal mode for instance.
    private func withWorkingCopy(
        of backup: URL, _ configuration: Configuration, _ body: (Database) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("copy.sqlite")
        do {
            try FileManager.default.copyItem(at: backup, to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            throw Self.unusable(backup, "cannot be copied: \(error.localizedDescription)", underlying: error)
        }
        let copy = try DatabaseQueue(path: file.path, configuration: configuration.forCopying())
        try copy.inDatabase { db in
            if let problem = try IntegrityCheck(db, .quick, limit: 1).problems.first {
                throw Self.unusable(backup, "is damaged: \(problem)")
            }
            guard try Ledger(db).exists || Ledger.hasOtherTables(db) else {
                throw Self.unusable(backup, "holds no table")
            }
            try body(db)
        }
        try copy.close()
    }

    private static func unusable(
        _ backup: URL, _ problem: String, underlying: (any Error)? = nil
    ) -> SchemaMigrationError {
        SchemaMigrationError(
            .init(underlying.flatMap(Obstacle.init)) ?? .databaseFailed, at: .file(backup.lastPathComponent),
            problem,
            remedy: "Restore another copy. Nothing was changed.", underlyingError: underlying)
    }
}
