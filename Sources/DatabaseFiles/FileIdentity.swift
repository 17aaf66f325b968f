import Foundation
import SchemaMigrations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A file as it is now: another one as soon as anybody writes to it.
///
/// It comes from the file's status, because closing any descriptor of a database's file would give up the locks that this
/// process has on it (howtocorrupt.html, 2.2).
struct FileIdentity: Equatable {
    let text: String

    init(text: String) {
        self.text = text
    }

    /// - Throws: `POSIXError`.
    init(of url: URL) throws {
        let status = try url.status()
        let changed = status.modified
        text = "\(status.st_ino) \(status.st_size) \(changed.tv_sec).\(changed.tv_nsec)"
    }
}

extension stat {
    /// Returns true if both are of one file.
    func isSameFile(as other: stat) -> Bool { st_ino == other.st_ino && st_dev == other.st_dev }

    /// The time at which the contents were changed last.
    var modified: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}

extension URL {
    /// Returns true if both are names of one file.
    func isSameFile(as other: URL) -> Bool {
        guard let status = try? status(), let others = try? other.status() else { return false }
        return status.isSameFile(as: others)
    }
}
