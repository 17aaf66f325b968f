import AppMigrations
import Foundation
import GRDB

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
        let descriptor = handle.fileDescriptor
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        #if canImport(Darwin)
            let command: Int32 = 90  // F_OFD_SETLK, which Darwin's module does not show.
        #else
            let command: Int32 = 37  // F_OFD_SETLK, which needs _GNU_SOURCE.
        #endif
        while true {
            var result = fcntl(descriptor, command, &lock)
            // A system without these locks has those of processes, which only other processes respect.
            if result != 0, errno == EINVAL { result = fcntl(descriptor, F_SETLK, &lock) }
            if result == 0 { break }
            // File systems without these locks have none of SQLite's either.
            guard errno == EAGAIN || errno == EACCES else { return file }
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
