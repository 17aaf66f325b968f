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

    /// The first call that fails, of those that can be about a file.
    let call: Int
    let reason: Reason
    let extent: Extent

    var description: String { "\(call):\(reason):\(extent)" }
}

extension tracer_call {
    /// The errors that a call can return.
    func possibleFaults(_ extent: Fault.Extent) -> Set<Fault.Reason> {
        if isReport { return [] }
        var reasons = Self.faults[Int(number)] ?? []
        if number == Int64(SYS_openat) { reasons = Self.faultsOfOpening(arguments.2) }
        #if arch(x86_64)
            if number == Int64(SYS_open) { reasons = Self.faultsOfOpening(arguments.1) }
        #endif
        if number == Int64(SYS_fcntl) {
            // EACCES says that somebody else holds the lock. So does every error, to SQLite, of a lock of a WAL's
            // index (os_unix.c, unixShmSystemLock): then it waits, and whoever calls it does.
            let locks = [F_GETLK, F_SETLK, F_SETLKW].contains(Int32(truncatingIfNeeded: arguments.1))
            reasons = locks && !releasesLock && extent == .once ? [.EIO] : []
        }
        return reasons.isEmpty || file == nil ? [] : reasons
    }

    /// True if a call can be about a file, as far as its number tells.
    ///
    /// Only these are counted: how often threads wait and wake is another number in each launch.
    var countsAsFileCall: Bool {
        switch Int(number) {
        case Int(SYS_mmap): Int32(truncatingIfNeeded: arguments.4) >= 0
        case let number: Self.faults[number] != nil || Self.paths[number] != nil || number == Int(SYS_fcntl)
        }
    }

    /// The file that a call is about: one on a disk, and no pipe, event or timer.
    ///
    /// The system's own files are not either. Dispatch reads there, once in a second, what its threads do, and
    /// traps when it cannot.
    var file: String? {
        var path = Self.paths[Int(number)].map { Arguments(self).text($0) } ?? ""
        // Without a path the descriptor is meant, of `fstatat` as well.
        if path.isEmpty {
            let descriptor = number == Int64(SYS_mmap) ? arguments.4 : arguments.0
            let link = "/proc/\(thread)/fd/\(Int32(truncatingIfNeeded: descriptor))"
            path = (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? ""
        }
        return path.hasPrefix("/") && !path.hasPrefix("/proc/") ? path : nil
    }

    /// True if it makes a salvaged database durable, before that gets its name.
    var isSyncOfSalvagedDatabase: Bool {
        number == Int64(SYS_fsync) && file?.hasSuffix(".salvaging") == true
    }

    /// True if a call has an effect also when it returns an error.
    ///
    /// close(2): the descriptor is released early, before what can fail.
    var takesEffectAnyway: Bool { number == Int64(SYS_close) }

    /// True if the lock of a part of a file is given back: if that failed, its own process would be locked out.
    private var releasesLock: Bool {
        // The type comes first in struct flock.
        var type = Int16(F_RDLCK)
        _ = tracer_read(thread, arguments.2, &type, MemoryLayout<Int16>.size)
        return type == Int16(F_UNLCK)
    }

    private static func faultsOfOpening(_ flags: UInt64) -> Set<Fault.Reason> {
        let flags = Int32(truncatingIfNeeded: flags)
        if flags & O_CREAT != 0 { return [.EIO, .ENOSPC, .EACCES, .EROFS] }
        return flags & O_ACCMODE == O_RDONLY ? [.EIO, .EACCES] : [.EIO, .EACCES, .EROFS]
    }

    /// Where the path stands among the arguments of a call that has one; the others have a descriptor.
    private static let paths: [Int: Int] = {
        var calls: [([Int32], Int)] = [
            (
                [
                    SYS_openat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_renameat,
                    SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_unlinkat, SYS_utimensat,
                ], 1
            ),
            ([SYS_statfs], 0),
        ]
        #if arch(x86_64)
            calls += [
                (
                    [
                        SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_rename, SYS_mkdir,
                        SYS_link, SYS_unlink, SYS_rmdir, SYS_chmod,
                    ], 0
                )
            ]
        #endif
        return table(calls)
    }()

    private static let faults: [Int: Set<Fault.Reason>] = {
        var calls: [([Int32], Set<Fault.Reason>)] = [
            ([SYS_read, SYS_pread64, SYS_flock, SYS_close, SYS_fstat, SYS_getdents64], [.EIO]),
            (
                [SYS_write, SYS_pwrite64, SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_ftruncate],
                [.EIO, .ENOSPC]
            ),
            ([SYS_fallocate, SYS_copy_file_range, SYS_sendfile], [.EIO, .ENOSPC]),
            ([SYS_fchmod, SYS_fchown, SYS_unlinkat, SYS_utimensat], [.EIO, .EACCES, .EROFS]),
            ([SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_statfs], [.EIO, .EACCES]),
            ([SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_linkat], [.EIO, .ENOSPC, .EACCES, .EROFS]),
            ([SYS_mmap], [.EACCES]),
        ]
        #if arch(x86_64)
            calls += [
                ([SYS_stat, SYS_lstat, SYS_access, SYS_readlink], [.EIO, .EACCES]),
                ([SYS_rename, SYS_mkdir, SYS_link], [.EIO, .ENOSPC, .EACCES, .EROFS]),
                ([SYS_unlink, SYS_rmdir, SYS_chmod], [.EIO, .EACCES, .EROFS]),
            ]
        #endif
        return table(calls)
    }()

    private static func table<Value>(_ calls: [([Int32], Value)]) -> [Int: Value] {
        let pairs = calls.flatMap { numbers, value in numbers.map { (Int($0), value) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
