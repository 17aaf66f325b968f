public import Foundation
import GRDB
public import SchemaMigrations

extension SchemaMigrator {
    /// Migrates a copy of a database file, and reports what that did.
    ///
    /// For a test on a database that somebody has used for years. The file is opened for reading only, and stays as it
    /// is; the copy is removed in the end.
    ///
    /// - Parameters:
    ///   - path: the file, which must be there.
    ///   - version: the version of a known migration, that included; nil for the latest.
    ///   - progress: as for `migrate(_:upTo:progress:)`.
    /// - Throws: `SchemaMigrationError`, as `migrate(_:upTo:progress:)` does.
    public func rehearse(
        path: String, upTo version: SchemaVersion? = nil, progress: Progress? = nil
    ) throws -> Rehearsal {
        try SchemaMigrationError.mapErrors {
            let database = try DatabaseQueue.reading(path: path)
            let result = Result { try rehearse(database, upTo: version, progress: progress) }
            try database.close()
            return try result.get()
        }
    }
}
