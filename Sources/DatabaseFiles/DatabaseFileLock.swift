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

/// A lock on a database's file that keeps out every other connection, also those of this process.
///
/// A connection locks some of the bytes after the first gigabyte (fileformat2.html, "lock-byte page"). A lock of the open
/// file description conflicts with theirs, and SQLite is not asked, because it would first change the file: by rolling back
/// a journal, for instance, that may not be this database's.
struct DatabaseFileLock {
    let handle: FileHandle

    /// SQLite's pending byte, its reserved byte, and those of readers.
    private static let all: Range<off_t> = 0x4000_0000..<0x4000_0200
    /// SQLite's pending byte, without which nobody begins to read, and its reserved byte.
    private static let beginnings: Range<off_t> = 0x4000_0000..<0x4000_0002

    /// Waits until no connection in WAL mode is open, and no transaction in rollback mode, and lets none begin.
    ///
    /// - Throws: `DatabaseError`, which is busy when the time is over.
    func lockAll(waitingFor limit: Duration) throws {
        try lock(Self.all, waitingFor: limit)
    }

    private func lock(_ bytes: Range<off_t>, waitingFor limit: Duration) throws {
        let deadline = ContinuousClock.now + limit
        while !set(F_WRLCK, on: bytes) {
            // File systems without these locks have none of SQLite's either.
            guard errno == EAGAIN || errno == EACCES else { return }
            if let status = try? handle.status(), Self.release(status) { continue }
            guard ContinuousClock.now < deadline else {
                // Closing the file would give up the locks that this process has on it (howtocorrupt.html, 2.2), so it
                // stays open: a descriptor is lost, and no row.
                _ = Unmanaged.passRetained(handle)
                throw DatabaseError(
                    resultCode: .SQLITE_BUSY, message: "another connection has the database open")
            }
            Thread.sleep(forTimeInterval: 0.005)
        }
    }

    /// Sets a lock of the open file description.
    ///
    /// - Returns: false, with `errno` set, if that is not possible.
    private func set(_ type: Int32, on bytes: Range<off_t>) -> Bool {
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
        if fcntl(handle.fileDescriptor, command, &lock) == 0 { return true }
        // A system without these locks has those of processes, which only other processes respect.
        return errno == EINVAL && fcntl(handle.fileDescriptor, F_SETLK, &lock) == 0
    }

    // MARK: Files that are set aside

    private static let kept = Locked<[DatabaseFileLock]>([])

    /// Lets no connection use the file, which has another name now, while the process lives.
    ///
    /// A connection that was opened before goes by the path, where another database is now. It would take that one's journal or
    /// log for its own, use it for this file, and delete it.
    func keep() {
        // These systems kill a process that has a lock in an app group's folder when they suspend it.
        #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
            guard (try? lock(Self.beginnings, waitingFor: .milliseconds(500))) != nil else { return }
            // Each takes a descriptor, of which a process has few.
            Self.kept.withLock { $0 = $0.suffix(7) + [self] }
        #endif
    }

    /// Lets this process use a file that it has set aside.
    static func release(_ place: DatabasePlace) {
        // Nearly always there is none, and its status need not be asked for.
        guard kept.withLock({ !$0.isEmpty }), let status = try? place.url.status() else { return }
        release(status)
    }

    /// - Returns: false if this process has not set the file aside.
    @discardableResult
    private static func release(_ file: stat) -> Bool {
        kept.withLock { locks in
            let count = locks.count
            locks.removeAll { (try? $0.handle.status())?.isSameFile(as: file) == true }
            return locks.count < count
        }
    }
}

extension FileHandle {
    /// Returns the status of the open file.
    ///
    /// - Throws: `POSIXError`.
    func status() throws -> stat {
        var status = stat()
        guard fstat(fileDescriptor, &status) == 0 else { throw POSIXError.current }
        return status
    }
}
