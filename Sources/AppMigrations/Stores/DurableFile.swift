import CMigrationSystem
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

/// A file that is always whole: it is read and replaced as one piece.
package struct DurableFile: Sendable {
    package let url: URL
    /// The path of ``url``, which takes long to make, and which every manager of a launch needs.
    private let path: String

    package init(at url: URL) {
        self.url = url
        path = url.path
    }

    /// The folder that the file is in.
    package var folder: URL { url.deletingLastPathComponent() }

    /// The file's contents; nil when there certainly is no such file in the folder.
    ///
    /// - Throws: `POSIXError`, in every other case: a missing folder too, since it may be a disk that is not
    ///   there yet.
    package func contents() throws -> Data? {
        try contentsAndState()?.contents
    }

    /// The largest file that is read: far above any record, and far below what would exhaust the memory.
    static let maximumSize = 64 << 20

    /// The file's contents, with its state when they were read.
    func contentsAndState() throws -> (contents: Data, state: FileState?)? {
        let file: FileHandle
        do {
            // A pipe would wait for a writer.
            file = try FileHandle.opening(url, O_RDONLY | O_NONBLOCK)
        } catch let error as POSIXError where error.code == .ENOENT {
            _ = try FileHandle.opening(folder, O_RDONLY | O_DIRECTORY)
            var status = stat()
            guard lstat(url.path, &status) == 0 else {
                if POSIXError.isDeviceLockable { try probeFolder() }
                return nil
            }
            // A link that leads nowhere, to a disk that is not mounted for instance, is not an absent file.
            guard status.st_mode & S_IFMT != S_IFLNK else { throw error }
            // Another process has written the file for the first time just now.
            return try contentsAndState()
        }
        let state = FileState(of: file)
        return (try read(file), state)
    }

    /// The file's state; nil where there is none, and where it tells nothing.
    var state: FileState? { FileState(at: path) }

    /// Writes a small file of this one's protection class beside it, reads it back and removes it.
    ///
    /// Before the first unlock after a restart that cannot be done, on iOS, tvOS, watchOS and visionOS: a missing record is
    /// believed only where it can.
    ///
    /// - Throws: `POSIXError`, with the code `EPERM` if the device is locked, and `ENOSPC` if the disk has no room for a file.
    package func probeFolder() throws {
        let probe = DurableFile(
            at: folder.appendingPathComponent(".\(url.lastPathComponent).probe-\(UUID().uuidString)"))
        defer { unlink(probe.url.path) }
        let data = Data("probe".utf8)
        try write(data, to: try .opening(probe.url, O_WRONLY | O_CREAT | O_EXCL))
        guard try read(try .opening(probe.url, O_RDONLY)).isSame(as: data) else { throw POSIXError(.EIO) }
    }

    /// Returns true if there is a file, or a folder, of this name.
    ///
    /// - Throws: `POSIXError`, when that cannot be told.
    package func exists() throws -> Bool {
        var status = stat()
        if stat(url.path, &status) == 0 { return true }
        // A link that leads nowhere tells nothing: what it leads to may be on a disk that is not mounted.
        guard errno == ENOENT, lstat(url.path, &status) != 0, errno == ENOENT else {
            throw POSIXError.current
        }
        return false
    }

    /// Returns true if there is a file; its folder need not exist, and may have become a file.
    @inline(never)
    func existsInItsFolder() throws -> Bool {
        do {
            return try exists()
        } catch let error as POSIXError where error.code == .ENOTDIR {
            return false
        }
    }

    /// True for another name of one file, as a folder that is mounted at two places gives it.
    ///
    /// A file that has two names on its disk is another matter: to replace it leaves the other name what it was.
    func isSame(as other: DurableFile) -> Bool {
        var (status, others) = (stat(), stat())
        return stat(url.path, &status) == 0 && stat(other.url.path, &others) == 0 && status.st_nlink == 1
            && status.st_ino == others.st_ino && status.st_dev == others.st_dev
    }

    /// The permissions for files that stand for this one, or beside it: its own, and those of its owner to read and write; nil if there
    /// is no file.
    @inline(never)
    package var permissions: mode_t? {
        var status = stat()
        return stat(url.path, &status) == 0 ? status.st_mode & 0o777 | 0o600 : nil
    }

    /// Appends lines, and removes them again if the body throws.
    ///
    /// A line that a crash cut off is ended first, so that it spoils no other.
    ///
    /// - Parameter permissions: the permissions of the file if it is created.
    func appending(_ lines: [Data], permissions: mode_t?, _ body: () throws -> Void) throws {
        guard !lines.isEmpty else { return try body() }
        let file = try FileHandle.opening(url, O_RDWR | O_CREAT | O_APPEND, permissions: permissions)
        let length = lseek(file.fileDescriptor, 0, SEEK_END)
        guard length >= 0 else { throw POSIXError.current }
        let lineBreak = UInt8(ascii: "\n")
        var last = lineBreak
        if length > 0, pread(file.fileDescriptor, &last, 1, length - 1) < 0 { throw POSIXError.current }
        do {
            let data = lines.reduce(last == lineBreak ? Data() : Data([lineBreak])) { $0 + $1 + [lineBreak] }
            try write(data, to: file)
            // The body writes what says that these lines are there.
            try flush(file)
            try body()
        } catch {
            ftruncate(file.fileDescriptor, length)
            throw error
        }
    }

    /// Keeps what is there under a dated name, too, until the file is replaced.
    func keepAside() throws {
        let aside = datedName(after: "damaged")
        if link(path, aside.path) != 0 {
            // No other file may lose its name to it.
            guard errno != EEXIST else { throw POSIXError.current }
            if isRegular {
                // The file system has no hard links. After a rename, a crash would leave no file.
                do {
                    try FileManager.default.copyItem(at: url, to: aside)
                    try DurableFile(at: aside).syncContents()
                } catch {
                    // What nobody can read is no record that a crash could lose.
                    try? FileManager.default.removeItem(at: aside)
                    try take(name: aside)
                }
            } else {
                try take(name: aside)
            }
        }
        try syncName()
    }

    /// A name for what is kept of the file, after a word and the date.
    func datedName(after reason: String) -> URL {
        folder.appendingPathComponent(
            "\(url.lastPathComponent).\(reason)-\(Date().inFileName)-\(UUID().uuidString.prefix(8))")
    }

    private var isRegular: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Gives the file another name, which no other one has.
    func take(name: URL) throws {
        guard rename(path, name.path) == 0 else { throw POSIXError.current }
        try syncName()
    }

    private func read(_ file: FileHandle) throws -> Data {
        var status = stat()
        guard fstat(file.fileDescriptor, &status) == 0 else { throw POSIXError.current }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw POSIXError(.EISDIR)
        default: throw POSIXError(.EINVAL)
        }
        guard status.st_size <= Self.maximumSize else { throw POSIXError(.EFBIG) }
        var data = Data()
        var chunk = [UInt8](repeating: 0, count: max(4_096, Int(status.st_size) + 1))
        while true {
            let count = chunk.withUnsafeMutableBytes {
                systemRead(file.fileDescriptor, $0.baseAddress, $0.count)
            }
            if count < 0 {
                guard errno == EINTR else { throw POSIXError.current }
            } else if count == 0 {
                return data
            } else {
                data.append(contentsOf: chunk[..<count])
            }
        }
    }

    /// Replaces the file's contents: when this throws, the old ones are still there.
    ///
    /// The new contents survive a power cut after ``syncName()``.
    ///
    /// One writer at a time: the caller holds a lock. The temporary file has a fixed name, so that those that
    /// killed processes left behind do not pile up. The new file has the permissions of the old one, and its owner may
    /// read and write it.
    ///
    /// - Parameter permissions: those of the new file; nil for ``permissions``.
    package func replace(with data: Data, permissions: mode_t? = nil) throws {
        let temporary = folder.appendingPathComponent(".\(url.lastPathComponent).new")
        do {
            // Never through a link that somebody has put there.
            if unlink(temporary.path) != 0, errno != ENOENT {
                // EPERM is how some systems refuse to unlink a folder (unlink(2)).
                throw errno == EPERM ? POSIXError(.EISDIR) : POSIXError.current
            }
            let file = try FileHandle.opening(
                temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                permissions: permissions ?? self.permissions)
            try write(data, to: file)
            try flush(file)
            guard rename(temporary.path, url.path) == 0 else { throw POSIXError.current }
        } catch {
            unlink(temporary.path)
            throw error
        }
    }

    /// Removes the file for good, unless another process has done so meanwhile.
    @inline(never)
    package func remove() throws {
        guard unlink(url.path) == 0 || errno == ENOENT else { throw POSIXError.current }
        try syncName()
    }

    /// Makes sure that the file's name survives a power cut.
    ///
    /// The name is in the folder, and the folder is a file too: rename(2) syncs neither, and fsync(2) of the file not
    /// the folder.
    package func syncName() throws {
        try flush(try FileHandle.opening(folder, O_RDONLY | O_DIRECTORY))
    }

    /// Makes sure that the file's contents survive a power cut, whoever has written them.
    package func syncContents() throws {
        try flush(try FileHandle.opening(url, O_RDONLY))
    }

    private func write(_ data: Data, to file: FileHandle) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(file.fileDescriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw POSIXError.current
            }
        }
    }

    private func flush(_ file: FileHandle) throws {
        #if canImport(Darwin)
            // fsync(2) on Apple's systems leaves the data in the drive's cache.
            if fcntl(file.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        // fsync(2): EINVAL is how a file system says that this cannot, and need not, be synced.
        guard fsync(file.fileDescriptor) == 0 || errno == EINVAL else { throw POSIXError.current }
    }

    /// Writes out everything written to the file's file system, by any process.
    ///
    /// Where an Apple system refuses that to an app, only what has been handed to the drive is certain to stay.
    package func flushFileSystem() throws {
        #if os(Linux) || os(Android)
            let file = try FileHandle.opening(folder, O_RDONLY | O_DIRECTORY)
            guard app_migrations_syncfs(file.fileDescriptor) == 0 else { throw POSIXError.current }
        #elseif canImport(Darwin)
            let file = try FileHandle.opening(folder, O_RDONLY | O_DIRECTORY)
            // SYNC_VOLUME_FULLSYNC and SYNC_VOLUME_WAIT of sys/fsctl.h, which not every SDK has.
            guard fsync_volume_np(file.fileDescriptor, 0x01 | 0x02) == 0 else { return try syncName() }
        #endif
    }
}

