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
        let status = try handle.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw POSIXError(.EISDIR) }
        // Where `Int` has 32 bits, offsets of a larger file would not fit.
        guard let size = Int(exactly: status.st_size), size <= .max - 0x1_0000 else {
            throw POSIXError(.EFBIG)
        }
        self.size = size
    }

    /// Takes bytes for a file: for tests.
    init(_ bytes: [UInt8]) { (handle, self.bytes, size) = (nil, bytes, bytes.count) }

    /// Opens a database's file, and keeps other connections from using it while it is open.
    ///
    /// - Throws: `DatabaseError`, which is busy if the database is in use; `POSIXError`.
    static func locked(at url: URL, waitingFor limit: Duration = .zero) throws -> DamagedFile {
        let file = try DamagedFile(at: url, flags: O_RDWR)
        guard let handle = file.handle else { return file }
        try DatabaseFileLock(handle: handle).lockAll(waitingFor: limit)
        // Whoever had the lock may have written.
        try file.measure(handle)
        return file
    }

    /// Keeps the file locked once it has another name.
    func stayLocked() {
        handle.map { DatabaseFileLock(handle: $0).keep() }
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
