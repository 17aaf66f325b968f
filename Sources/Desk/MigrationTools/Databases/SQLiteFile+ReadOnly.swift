import Foundation
package import GRDB
package import SchemaMigrations

extension SQLiteFile {
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
        // SQLite keeps the journals beside the file itself.
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard !files.fileExists(atPath: path + "-wal"), !files.fileExists(atPath: path + "-shm"),
            let file = FileHandle(forReadingAtPath: path)
        else { return nil }
        // fileformat2.html, 1.3.3: 2 as the file format's versions is WAL. Encrypted bytes say nothing.
        guard let header = try? file.read(upToCount: 20), header.starts(with: "SQLite format 3\0".utf8),
            header.count == 20, header[19] == 2
        else { return nil }
        var components = URLComponents()
        components.scheme = "file"
        components.path = path
        components.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        return components.string
    }
}
