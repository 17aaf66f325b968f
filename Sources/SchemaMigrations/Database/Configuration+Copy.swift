package import GRDB

extension Configuration {
    /// The app's configuration, for another connection to the same database, or for one to a copy of it.
    ///
    /// It keeps what the app does to prepare a connection, such as passing the passphrase, so that a copy of an
    /// encrypted database is encrypted as well.
    package func forCopying(readOnly: Bool = false) -> Configuration {
        var configuration = self
        configuration.readonly = readOnly
        configuration.journalMode = .default
        // Otherwise the connection would wait for the queue of the app's own, which waits for the connection.
        configuration.targetQueue = nil
        configuration.writeTargetQueue = nil
        return configuration
    }
}
