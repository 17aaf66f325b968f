import Foundation
import Tracer

/// An error that the system returns instead of carrying out a call.
struct Fault: Hashable, CustomStringConvertible {
    /// How many calls fail.
    enum Extent: String, CaseIterable {
        case once, onward
    }

    enum Reason: String, CaseIterable {
        // By the system's own names:
        // swift-format-ignore: AlwaysUseLowerCamelCase
        case EIO, ENOSPC, EACCES, EROFS

        var number: Int32 {
            switch self {
            case .EIO: Glibc.EIO
            case .ENOSPC: Glibc.ENOSPC
            case .EACCES: Glibc.EACCES
            case .EROFS: Glibc.EROFS
            }
        }
    }

    /// The first call that fails.
    let call: Int
    let reason: Reason
    let extent: Extent

    var description: String { "\(call):\(reason):\(extent)" }
}

extension tracer_call {
    /// The errors that a call can return.
    func possibleFaults(_ extent: Fault.Extent) -> Set<Fault.Reason> {
        if isReport { return [] }
        switch Int(number) {
        case Int(SYS_openat): return opening(flags: arguments.2)
        case Int(SYS_fcntl):
            // EACCES says that somebody else holds the lock. So does every error, to SQLite, of a lock of a WAL's
            // index (os_unix.c, unixShmSystemLock): then it waits, and whoever calls it does.
            let locks = [F_GETLK, F_SETLK, F_SETLKW].contains(Int32(truncatingIfNeeded: arguments.1))
            return locks && !releasesLock && extent == .once ? [.EIO] : []
        case Int(SYS_mmap):
            return Int32(truncatingIfNeeded: arguments.4) >= 0 ? [.EACCES] : []
        case let number:
            #if arch(x86_64)
                if number == Int(SYS_open) { return opening(flags: arguments.1) }
            #endif
            return Self.faults[number] ?? []
        }
    }

    /// Whether a call has an effect also when it returns an error.
    ///
    /// close(2): the descriptor is released early, before what can fail.
    var takesEffectAnyway: Bool { number == Int64(SYS_close) }

    /// Whether the lock of a part of a file is given back: if that failed, its own process would be locked out.
    private var releasesLock: Bool {
        // The type comes first in struct flock.
        var type = Int16(F_RDLCK)
        _ = tracer_read(thread, arguments.2, &type, MemoryLayout<Int16>.size)
        return type == Int16(F_UNLCK)
    }

    private func opening(flags: UInt64) -> Set<Fault.Reason> {
        let flags = Int32(truncatingIfNeeded: flags)
        if flags & O_CREAT != 0 { return [.EIO, .ENOSPC, .EACCES, .EROFS] }
        return flags & O_ACCMODE == O_RDONLY ? [.EIO, .EACCES] : [.EIO, .EACCES, .EROFS]
    }

    private static let faults: [Int: Set<Fault.Reason>] = {
        var faults: [Int: Set<Fault.Reason>] = [:]
        func add(_ numbers: [Int32], _ reasons: Set<Fault.Reason>) {
            for number in numbers { faults[Int(number)] = reasons }
        }
        add([SYS_read, SYS_pread64, SYS_flock, SYS_close, SYS_fstat, SYS_getdents64], [.EIO])
        add([SYS_write, SYS_pwrite64, SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_ftruncate], [.EIO, .ENOSPC])
        add([SYS_fallocate, SYS_copy_file_range, SYS_sendfile], [.EIO, .ENOSPC])
        add([SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_statfs], [.EIO, .EACCES])
        add([SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_linkat], [.EIO, .ENOSPC, .EACCES, .EROFS])
        add([SYS_unlinkat, SYS_fchmod, SYS_fchown, SYS_utimensat], [.EIO, .EACCES, .EROFS])
        #if arch(x86_64)
            add([SYS_stat, SYS_lstat, SYS_access, SYS_readlink], [.EIO, .EACCES])
            add([SYS_rename, SYS_mkdir, SYS_link], [.EIO, .ENOSPC, .EACCES, .EROFS])
            add([SYS_unlink, SYS_rmdir, SYS_chmod], [.EIO, .EACCES, .EROFS])
        #endif
        return faults
    }()
}
