import AppMigrations
import Foundation

/// A disk of a chosen size, in memory.
///
/// Only root may have one.
struct SmallDisk {
    let folder: String

    /// Mounts a disk of ample size over a folder.
    init(at folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try check(Glibc.mount("tmpfs", folder, "tmpfs", 0, "size=16m"))
    }

    static var isAllowed: Bool {
        let folder = "\(NSTemporaryDirectory())/disk-\(UUID().uuidString)"
        defer { rmdir(folder) }
        guard let disk = try? SmallDisk(at: folder) else { return false }
        disk.remove()
        return true
    }

    /// Shrinks it to what is on it, and so many bytes.
    func leave(_ bytes: Int) throws {
        var room = statvfs()
        try check(statvfs(folder, &room))
        let used = Int(room.f_blocks - room.f_bfree) * Int(room.f_frsize)
        // A size of 0 would be no limit.
        try mount("size=\(max(1, used + bytes))")
    }

    /// Mounts it anew, with what is on it.
    func mount(_ options: String, _ flags: Int = 0) throws {
        try check(Glibc.mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT | flags), options))
    }

    func remove() {
        umount(folder)
    }

    private func check(_ result: Int32) throws {
        guard result == 0 else { throw POSIXError.current }
    }
}
