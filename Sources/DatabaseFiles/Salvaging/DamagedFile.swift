import AppMigrations
import Foundation
import GRDB
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

/// A file that is read byte for byte, and never changed.
final class DamagedFile {
    private let handle: FileHandle?
    /// The contents, of a file that is in memory.
    private let bytes: [UInt8]
    private(set) var size = 0

    /// Opens a file.
    ///
    /// - Throws: `POSIXError`.
    init(at url: URL, flags: Int32 = O_RDONLY) throws {
        let handle = try FileHandle.opening(url, flags | O_NONBLOCK)
        (self.handle, bytes) = (handle, [])
        try measure(handle)
    }

    /// Asks for the file's size.
    private func measure(_ handle: FileHandle) throws {
        var status = stat()
        guard fstat(handle.fileDescriptor, &status) == 0 else { throw POSIXError.current }
        guard status.st_mode & S_IFMT == S_IFREG else { throw POSIXError(.EISDIR) }
        // Where `Int` has 32 bits, offsets of a larger file would not fit.
        guard let size = Int(exactly: status.st_size), size <= .max - 0x1_0000 else {
            throw POSIXError(.EFBIG)
        }
        self.size = size
    }

    /// Takes bytes for a file: for tests.
    init(_ bytes: [UInt8]) { (handle, self.bytes, size) = (nil, bytes, bytes.count) }

    /// Opens a database's file, and keeps other connections from writing to it while it is open.
    ///
    /// An open connection in WAL mode, and a transaction in rollback mode, have a lock on the bytes after the first
    /// gigabyte (fileformat2.html, "lock-byte page"). A lock of the open file description conflicts with theirs, in this
    /// process too, and SQLite is not asked, because it would first change the file: by rolling back a journal, for
    /// instance, that may not be this database's.
    ///
    /// - Throws: `DatabaseError`, which is busy if the database is in use; `POSIXError`.
    static func locked(at url: URL, waitingFor limit: Duration = .zero) throws -> DamagedFile {
        let deadline = ContinuousClock.now + limit
        let file = try DamagedFile(at: url, flags: O_RDWR)
        guard let handle = file.handle else { return file }
        while true {
            if setLock(F_WRLCK, on: lockBytes, of: handle) == 0 { break }
            // File systems without these locks have none of SQLite's either.
            guard errno == EAGAIN || errno == EACCES else { return file }
            if release(file) { continue }
            guard ContinuousClock.now < deadline else {
                // Closing the file would give up the locks that this process has on it (howtocorrupt.html, 2.2), so it stays
                // open: a descriptor is lost, and no row.
                _ = Unmanaged.passRetained(file)
                throw DatabaseError(
                    resultCode: .SQLITE_BUSY, message: "another connection has the database open")
            }
            Thread.sleep(forTimeInterval: 0.005)
        }
        // Whoever had the lock may have written.
        try file.measure(handle)
        return file
    }

    /// Lets others read the file again, once it has another name, and keeps it reserved while the process lives.
    ///
    /// A connection that was opened before goes by the path, where another database is now. In rollback mode it would
    /// take that one's journal for its own, write it into this file, and delete it. It leaves the journal alone while
    /// somebody seems to be writing.
    ///
    /// - Parameter aside: the other name. If the file has a journal there, readers need that, and would leave it alone as well.
    func stayReserved(as aside: URL) {
        // These systems kill a process that has a lock in an app group's folder when they suspend it.
        #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
            let journal = try? aside.appending(end: "-journal").status()
            guard let handle, journal == nil else { return }
            let byte = Self.lockBytes.lowerBound + 1
            _ = Self.setLock(F_UNLCK, on: Self.lockBytes.lowerBound..<byte, of: handle)
            _ = Self.setLock(F_UNLCK, on: byte + 1..<Self.lockBytes.upperBound, of: handle)
            // Each takes a descriptor, of which a process has few.
            Self.reserved.withLock { $0 = $0.suffix(7) + [self] }
        #endif
    }

    private static let reserved = Locked<[DamagedFile]>([])

    /// Gives a file free that was set aside, and has got its old name back.
    ///
    /// - Returns: false if this process has not reserved it.
    private static func release(_ file: DamagedFile) -> Bool {
        reserved.withLock { files in
            let count = files.count
            files.removeAll { $0.identity == file.identity }
            return files.count < count
        }
    }

    /// The numbers of the device and of the file.
    private var identity: [UInt64] {
        var status = stat()
        guard let handle, fstat(handle.fileDescriptor, &status) == 0 else { return [] }
        return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
    }

    /// SQLite's pending byte, its reserved byte, and those of readers.
    private static let lockBytes: Range<off_t> = 0x4000_0000..<0x4000_0200

    /// Sets a lock of the open file description, or takes it away.
    ///
    /// - Returns: 0, or -1 with `errno` set.
    private static func setLock(_ type: Int32, on bytes: Range<off_t>, of handle: FileHandle) -> Int32 {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = bytes.lowerBound
        lock.l_len = off_t(bytes.count)
        #if canImport(Darwin)
            let command: Int32 = 90  // F_OFD_SETLK, which Darwin's module does not show.
        #else
            let command: Int32 = 37  // F_OFD_SETLK, which needs _GNU_SOURCE.
        #endif
        let result = fcntl(handle.fileDescriptor, command, &lock)
        // A system without these locks has those of processes, which only other processes respect.
        return result != 0 && errno == EINVAL ? fcntl(handle.fileDescriptor, F_SETLK, &lock) : result
    }

    /// Reads bytes; fewer at the end of the file.
    ///
    /// - Throws: `POSIXError`, unless the disk cannot read these bytes, however often it is asked: then there are none.
    func read(at offset: Int, count: Int) throws -> [UInt8] {
        guard offset >= 0, offset < size, count > 0 else { return [] }
        let wanted = min(count, size - offset)
        guard let descriptor = handle?.fileDescriptor else {
            return Array(self.bytes[offset..<offset + wanted])
        }
        var (code, attempts): (Int32, Int) = (0, 0)
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, length in
            length = 0
            while length < wanted, let base = buffer.baseAddress {
                let result = pread(
                    descriptor, base + length, wanted - length, off_t(offset + length))
                if result > 0 {
                    length += result
                } else if result == 0 {
                    return
                } else if errno == EIO, attempts < 2 {
                    attempts += 1
                } else if errno != EINTR {
                    code = errno
                    return
                }
            }
        }
        guard code == 0 || code == EIO else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return bytes
    }
}
