import AppMigrations
import Foundation
public import GRDB
import MigrationDiagnostics

/// A SQLite database file that several processes may open at the same time, and that may have been elsewhere before.
///
/// ```swift
/// let dbPool = try DatabaseFile(path: url.path).openPool()
/// ```
///
/// With GRDB's own initializers, processes that create a file at the same moment can fail with `SQLITE_BUSY`,
/// which no busy timeout covers, and a connection does not wait for others unless you ask for it.
///
/// An app that moves its database, into the folder of an app group for instance, names the paths of its older versions:
///
/// ```swift
/// let file = DatabaseFile(path: url.path, movedFrom: [oldURL.path])
/// let dbPool = try file.openPool()
/// ```
///
/// Opening then brings the database here first, once, with everything in its write-ahead log; see
/// <doc:MovingIntoAnAppGroup>.
public struct DatabaseFile: Sendable {
    /// A rule for opening a file that does not exist.
    public enum MissingFileRule: Sendable {
        /// Creates it, after looking for it at its old paths.
        case create
        /// Throws ``SchemaMigrationError/Code/missingDatabase``, also for a file without a table, and moves nothing.
        ///
        /// For app extensions, which the system may launch before the app has created or moved its database.
        case refuse
    }

    /// Something that happened to the files before the database was opened.
    public enum Event: Sendable, Equatable {
        /// The database was moved here; as a copy if it was on another volume.
        case moved(from: String, to: String, isCopy: Bool)
        /// A database without rows gave way, and is kept under another name.
        case setAside(String, as: String)
        /// A file at an old path was left alone, because the database was moved from there before: an older version of
        /// the app must have created it.
        case ignored(String)
    }

    package let path: String
    let oldPaths: [String]
    private let rule: MissingFileRule
    let configuration: Configuration
    let limit: Duration
    let onEvent: (@Sendable (Event) -> Void)?
    /// True to copy the database also on one volume: for tests.
    package var copiesAlways = false

    /// Creates a description of a file, without opening it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - oldPaths: the paths of the file in older versions of the app, the newest first. If the database is still
    ///     there, opening moves it to `path`.
    ///   - rule: what to do if there is no file.
    ///   - configuration: GRDB's configuration, used unchanged, also while the database is moved. If nil, connections
    ///     wait for up to five seconds while another connection writes.
    ///   - limit: how long opening may wait for another process.
    ///   - onEvent: gets what happens to the files, on the thread that opens the database.
    public init(
        path: String, movedFrom oldPaths: [String] = [], ifMissing rule: MissingFileRule = .create,
        configuration: Configuration? = nil, waitingFor limit: Duration = .seconds(10),
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.path = path
        self.oldPaths = oldPaths
        self.rule = rule
        self.configuration = configuration ?? Self.waiting
        self.limit = limit
        self.onEvent = onEvent
    }

    package static var waiting: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        return configuration
    }

    /// Opens the file, or creates it.
    ///
    /// - Throws: ``SchemaMigrationError``, when it cannot be opened, is missing, or cannot be moved here. Nothing is lost
    ///   then, and the next call tries again. GRDB's error is its ``SchemaMigrationError/underlyingError``.
    public func openQueue() throws -> DatabaseQueue {
        try opening { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// Opens the file in WAL mode, or creates it.
    ///
    /// - Throws: as ``openQueue()`` does.
    public func openPool() throws -> DatabasePool {
        try opening { try DatabasePool(path: path, configuration: configuration) }
    }

    private func opening<Writer: DatabaseWriter>(_ open: () throws -> Writer) throws -> Writer {
        do {
            return try openingOrCreating(open)
        } catch let error as DatabaseError {
            throw SchemaMigrationError(
                .databaseFailed, at: .file(URL(fileURLWithPath: path).lastPathComponent), error,
                remedy: error.remedy ?? "Check the configuration with which it is opened.")
        }
    }

    private func openingOrCreating<Writer: DatabaseWriter>(_ open: () throws -> Writer) throws -> Writer {
        switch rule {
        case .create:
            if !oldPaths.isEmpty { try moveHere() }
            return try waitWhileBusy(upTo: limit, open)
        case .refuse:
            // Opening would create the file.
            let url = URL(fileURLWithPath: path)
            let hasContents = try mappingErrors {
                try DurableFile(at: url).exists() && url.status().st_size > 0
            }
            guard hasContents else { throw missing }
            let database = try waitWhileBusy(upTo: limit, open)
            let isEmpty = try waitWhileBusy(upTo: limit) {
                try database.unsafeReentrantRead {
                    try Bool.fetchOne($0, sql: "SELECT NOT EXISTS (SELECT 1 FROM main.sqlite_master)")
                }
            }
            guard isEmpty == false else {
                try database.close()
                throw missing
            }
            return database
        }
    }

    private var missing: SchemaMigrationError {
        SchemaMigrationError(
            .missingDatabase, at: .file(URL(fileURLWithPath: path).lastPathComponent),
            "the app has not created the database yet, or has not moved it here",
            remedy: "Leave the data alone until the app has been launched.")
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
