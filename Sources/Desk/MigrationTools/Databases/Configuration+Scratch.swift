package import GRDB
import SchemaMigrations

extension Configuration {
    /// Returns a configuration for databases to which nothing more can be attached, since a file of migrations would change a real one.
    func refusingAttached() -> Configuration {
        var configuration = self
        configuration.prepareDatabase { try AttachedDatabases.refuseOthers(on: $0) }
        return configuration
    }

    /// Opens an empty database in memory with the app's configuration, for trials.
    ///
    /// Files that the app attaches as it prepares a connection are replaced by databases in memory: a trial neither changes them,
    /// nor waits for the connection that makes it.
    ///
    /// - Parameter path: a name for a database in memory.
    package func scratchDatabase(path: String = ":memory:") throws -> DatabaseQueue {
        let scratch = try DatabaseQueue(path: path, configuration: forCopying())
        _ = try scratch.inDatabase { try AttachedDatabases.replaceByEmptyOnes(with: .current, in: $0) }
        return scratch
    }
}
