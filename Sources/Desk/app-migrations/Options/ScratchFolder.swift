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
            guard let lock = try? FileHandle.opening(url, O_RDONLY | O_DIRECTORY),
                flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0,
                FileManager.default.fileExists(atPath: url.path)
            else { continue }
            (self.url, self.lock) = (url, lock)
            return
        }
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
