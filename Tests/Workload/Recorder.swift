import DiskModel
import Foundation
import Tracer

/// Writes down what a traced process does in a folder, as operations on a disk.
///
/// Written data is read back from the file, by way of the process's descriptors in `/proc`.
final class Recorder {
    private(set) var log: DiskLog
    /// An operation that the model does not know: such a recording cannot be judged.
    private(set) var unknown: [String] = []
    private let root: String
    /// The nodes by their paths, as the process sees them.
    private var names: [String: Node] = [:]
    /// The nodes by the system's numbers, which it gives again when a file is gone.
    private var nodes: [Identity: Node] = [:]
    private var count = 0

    private struct Identity: Hashable {
        let device: dev_t
        let number: ino_t

        init(_ status: stat) {
            device = status.st_dev
            number = status.st_ino
        }
    }

    /// Begins with what is in a folder, which counts as synced.
    init(in folder: String) throws {
        root = folder
        log = DiskLog(start: DiskImage(folders: [:]))
        try add(folder)
    }

    private func add(_ path: String) throws {
        let node = node(new: path, status(path))
        let file = FileHandle(forReadingAtPath: path)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            log.start.files[node] = [UInt8](try file?.readToEnd() ?? Data())
            return
        }
        log.start.folders[node] = [:]
        for name in names.sorted() {
            log.start.folders[node]?[name] = count
            try add("\(path)/\(name)")
        }
    }

    private func node(new path: String, _ status: stat?) -> Node {
        defer { count += 1 }
        names[path] = count
        if let status { nodes[Identity(status)] = count }
        return count
    }

    /// Records a call that has been carried out.
    func watch(_ call: tracer_call) -> tracer_verdict {
        guard call.is_done, call.result >= 0 else { return .goOn }
        if call.isReport {
            report(call)
        } else {
            record(call, Arguments(call))
        }
        return .goOn
    }

    private func record(_ call: tracer_call, _ arguments: Arguments) {
        let here = AT_FDCWD
        switch Int(call.number) {
        case Int(SYS_openat): open(path(arguments, 0, 1), flags: arguments[2], call)
        case Int(SYS_write), Int(SYS_writev): write(arguments[0], at: nil, call)
        case Int(SYS_pwrite64), Int(SYS_pwritev): write(arguments[0], at: arguments[3], call)
        case Int(SYS_sendfile): write(arguments[0], at: nil, call)
        case Int(SYS_copy_file_range): write(arguments[2], at: nil, call)
        case Int(SYS_ftruncate), Int(SYS_fallocate): resize(arguments[0], call)
        case Int(SYS_fsync), Int(SYS_fdatasync):
            if let node = node(arguments[0], call) { log.operations.append(.sync(node)) }
        case Int(SYS_syncfs), Int(SYS_sync): log.operations.append(.syncAll)
        case Int(SYS_mkdirat): makeFolder(path(arguments, 0, 1))
        case Int(SYS_unlinkat): unlink(path(arguments, 0, 1))
        case Int(SYS_linkat): link(path(arguments, 0, 1), path(arguments, 2, 3))
        case Int(SYS_renameat2), Int(SYS_renameat): rename(path(arguments, 0, 1), path(arguments, 2, 3))
        case Int(SYS_mmap): map(call, arguments)
        case Int(SYS_truncate): refuse("truncate", path(arguments, here, 0))
        case Int(SYS_symlinkat): refuse("symlink", path(arguments, 1, 2))
        default: recordOld(call, arguments)
        }
    }

    /// Records calls that newer architectures do not have any more.
    private func recordOld(_ call: tracer_call, _ arguments: Arguments) {
        #if arch(x86_64)
            let here = AT_FDCWD
            switch Int(call.number) {
            case Int(SYS_open): open(path(arguments, here, 0), flags: arguments[1], call)
            case Int(SYS_creat): open(path(arguments, here, 0), flags: Int(O_CREAT | O_TRUNC), call)
            case Int(SYS_mkdir): makeFolder(path(arguments, here, 0))
            case Int(SYS_rmdir), Int(SYS_unlink): unlink(path(arguments, here, 0))
            case Int(SYS_link): link(path(arguments, here, 0), path(arguments, here, 1))
            case Int(SYS_rename): rename(path(arguments, here, 0), path(arguments, here, 1))
            case Int(SYS_symlink): refuse("symlink", path(arguments, here, 1))
            default: break
            }
        #endif
    }

    // MARK: Contents

    private func write(_ descriptor: Int, at offset: Int?, _ call: tracer_call) {
        guard call.result > 0, let node = node(descriptor, call) else { return }
        let count = Int(call.result)
        let offset = offset ?? position(descriptor, call) - count
        let file = FileHandle(forReadingAtPath: link(descriptor, call))
        try? file?.seek(toOffset: UInt64(offset))
        guard let data = try? file?.read(upToCount: count), data.count == count else {
            return refuse("write", root)
        }
        log.operations.append(.write(node, offset: offset, bytes: [UInt8](data)))
    }

    private func report(_ call: tracer_call) {
        var bytes = [UInt8](repeating: 0, count: Int(call.result))
        let count = tracer_read(call.thread, call.arguments.1, &bytes, bytes.count)
        for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
            log.operations.append(.report(String(line)))
        }
    }

    private func resize(_ descriptor: Int, _ call: tracer_call) {
        guard let node = node(descriptor, call), let status = status(link(descriptor, call)) else { return }
        log.operations.append(.resize(node, size: Int(status.st_size)))
    }

    /// SQLite shares the index of a write-ahead log so, and nothing else.
    private func map(_ call: tracer_call, _ arguments: Arguments) {
        let (protection, flags, descriptor) = (
            arguments[2], arguments[3], Int(Int32(truncatingIfNeeded: arguments[4]))
        )
        guard descriptor >= 0, flags & Int(MAP_SHARED) != 0, protection & Int(PROT_WRITE) != 0,
            let node = node(descriptor, call)
        else { return }
        let path = names.first { $0.value == node }?.key ?? ""
        if !path.hasSuffix("-shm") { refuse("mmap", path) }
    }

    // MARK: Names

    private func open(_ path: String, flags: Int, _ call: tracer_call) {
        guard isInside(path) else { return }
        if let node = names[path] {
            if flags & Int(O_TRUNC) != 0 { log.operations.append(.resize(node, size: 0)) }
        } else {
            let status = status(link(Int(call.result), call))
            log.operations.append(.link(node(new: path, status), entry(path)))
        }
    }

    private func makeFolder(_ path: String) {
        guard isInside(path) else { return }
        let node = node(new: path, status(path))
        log.operations.append(.link(node, entry(path)))
        log.start.folders[node] = [:]
    }

    private func unlink(_ path: String) {
        guard isInside(path) else { return }
        log.operations.append(.unlink(entry(path)))
        names[path] = nil
    }

    private func link(_ path: String, _ new: String) {
        guard isInside(new), let node = names[path] else { return refuse("link", new) }
        log.operations.append(.link(node, entry(new)))
        names[new] = node
    }

    private func rename(_ path: String, _ new: String) {
        guard isInside(path) || isInside(new) else { return }
        guard let node = names[path], log.start.folders[node] == nil, isInside(new) else {
            return refuse("rename", path)
        }
        log.operations.append(.rename(node, from: entry(path), to: entry(new)))
        names[path] = nil
        names[new] = node
    }

    private func refuse(_ call: String, _ path: String) {
        if isInside(path) || path == root { unknown.append("\(call) \(path)") }
    }

    private func isInside(_ path: String) -> Bool { path.hasPrefix("\(root)/") }

    private func entry(_ path: String) -> DiskOperation.Entry {
        let url = URL(fileURLWithPath: path)
        return .init(names[url.deletingLastPathComponent().path] ?? 0, url.lastPathComponent)
    }

    // MARK: Looking into the process

    /// The file that a descriptor is open on, as a path that can be opened and looked at.
    private func link(_ descriptor: Int, _ call: tracer_call) -> String {
        "/proc/\(call.thread)/fd/\(descriptor)"
    }

    private func node(_ descriptor: Int, _ call: tracer_call) -> Node? {
        status(link(descriptor, call)).flatMap { nodes[Identity($0)] }
    }

    private func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// Where a descriptor is in its file, after the call.
    private func position(_ descriptor: Int, _ call: tracer_call) -> Int {
        let text = try? String(contentsOfFile: "/proc/\(call.thread)/fdinfo/\(descriptor)", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("pos:") }
        return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
    }

    /// A path among a call's arguments.
    ///
    /// - Parameters:
    ///   - folder: the index of the descriptor that it begins at; `AT_FDCWD` where there is none.
    ///   - index: that of the text's address.
    private func path(_ arguments: Arguments, _ folder: some BinaryInteger, _ index: Int) -> String {
        let text = arguments.text(index)
        if text.hasPrefix("/") { return text }
        let descriptor =
            Int(folder) < 0 ? Int(AT_FDCWD) : Int(Int32(truncatingIfNeeded: arguments[Int(folder)]))
        let place = descriptor == Int(AT_FDCWD) ? "cwd" : "fd/\(descriptor)"
        let link = "/proc/\(arguments.thread)/\(place)"
        let start = (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? ""
        return text.isEmpty ? start : "\(start)/\(text)"
    }
}
