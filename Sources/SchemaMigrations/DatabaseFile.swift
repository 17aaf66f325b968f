import Foundation
public import GRDB

/// A SQLite database file that several processes may open at the same time.
///
/// ```swift
/// let dbPool = try DatabaseFile(path: url.path).openPool()
/// ```
///
/// With GRDB's own initializers, processes that create a file at the same moment can fail with `SQLITE_BUSY`,
/// which no busy timeout covers, and a connection does not wait for others unless you ask for it.
public struct DatabaseFile: Sendable {
    package let path: String
    private let configuration: Configuration
    private let limit: Duration

    /// Creates a description of a file, without opening it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - configuration: GRDB's configuration, used unchanged. If nil, connections wait for up to five
    ///     seconds while another connection writes.
    ///   - limit: how long opening may wait for another process.
    public init(path: String, configuration: Configuration? = nil, waitingFor limit: Duration = .seconds(10))
    {
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
    public func openQueue() throws -> DatabaseQueue {
        try waitWhileBusy(upTo: limit) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// Opens the file in WAL mode, or creates it.
    public func openPool() throws -> DatabasePool {
        try waitWhileBusy(upTo: limit) { try DatabasePool(path: path, configuration: configuration) }
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

/// The encryption of database files, which SQLCipher has, and SQLite alone does not.
package enum Encryption {
    /// Returns true if the SQLite that GRDB was built with can encrypt.
    package static func isAvailable() throws -> Bool {
        try DatabaseQueue().read { try String.fetchOne($0, sql: "PRAGMA cipher_version") != nil }
    }

    /// Returns the configuration of connections to a database with a passphrase.
    ///
    /// It uses a pragma, because GRDB has a method only if it was made for SQLCipher. SQLite without encryption
    /// ignores unknown pragmas.
    package static func configuration(passphrase: String) -> Configuration {
        let literal = passphrase.quotedInSQL(by: "'")
        var configuration = DatabaseFile.waiting
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA key = \(literal)") }
        return configuration
    }
}
