import Foundation
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
        try waitWhileBusy(upTo: limit) { try DatabaseQueue(path: path, configuration: configuration) }
    }
}

extension DatabaseQueue {
    /// Opens a database file for reading only, and leaves it and its folder as they are, as far as SQLite can.
    ///
    /// - Parameter path: a file that exists.
    package static func reading(path: String) throws -> DatabaseQueue {
        var configuration = Configuration.waiting
        configuration.readonly = true
        return try DatabaseQueue(path: immutableURI(path) ?? path, configuration: configuration)
    }

    /// The address of a file in WAL mode that nobody has open.
    ///
    /// To read one SQLite makes a `-wal` and a `-shm` file, and a connection that only reads cannot remove them
    /// (wal.html, "Read-Only Databases"). Without them nobody is using it, and it can be read as `immutable`.
    private static func immutableURI(_ path: String) -> String? {
        let files = FileManager.default
        guard !files.fileExists(atPath: path + "-wal"), !files.fileExists(atPath: path + "-shm"),
            let file = FileHandle(forReadingAtPath: path)
        else { return nil }
        defer { try? file.close() }
        // fileformat2.html, 1.3.3: 2 as the file format's versions is WAL.
        guard let header = try? file.read(upToCount: 20), header.count == 20, header[19] == 2 else {
            return nil
        }
        var components = URLComponents()
        components.scheme = "file"
        components.path = URL(fileURLWithPath: path).path
        components.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        return components.string
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
        try waitWhileBusy(upTo: limit) { try DatabasePool(path: path, configuration: configuration) }
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
