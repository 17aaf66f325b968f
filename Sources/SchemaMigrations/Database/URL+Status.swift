import AppMigrations
package import Foundation
import MigrationDiagnostics

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

    /// Returns the status of the file, or of what it links to.
    ///
    /// - Throws: `POSIXError`.
    package func status() throws -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw POSIXError.current }
        return status
    }
}

extension String {
    /// Returns the name of a file, shortened if another name that begins with it would become too long for the system.
    ///
    /// A shortened name ends in a checksum of the whole, so that two names stay two.
    ///
    /// - Parameter count: the number of bytes that may follow it.
    package func shortenedFileName(leaving count: Int) -> String {
        guard utf8.count + count > 255 else { return self }
        let end = "~" + String(Data(utf8).fnv1a(after: FNV1a.start), radix: 16)
        var beginning = self[...]
        while beginning.utf8.count + end.utf8.count + count > 255 { beginning.removeLast() }
        return beginning + end
    }
}
