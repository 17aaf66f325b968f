import AppMigrations
package import Foundation
package import GRDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A new file for a copy of a database, which nobody can read who cannot read the original.
package enum CopyFile {
    /// Runs the body with the name of a copy in a ``ScratchFolder``.
    ///
    /// - Parameter folder: where that is created; the temporary folder if nil.
    package static func withPrivateName<Result>(
        in folder: URL? = nil, _ body: (URL) throws -> Result
    ) throws -> Result {
        let scratch = try ScratchFolder(in: folder)
        defer { scratch.remove() }
        let copy = scratch.url.appendingPathComponent("copy.sqlite")
        do {
            return try body(copy)
        } catch {
            // While the copy still takes the room.
            throw error.explained(beside: copy)
        }
    }

    /// Creates an empty file with the permissions of another file, or for its owner alone.
    ///
    /// Its owner may write it, even if the original is read-only. SQLite writes into the file that it finds, and gives its
    /// journal the same permissions.
    ///
    /// - Parameter original: the original; nil if it is in memory.
    /// - Throws: `POSIXError`, for instance if the name is taken.
    package static func create(at url: URL, like original: URL?) throws {
        let copy = try FileHandle.opening(url, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: 0o600)
        var status = stat()
        guard let original, stat(original.path, &status) == 0 else { return }
        guard fchmod(copy.fileDescriptor, status.st_mode & 0o777 | 0o200) == 0 else {
            throw POSIXError.current
        }
    }
}

extension CopyFile {
    /// Creates a file with the permissions of another one, and opens it as the destination of a copy.
    ///
    /// - Parameter configuration: the app's configuration.
    package static func open(at url: URL, like original: URL, _ configuration: Configuration) throws
        -> DatabaseQueue
    {
        try create(at: url, like: original)
        let copy = try DatabaseQueue(path: url.path, configuration: configuration.forCopying())
        // The app's configuration may ask for WAL mode, in which the copy could not take over the size of pages.
        try copy.inDatabase { try $0.leaveWAL() }
        return copy
    }
}

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

    /// Runs the body with an empty database in memory with the app's configuration, as ``AttachedDatabases/replacingFiles(in:_:)`` does.
    package func withScratchDatabase<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try AttachedDatabases.replacingFiles(in: { try DatabaseQueue(configuration: forCopying()) }, body)
    }
}

extension DatabaseWriter {
    /// The database's file; nil for a database in memory.
    var file: URL? { path.databasePath.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath() } }

    /// The size of the database's file and of its write-ahead log, in bytes; nil for a database in memory.
    package var fileSize: Int64? {
        guard let file, let status = try? file.status() else { return nil }
        return Int64(status.st_size) + Int64((try? file.appending(end: "-wal").status())?.st_size ?? 0)
    }

    /// The database's name in messages.
    package var displayName: String { file.databaseName }
}

extension String {
    /// The path of the file that SQLite opens by this name, a path or a URI (uri.html); nil for a database in memory.
    package var databasePath: String? {
        var path = self
        if hasPrefix("file:") {
            guard let uri = URLComponents(string: self) else { return nil }
            let inMemory = [
                URLQueryItem(name: "mode", value: "memory"), URLQueryItem(name: "vfs", value: "memdb"),
            ]
            path = uri.queryItems?.contains(where: inMemory.contains) == true ? "" : uri.path
        }
        return path.isEmpty || path.hasPrefix(":memory:") ? nil : path
    }
}

extension URL? {
    /// The name in messages of the database in this file.
    var databaseName: String { self?.lastPathComponent ?? "the database in memory" }
}
