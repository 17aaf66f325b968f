public import Foundation
public import GRDB

extension SchemaMigrator {
    /// Restores a copy that was made before migrating.
    ///
    /// The method opens the copy with the database's own configuration, which knows its passphrase.
    ///
    /// - Parameters:
    ///   - backup: the copy, from ``SchemaReport/backup`` or from the folder of the copies.
    ///   - database: the database, open and not in use. Its contents are replaced.
    /// - Throws: ``SchemaMigrationError``, when the copy is not a database.
    public func restore(_ backup: URL, to database: any DatabaseWriter) throws {
        try SchemaMigrationError.mapErrors {
            let configuration = database.configuration.forCopying(readOnly: true)
            let copy = try DatabaseQueue(path: backup.path, configuration: configuration)
            let check = try copy.read { try IntegrityCheck($0, .quick, limit: 1) }
            guard check.problems.isEmpty else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            try copy.backup(to: database)
            try copy.close()
        }
    }
}
