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

/// A folder for the copy of a database, which only its owner may enter.
///
/// The process holds a lock on it. A folder without one was left by a process that was killed, and the next one removes it:
/// it holds a copy of somebody's data, and takes as much room.
package struct ScratchFolder {
    package let url: URL
    private let lock: FileHandle

    private static let prefix = "app-migrations-"

    /// Creates a folder, and removes those that killed processes have left.
    ///
    /// - Parameter folder: where it is created; the temporary folder if nil.
    package init(in folder: URL? = nil) throws {
        let temporary = FileManager.default.temporaryDirectory
        if folder == nil {
            try? FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        }
        let folder = folder ?? temporary
        Self.removeLeftovers(in: folder)
        while true {
            let url = folder.appendingPathComponent("\(Self.prefix)\(UUID().uuidString)", isDirectory: true)
            do {
                guard mkdir(url.path, 0o700) == 0 else { throw POSIXError.current }
                // Until it has its lock, another process may take it for a leftover, and remove it.
                guard let lock = try Self.lock(url) else { continue }
                (self.url, self.lock) = (url, lock)
                return
            } catch let error as POSIXError {
                rmdir(url.path)
                throw MigrationError(
                    error.obstacle?.code ?? .unwritable, at: .file(folder.path),
                    "no folder for a copy can be made there: \(error.reason)",
                    remedy: error.obstacle?.remedy
                        ?? "Make it a folder that can be written. Nothing was changed.",
                    underlyingError: error)
            }
        }
    }

    /// Locks a folder that has just been created; nil if another process has removed it, or is about to.
    private static func lock(_ url: URL) throws -> FileHandle? {
        let lock: FileHandle
        do {
            lock = try FileHandle.opening(url, O_RDONLY | O_DIRECTORY)
        } catch let error as POSIXError where error.code == .ENOENT {
            return nil
        }
        // On a disk without locks, no process takes the folder for a leftover.
        if flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return nil }
        return FileManager.default.fileExists(atPath: url.path) ? lock : nil
    }

    /// Removes the folder.
    package func remove() {
        try? FileManager.default.removeItem(at: url)
        try? lock.close()
    }

    private static func removeLeftovers(in parent: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names
        where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            let folder = parent.appendingPathComponent(name, isDirectory: true)
            guard let handle = try? FileHandle.opening(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else {
                continue
            }
            var status = stat()
            // What another user puts into a folder while it is removed may lead elsewhere.
            if fstat(handle.fileDescriptor, &status) == 0, status.st_uid == geteuid(),
                flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0
            {
                try? FileManager.default.removeItem(at: folder)
            }
            try? handle.close()
        }
    }
}
