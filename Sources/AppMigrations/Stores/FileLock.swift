package import Foundation
import MigrationDiagnostics

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A lock that processes and threads share through a file.
///
/// It is an advisory `flock`, which belongs to the open file and not to the process: two locks on one file
/// exclude each other inside one process too, and the system releases them when their process dies. The file
/// stays: whoever removed it could lock a file that nobody else can see any more.
package struct FileLock: Sendable {
    private let url: URL
    private let permissions: mode_t?
    private let isSynced: Bool

    /// Creates a lock in a file.
    ///
    /// - Parameters:
    ///   - permissions: the permissions of the file if it is created.
    ///   - isSynced: whether a power cut leaves the file as if the process had died.
    package init(at url: URL, permissions: mode_t? = nil, isSynced: Bool = false) {
        (self.url, self.permissions, self.isSynced) = (url, permissions, isSynced)
    }

    /// Takes the lock if it is free.
    ///
    /// Does not wait.
    package func take() throws -> StoreLock {
        let file = try FileHandle.opening(url, O_RDWR | O_CREAT | O_NONBLOCK, permissions: permissions)
        var status = stat()
        // It may be of an earlier build, or the permissions may have been changed since; only its owner can give it others.
        if let permissions, fstat(file.fileDescriptor, &status) == 0, status.st_mode & 0o777 != permissions {
            fchmod(file.fileDescriptor, permissions)
        }
        while flock(file.fileDescriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .held(by: Self.holder(in: file))
            default: throw POSIXError.current
            }
        }
        // A holder writes its process behind the word that it leaves at its end, so that whoever takes the lock next knows that
        // it has not died: to cut the process off needs no room, which a full disk would not have.
        let wasReleased = (try? file.readToEnd()).map { String(decoding: $0, as: UTF8.self) } == Self.released
        let contents = Data("\(Self.released)\(ProcessInfo.processInfo.processIdentifier)\n".utf8)
        try? file.seek(toOffset: 0)
        try? file.write(contentsOf: contents)
        try? file.truncate(atOffset: UInt64(contents.count))
        // A file that a power cut has taken away was not released either.
        if isSynced { try? DurableFile(at: url).syncContents() }
        let release = LockRelease { isEnd in
            if isEnd { try? file.truncate(atOffset: UInt64(Self.released.utf8.count)) }
            // Closing is not enough: a child that was forked meanwhile has the file open as well. The handle closes the
            // file when nobody can release the lock any more. A call of its `close` that failed would be repeated then,
            // and close what another thread has opened meanwhile.
            flock(file.fileDescriptor, LOCK_UN)
        }
        return .acquired(wasReleased: wasReleased, release: release)
    }

    /// Takes the lock, runs the body and releases the lock.
    ///
    /// `flock` could wait by itself, but it would wait for ever behind a process that the system has suspended.
    ///
    /// - Throws: ``LockTimeout``, when the time is up.
    package func withLock<Result>(waitingFor limit: Duration, _ body: () throws -> Result) throws -> Result {
        let deadline = ContinuousClock.now + limit
        while true {
            switch try take() {
            case .acquired(_, let release):
                defer { release() }
                return try body()
            case .held(let holder):
                guard ContinuousClock.now < deadline else { throw LockTimeout(holder: holder, limit: limit) }
                usleep(useconds_t.random(in: 500...2_000))
            }
        }
    }

    /// Runs the body while no other process holds one of the locks beside a file, whose names begin like the file's.
    ///
    /// - Parameter held: a lock that the caller holds. It can be among them: `app.sqlite.move.lock` begins like `app`.
    /// - Throws: ``LockTimeout``, when the time is up; `POSIXError`.
    package static func withLocks(
        beside url: URL, except held: FileLock, waitingFor limit: Duration, _ body: () throws -> Void
    ) throws {
        let folder = url.deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasPrefix("\(url.lastPathComponent).") && $0.hasSuffix(".lock")
                && folder.appendingPathComponent($0).path != held.url.path
        }
        func take(_ names: ArraySlice<String>) throws {
            guard let name = names.first else { return try body() }
            try FileLock(at: folder.appendingPathComponent(name)).withLock(waitingFor: limit) {
                try take(names.dropFirst())
            }
        }
        try take(names.inOrder()[...])
    }

    private static let released = "released\n"

    private static func holder(in file: FileHandle) -> LockHolder {
        guard let data = try? file.readToEnd(),
            let id = Int(String(decoding: data, as: UTF8.self).dropFirst(released.count).dropLast())
        else { return .unknown }
        return id == ProcessInfo.processInfo.processIdentifier ? .thisProcess : .process(id)
    }
}

/// A lock was not released in time.
package struct LockTimeout: Error {
    package let holder: LockHolder
    package let limit: Duration
}
