package import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock that processes and threads share by way of a file.
///
/// It is an advisory `flock`, which belongs to the open file and not to the process: two locks on one file
/// exclude each other inside one process too, and the system releases them when their process dies. The file
/// stays: whoever removed it could lock a file that nobody else can see any more.
package struct FileLock: Sendable {
    private let url: URL

    package init(at url: URL) {
        self.url = url
    }

    /// Takes the lock if it is free.
    ///
    /// Does not wait.
    package func take() throws -> StoreLock {
        let file = try FileHandle.opening(url, O_RDWR | O_CREAT)
        while flock(file.fileDescriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .held(by: Self.holder(in: file))
            default: throw POSIXError.current
            }
        }
        // For the message of whoever finds the lock taken. The lock itself does not need it.
        try? file.truncate(atOffset: 0)
        try? file.write(contentsOf: Data("\(ProcessInfo.processInfo.processIdentifier)\n".utf8))
        return .acquired { try? file.close() }
    }

    /// Takes the lock, runs the body and releases the lock.
    ///
    /// Waits for a short time at most.
    package func withLock<Result>(waitingFor limit: Duration, _ body: () throws -> Result) throws -> Result {
        let release = try waiting(
            for: limit, taking: take, pausing: { usleep(useconds_t.random(in: 500...2_000)) })
        defer { release() }
        return try body()
    }

    private static func holder(in file: FileHandle) -> String {
        guard let data = try? file.readToEnd(),
            let id = Int32(String(decoding: data, as: UTF8.self).dropLast())
        else { return "another process" }
        return id == ProcessInfo.processInfo.processIdentifier ? "this process" : "process \(id)"
    }
}

/// The lock was not released in time.
package struct LockTimeout: Error {
    package let holder: String
    package let limit: Duration
}

/// Tries to take a lock, again and again, until it is free or the time is up.
///
/// `flock` could wait by itself, but it would wait for ever behind a process that the system has suspended.
package func waiting(
    for limit: Duration, taking take: () throws -> StoreLock, pausing pause: () throws -> Void
) throws -> @Sendable () -> Void {
    let deadline = ContinuousClock.now + limit
    while true {
        switch try take() {
        case .acquired(let release): return release
        case .held(let holder):
            guard ContinuousClock.now < deadline else { throw LockTimeout(holder: holder, limit: limit) }
            try pause()
        }
    }
}

extension FileHandle {
    /// Opens a file; it is closed in processes that this one starts.
    package static func opening(_ url: URL, _ flags: Int32) throws -> FileHandle {
        let descriptor = open(url.path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw POSIXError.current }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}

extension POSIXError {
    /// The error of the last system call.
    package static var current: POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }

    /// What the system calls this error, as in `Permission denied`.
    package var reason: String {
        String(cString: strerror(code.rawValue))
    }
}
