import AppMigrations
package import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

extension URL {
    /// Returns the URL of a file whose name has one more end, such as `-wal`.
    package func appending(end: String) -> URL {
        deletingLastPathComponent().appendingPathComponent(lastPathComponent + end)
    }

    /// Returns true if both are names of one file.
    package func isSameFile(as other: URL) -> Bool {
        guard let status = try? status(), let others = try? other.status() else { return false }
        return status.st_ino == others.st_ino && status.st_dev == others.st_dev
    }

    /// Returns the status of the file, or of what it links to.
    ///
    /// - Throws: `POSIXError`.
    package func status() throws -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw POSIXError.current }
        return status
    }
}

extension stat {
    /// The time at which the contents were changed last.
    package var modified: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}
