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
        case Int(SYS_openat): return isSystems(path: 1) ? [] : opening(flags: arguments.2)
        case Int(SYS_fcntl):
            // EACCES says that somebody else holds the lock. So does every error, to SQLite, of a lock of a WAL's
            // index (os_unix.c, unixShmSystemLock): then it waits, and whoever calls it does.
            let locks = [F_GETLK, F_SETLK, F_SETLKW].contains(Int32(truncatingIfNeeded: arguments.1))
            let isTried = locks && !releasesLock && extent == .once && isOfFile(arguments.0)
            return isTried ? [.EIO] : []
        case Int(SYS_mmap):
            return isOfFile(arguments.4) ? [.EACCES] : []
        case let number:
            #if arch(x86_64)
                if number == Int(SYS_open) { return isSystems(path: 0) ? [] : opening(flags: arguments.1) }
            #endif
            if let reasons = Self.faultsOfFiles[number] { return isOfFile(arguments.0) ? reasons : [] }
            if let reasons = Self.faultsOfPaths[number] { return isSystems(path: 0) ? [] : reasons }
            if let reasons = Self.faultsInFolders[number] { return isSystems(path: 1) ? [] : reasons }
            return []
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

    /// Whether a descriptor is that of a file, and not of a pipe, an event or a timer.
    private func isOfFile(_ descriptor: UInt64) -> Bool {
        let link = "/proc/\(thread)/fd/\(Int32(truncatingIfNeeded: descriptor))"
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? ""
        return path.hasPrefix("/") && !path.hasPrefix("/proc/")
    }

    /// Whether a path leads to what the system says of itself, which is on no disk.
    ///
    /// Dispatch reads there, once in a second, what its threads do, and traps when it cannot.
    private func isSystems(path index: Int) -> Bool {
        Arguments(self).text(index).hasPrefix("/proc/")
    }

    /// Of calls that are given a descriptor first.
    private static let faultsOfFiles = table([
        ([SYS_read, SYS_pread64, SYS_flock, SYS_close, SYS_fstat, SYS_getdents64], [.EIO]),
        ([SYS_write, SYS_pwrite64, SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_ftruncate], [.EIO, .ENOSPC]),
        ([SYS_fallocate, SYS_copy_file_range, SYS_sendfile], [.EIO, .ENOSPC]),
        ([SYS_fchmod, SYS_fchown], [.EIO, .EACCES, .EROFS]),
    ])

    /// Of calls that are given a path first.
    private static let faultsOfPaths: [Int: Set<Fault.Reason>] = {
        var calls: [([Int32], Set<Fault.Reason>)] = [([SYS_statfs], [.EIO, .EACCES])]
        #if arch(x86_64)
            calls += [
                ([SYS_stat, SYS_lstat, SYS_access, SYS_readlink], [.EIO, .EACCES]),
                ([SYS_rename, SYS_mkdir, SYS_link], [.EIO, .ENOSPC, .EACCES, .EROFS]),
                ([SYS_unlink, SYS_rmdir, SYS_chmod], [.EIO, .EACCES, .EROFS]),
            ]
        #endif
        return table(calls)
    }()

    /// Of calls that are given a folder's descriptor, and then a path.
    private static let faultsInFolders = table([
        ([SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat], [.EIO, .EACCES]),
        ([SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_linkat], [.EIO, .ENOSPC, .EACCES, .EROFS]),
        ([SYS_unlinkat, SYS_utimensat], [.EIO, .EACCES, .EROFS]),
    ])

    private static func table(_ calls: [([Int32], Set<Fault.Reason>)]) -> [Int: Set<Fault.Reason>] {
        let pairs = calls.flatMap { numbers, reasons in numbers.map { (Int($0), reasons) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