// `read` and `write` by their own names would be this type's methods.
private let systemRead = read
private let systemWrite = write

extension FileHandle {
    /// Opens a file; it is closed in processes that this one starts.
    ///
    /// An app can use a file that is created here in the background, too, once the device has been unlocked: on iOS,
    /// tvOS, watchOS and visionOS, whatever protection class the app's files have by default.
    ///
    /// - Parameter permissions: the permissions of a file that is created; nil for what the process's mask leaves of
    ///   the usual ones.
    package static func opening(_ url: URL, _ flags: Int32, permissions: mode_t? = nil) throws -> FileHandle {
        let path = url.path
        if flags & O_EXCL == 0 {
            let descriptor = open(path, flags & ~O_CREAT | O_CLOEXEC)
            if descriptor >= 0 { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
            guard flags & O_CREAT != 0, errno == ENOENT else { throw POSIXError.current }
        }
        let descriptor = app_migrations_create(path, flags | O_CLOEXEC, Int32(permissions ?? 0o644))
        guard descriptor >= 0 else { throw POSIXError.current }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // open(2) takes the bits of the process's mask away.
        if let permissions, fchmod(descriptor, permissions) != 0 { throw POSIXError.current }
        return file
    }
}

/// The identity and the times of a file: while they stay the same, so do its contents.
struct FileState: Equatable, Sendable {
    private let device: UInt64
    private let node: UInt64
    private let size: Int64
    private let changed: Duration

    /// File systems keep times to two seconds at worst.
    private static let precision = Duration.seconds(2)

    init?(of file: FileHandle) {
        var status = stat()
        guard fstat(file.fileDescriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Returns nil if the file was changed just now: another change could follow in the same tick of the file system's
    /// clock, and leave no trace.
    private init?(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        node = UInt64(status.st_ino)
        size = Int64(status.st_size)
        changed = withUnsafePointer(to: status) { .nanoseconds(app_migrations_changed($0)) }
        // Nothing but the system sets this time, not even whoever restores a backup.
        guard changed + Self.precision < .seconds(Date().timeIntervalSince1970) else { return nil }
    }
}

extension Date {
    /// The date and the time, without the signs that file systems and SQL refuse: `20261102T093000Z`.
    package var inFileName: String { formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted)) }
}

extension Data {
    // Not inlined: Foundation's comparison is large.
    @inline(never)
    func isSame(as other: Data) -> Bool { self == other }
}
