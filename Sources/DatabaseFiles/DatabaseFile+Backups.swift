import AppMigrations
public import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

// The copies that the migrator has made, for an app whose database cannot be opened.
extension DatabaseFile {
    /// Returns the copies that were made before migrating, the newest first, with what they hold.
    ///
    /// For the app's recovery screen, which can offer them beside salvaging:
    ///
    /// ```swift
    /// for backup in try DatabaseFile(path: url.path).foundBackups(in: folder) {
    ///     print(backup.changed, backup.rowCounts["note"] ?? 0)
    /// }
    /// ```
    ///
    /// - Parameter folder: the `backupFolder` of the `SchemaOptions`, or of the schema step by GRDB's migrator.
    /// - Throws: `MigrationError`, when one of them is locked by another process, for instance. A copy that cannot be
    ///   read is among them, with its ``FoundDatabase/problem``.
    public func foundBackups(in folder: URL) throws -> [FoundDatabase] {
        try mappingErrors {
            let places = places().map(\.url) + ([path] + oldPaths).map(Self.place)
            return try BackupMaker.copies(of: places, in: folder).compactMap { copy in
                guard let place = DatabasePlace(copy.path) else { return nil }
                return try at(copy) {
                    var found = try FoundDatabase(at: place, configuration, waitingFor: limit)
                    // A look changes the copy if the app sets a journal mode.
                    found.changed = copy.dateInName ?? found.changed
                    try found.countRows(at: place, configuration, waitingFor: limit)
                    return found
                }
            }
        }
    }

    /// Puts a copy in the place of a damaged database, which stays beside it under a dated name.
    ///
    /// Call it with every connection to the database closed. The copy itself stays where it is. For a database that can be
    /// opened, use `SchemaMigrator.restore(_:to:)`, or GRDB's `backup(to:)`, which takes away the mark of a database that was moved.
    ///
    /// - Parameter backup: the path of one of the ``foundBackups(in:)``.
    /// - Returns: the damaged file.
    /// - Throws: `MigrationError`, when the copy is damaged, or holds neither a ledger nor a table, or the database is
    ///   in use. Nothing is changed then.
    @discardableResult
    public func restore(fromBackup backup: String) throws -> URL {
        var aside: URL?
        try moving { interrupter in
            let place = try damagedPlace()
            try putJournalsBack(at: place)
            let file = try DamagedFile.locked(at: place)
            // The lock lasts until the copy has the file's name.
            defer { withExtendedLifetime(file) {} }
            aside = try withUnfinishedFile(for: place) { new in
                do {
                    try copy(backup, to: new, like: place, interrupter)
                } catch {
                    // It is the place that is full.
                    let error = error.explained(beside: place)
                    if Obstacle(error) == .diskFull { throw failure(error, at: place.path) }
                    let failure = failure(error, at: URL(fileURLWithPath: backup).path)
                    guard var refusal = failure as? MigrationError, Obstacle(refusal) == nil else {
                        throw failure
                    }
                    // The remedy for a database would be to restore a copy.
                    refusal.remedy = "Restore another copy. Nothing was changed."
                    throw refusal
                }
                return try at(place) { try replace(place, by: new) }
            }
            file.stayLocked()
            BackupAttempt(of: URL(fileURLWithPath: backup))?.end()
            if let aside { onEvent?(.setAside(place.path, as: aside.path)) }
        }
        return aside ?? URL(fileURLWithPath: path)
    }

    private func copy(_ backup: String, to new: URL, like place: URL, _ interrupter: Interrupter) throws {
        guard let found = DatabasePlace(backup) else { throw POSIXError(.ENOENT) }
        DatabaseFileLock.release(found)
        let source: DatabaseQueue
        do {
            source = try DatabaseQueue(path: backup, configuration: configuration.forCopying(readOnly: true))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
            // The app sets a journal mode, for instance, when it prepares the connection.
            source = try DatabaseQueue(path: backup, configuration: configuration.forCopying())
        }
        defer { try? source.close() }
        let copy = try CopyFile.open(at: new, like: place, configuration)
        defer { try? copy.close() }
        try copy.withDurableCommits(waitingUpTo: limit) {
            try source.backup(to: copy, pagesPerStep: 1_000) { _ in try interrupter.check() }
            // A copy from before the move has no mark, and what stands at an old path would count beside it.
            guard let home = try home(at: place) else { return }
            try copy.write { try MoveMark.writeIfMissing(movedTo: home, $0) }
        }
        try copy.inDatabase { db in
            func refuse(_ problem: String) -> MigrationError {
                MigrationError(
                    .databaseFailed, at: .file(backup), problem,
                    remedy: "Restore another copy. Nothing was changed.")
            }
            if let problem = try IntegrityCheck(db, .full, limit: 1).problems.first {
                throw refuse("is damaged: \(problem)")
            }
            guard try Ledger.unlessForeign(db)?.exists == true || Ledger.hasOtherTables(db) else {
                throw refuse("holds no table")
            }
        }
        try protect(new, asIn: place.deletingLastPathComponent())
        try DurableFile(at: new).syncName()
    }
}

extension URL {
    /// When a copy was made.
    fileprivate var dateInName: Date? {
        let date = deletingPathExtension().lastPathComponent.split(separator: "-").last
        return date.flatMap { try? BackupMaker.dateFormat.parse(String($0)) }
    }
}
