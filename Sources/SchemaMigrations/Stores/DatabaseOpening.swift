public import GRDB

// Opening a database that other processes open at the same moment.

extension DatabaseQueue {
    /// Opens a database file, and waits while another process is about to make it.
    ///
    /// With GRDB's own initializers, processes that open a new file at once can fail with `SQLITE_BUSY`, which the
    /// busy time-out does not cover.
    ///
    /// - Parameters:
    ///   - path: the file, which is made if there is none.
    ///   - configuration: GRDB's; its busy mode is what later accesses use.
    ///   - limit: how long to wait.
    public static func opening(
        path: String, configuration: Configuration = .waiting, waitingFor limit: Duration = .seconds(10)
    ) throws -> DatabaseQueue {
        try retryingWhileBusy(for: limit) { try DatabaseQueue(path: path, configuration: configuration) }
    }
}

extension DatabasePool {
    /// Opens a database file in WAL mode, and waits while another process is about to make it.
    ///
    /// - Parameters:
    ///   - path: the file, which is made if there is none.
    ///   - configuration: GRDB's; its busy mode is what later accesses use.
    ///   - limit: how long to wait.
    public static func opening(
        path: String, configuration: Configuration = .waiting, waitingFor limit: Duration = .seconds(10)
    ) throws -> DatabasePool {
        try retryingWhileBusy(for: limit) { try DatabasePool(path: path, configuration: configuration) }
    }
}

extension Configuration {
    /// A configuration that waits up to five seconds while another connection writes.
    public static var waiting: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        return configuration
    }
}
