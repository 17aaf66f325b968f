// swift-format-ignore-file: AlwaysUseLowerCamelCase

// What Apple's C library declares and Glibc does not, as Swift imports it. From the public headers of macOS and iOS.
@_exported public import Glibc

/// `#define F_FULLFSYNC 51` in sys/fcntl.h.
public var F_FULLFSYNC: Int32 { 51 }

/// `int fsync_volume_np(int, int)` in unistd.h, from macOS 10.8 and iOS 6.
public func fsync_volume_np(_ fd: Int32, _ flags: Int32) -> Int32 {
    precondition(flags == 3, "SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT of sys/fsctl.h")
    return fsync(fd)
}

/// `#define RLIMIT_NPROC 7` in sys/resource.h: an `Int32`, which Glibc's functions do not take.
public let RLIMIT_NPROC = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)

extension stat {
    /// `struct timespec st_ctimespec` in sys/stat.h.
    public var st_ctimespec: timespec { st_ctim }

    /// `struct timespec st_mtimespec` in sys/stat.h.
    public var st_mtimespec: timespec { st_mtim }
}
