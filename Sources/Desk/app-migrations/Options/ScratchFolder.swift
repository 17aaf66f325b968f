import AppMigrations
import Foundation

/// A folder in the temporary folder for the copy of a database.
///
/// The process holds a lock on it. A folder without one was left by a process that was killed, and the next one removes it:
/// it holds a copy of somebody's data.
struct ScratchFolder {
    let url: URL
    private let lock: FileHandle

    private static let prefix = "app-migrations-"

    /// Creates a folder that only its owner may enter, and removes those that killed processes have left.
    init() throws {
        Self.removeLeftovers()
        while true {
            let url = FileManager.default.temporaryDirectory
                .appendingPathComponent("\(Self.prefix)\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // Until it has its lock, another process may take it for a leftover, and remove it.
            guard let lock = try Self.lock(url) else { continue }
            (self.url, self.lock) = (url, lock)
            return
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
    func remove() {
        try? FileManager.default.removeItem(at: url)
        try? lock.close()
    }

    private static func removeLeftovers() {
        let temporary = FileManager.default.temporaryDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: temporary.path)) ?? []
        for name in names
        where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            let folder = temporary.appendingPathComponent(name, isDirectory: true)
            // Of another user's folder, neither succeeds.
            guard let handle = try? FileHandle.opening(folder, O_RDONLY | O_DIRECTORY) else { continue }
            if flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 {
                try? FileManager.default.removeItem(at: folder)
            }
            try? handle.close()
        }
    }
}
