#if os(Linux)
    import Foundation
    import Glibc

    /// A disk of a chosen size, in memory.
    ///
    /// Only root may have one.
    public struct SmallDisk: Sendable {
        private let folder: String

        /// Mounts a disk over a folder, which is created.
        ///
        /// - Parameter size: its size, as tmpfs(5) reads it.
        public init(at folder: String, size: String = "16m") throws {
            self.folder = folder
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try check(Glibc.mount("tmpfs", folder, "tmpfs", 0, "size=\(size)"))
        }

        /// True if this process may mount a disk.
        public static var isAllowed: Bool {
            let folder = "\(NSTemporaryDirectory())/disk-\(UUID().uuidString)"
            defer { rmdir(folder) }
            guard let disk = try? SmallDisk(at: folder) else { return false }
            disk.remove()
            return true
        }

        /// Shrinks it to what is on it, and so many bytes.
        public func leave(_ bytes: Int) throws {
            var room = statvfs()
            try check(statvfs(folder, &room))
            let used = Int(room.f_blocks - room.f_bfree) * Int(room.f_frsize)
            // A size of 0 would be no limit.
            try mount(size: "\(max(1, used + bytes))")
        }

        /// Leaves room for so many more files, however small they are.
        public func leaveFiles(_ count: Int) throws {
            var room = statvfs()
            try check(statvfs(folder, &room))
            let used = Int(room.f_files - room.f_ffree)
            try check(Glibc.mount("tmpfs", folder, "tmpfs", UInt(MS_REMOUNT), "nr_inodes=\(used + count)"))
        }

        /// Mounts it again, with what is on it.
        public func mount(size: String, readOnly: Bool = false) throws {
            let flags = UInt(MS_REMOUNT | (readOnly ? MS_RDONLY : 0))
            try check(Glibc.mount("tmpfs", folder, "tmpfs", flags, "size=\(size)"))
        }

        /// Unmounts it, with everything on it.
        public func remove() {
            // A database on it may still be open.
            umount2(folder, Int32(MNT_DETACH))
        }

        private func check(_ result: Int32) throws {
            guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
    }
#endif
