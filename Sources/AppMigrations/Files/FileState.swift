import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

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

    init?(at url: URL) {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Returns nil if the file was changed just now: another change could follow in the same tick of the file system's
    /// clock, and leave no trace.
    private init?(_ status: stat) {
        #if canImport(Darwin)
            let time = status.st_ctimespec
        #else
            let time = status.st_ctim
        #endif
        device = UInt64(truncatingIfNeeded: status.st_dev)
        node = UInt64(status.st_ino)
        size = Int64(status.st_size)
        changed = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
        // Nothing but the system sets this time, not even whoever restores a backup.
        guard changed + Self.precision < .seconds(Date().timeIntervalSince1970) else { return nil }
    }
}
