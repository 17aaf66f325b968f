import AppMigrations
import Foundation
package import GRDB
import MigrationDiagnostics

/// A SQLite database file that several processes may open at the same time.
///
/// With GRDB's own initializers, processes that create a file at the same moment can fail with `SQLITE_BUSY`, which no busy
/// timeout covers.
package final class SQLiteFile: Sendable {
    package let path: String
    let configuration: Configuration
    private let limit: Duration

    /// Creates a description of a file, without opening it.
    ///
    /// - Parameters:
    ///   - configuration: GRDB's configuration, used unchanged. If nil, connections wait for up to five seconds while another
    ///     connection writes.
    ///   - limit: how long opening may wait for another process.
    package init(
        path: String, configuration: Configuration? = nil, waitingFor limit: Duration = .defaultBusyTimeout
    ) {
        self.path = path
        self.configuration = configuration ?? Self.waiting
        self.limit = limit
    }

    package static var waiting: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        return configuration
    }

    /// Opens the file, or creates it.
    ///
    /// - Throws: `MigrationError`, which names the file.
    package func openQueue() throws -> DatabaseQueue {
        try open { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// Opens the file in WAL mode, or creates it.
    ///
    /// - Throws: as ``openQueue()`` does.
    package func openPool() throws -> DatabasePool {
        try open { try DatabasePool(path: path, configuration: configuration) }
    }

    private func open<Writer: DatabaseWriter>(_ open: () throws -> Writer) throws -> Writer {
        try mappingErrors { try waitWhileBusy(upTo: limit, open) }
    }

    /// Runs the body, and describes errors of SQLite as those of this file.
    package func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw MigrationError(
                .databaseFailed, at: .file(URL(fileURLWithPath: path).lastPathComponent), error,
                remedy: error.remedy ?? "Check the configuration with which it is opened.")
        }
    }

    /// Opens an existing file for reading, without changing it or its folder, as far as SQLite allows.
    package func openReadOnly() throws -> DatabaseQueue {
        var configuration = configuration
        configuration.readonly = true
        // SQLite takes a URI for a path unless it was built with SQLITE_USE_URI.
        if let immutableURI, let queue = try? DatabaseQueue(path: immutableURI, configuration: configuration)
        {
            return queue
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// The URI of a file in WAL mode that no connection has open; nil for other files.
    ///
    /// To read such a file SQLite makes a `-wal` and a `-shm` file, and a connection that only reads cannot
    /// remove them (wal.html, "Read-Only Databases"). If both are missing, no connection uses the file, and
    /// it can be read as `immutable`.
    private var immutableURI: String? {
        let files = FileManager.default
        guard !files.fileExists(atPath: path + "-wal"), !files.fileExists(atPath: path + "-shm"),
            let file = FileHandle(forReadingAtPath: path)
        else { return nil }
        // fileformat2.html, 1.3.3: 2 as the file format's versions is WAL. Encrypted bytes say nothing.
        guard let header = try? file.read(upToCount: 20), header.starts(with: "SQLite format 3\0".utf8),
            header.count == 20, header[19] == 2
        else { return nil }
        var components = URLComponents()
        components.scheme = "file"
        components.path = URL(fileURLWithPath: path).path
        components.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        return components.string
    }
}
