import Foundation

/// A folder for the files of a run, on the disk that temporary files are on.
struct Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A name that nothing has yet.
    func new(_ name: String) -> URL {
        folder.appendingPathComponent("\(UUID().uuidString)-\(name)")
    }

    /// An empty folder.
    func newFolder() throws -> URL {
        let url = new("folder")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    /// Replaces a file by a copy of another one, which is on the disk when this returns.
    func copy(_ source: URL, to target: URL) throws {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: target.path + suffix)
        }
        try FileManager.default.copyItem(at: source, to: target)
        // Else whoever syncs next pays for the copy.
        let file = try FileHandle(forUpdating: target)
        try file.synchronize()
        try file.close()
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
