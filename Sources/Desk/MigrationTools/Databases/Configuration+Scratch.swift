package import GRDB
import SchemaMigrations

extension Configuration {
    /// Opens an empty database in memory with the app's configuration, for trials.
    ///
    /// Files that the app attaches as it prepares a connection are replaced by databases in memory: a trial neither changes them,
    /// nor waits for the connection that makes it. Nothing more can be attached, for the same reason.
    package func scratchDatabase() throws -> DatabaseQueue {
        let scratch = try DatabaseQueue(configuration: forCopying())
        try scratch.inDatabase { db in
            _ = try AttachedDatabases.replaceByEmptyOnes(with: .current, in: db)
            try AttachedDatabases.refuseOthers(on: db)
        }
        return scratch
    }
}
