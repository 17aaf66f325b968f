public import Foundation

/// A store in a JSON file, for machines and people to read.
///
/// The file is replaced as a whole, so that it is never seen half-written, and survives a power cut. Beside it
/// stand lock files, `<file>.lock` and one for each manager, and `<file>.history`, a line of JSON for each step
/// that was settled. They may be removed while no app is running.
public struct JSONStore: HistoryStore, RecoverableStore {
    /// What must be on the disk before a record says that it is done.
    public enum Barrier: Sendable {
        /// Everything that was written on the store's file system, by anyone: files that a step wrote without
        /// syncing them are there when the record says that the step is done. Costs some milliseconds.
        case fileSystem
        /// Nothing but the record itself: for steps that sync their own files.
        case none
    }

    /// Where the file is.
    public let url: URL

    private let file: DurableFile
    private let barrier: Barrier
    /// How long writing waits for another writer.
    var guardLimit: Duration = .seconds(5)
    /// What was read last, for the other managers of a launch.
    private let known = Locked<Known?>(nil)

    /// Creates a store in a file, which need not exist yet.
    ///
    /// - Parameters:
    ///   - url: a file in a folder that exists. Not in a folder that the system may clear, such as Caches:
    ///     an install whose record is gone looks like a fresh one.
    ///   - barrier: what must be on the disk before a record says that it is done.
    /// - Throws: ``MigrationError``, `noStoreLocation`, when there is no such folder.
    public init(at url: URL, barrier: Barrier = .fileSystem) throws {
        var isFolder: ObjCBool = false
        let folder = url.deletingLastPathComponent()
        guard url.isFileURL, FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder),
            isFolder.boolValue
        else {
            throw MigrationError(
                .noStoreLocation, "\(url.lastPathComponent): the folder \(folder.path) does not exist.",
                remedy: "Create the folder before the store.")
        }
        self.url = url
        self.barrier = barrier
        file = DurableFile(at: url.resolvingSymlinksInPath())
    }

    /// The file's name.
    public var name: String { url.lastPathComponent }

    private struct Known {
        let document: RecordDocument
        let state: FileState
    }

    /// Returns what the file says that concerns one manager.
    ///
    /// Does not read again what has certainly not changed.
    public func read(_ manager: String) throws -> StoreState {
        try known.withLock { known in
            if let known, known.state == file.state { return try known.document.state(of: manager) }
            let (document, state) = try documentAndState()
            known = state.map { Known(document: document, state: $0) }
            return try document.state(of: manager)
        }
    }

    /// Changes what concerns one manager, under a short lock that all writers of the file take.
    public func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        try writing {
            try FileLock(at: file.url.appendingPathExtension("lock")).withLock(waitingFor: guardLimit) {
                var document = try document()
                var state = try document.state(of: manager)
                try change(&state)
                try document.replaceState(of: manager, with: state)
                for step in state.newHistory {
                    try history.append(line: try HistoryEntry(step, manager: manager).json())
                }
                try file.replace(with: try document.data(), barrier: barrier)
            }
        }
    }

    /// Tries to lock a manager for a run, by a lock file of its own beside the store.
    public func lock(_ manager: String) throws -> StoreLock {
        let lock = try writing {
            try FileLock(at: file.url.appendingPathExtension("\(manager.asFileName).lock")).take()
        }
        // Under the lock, the file is read again, whatever its state.
        known.withLock { $0 = nil }
        return lock
    }

    /// Every step of a manager that was settled, in the order of time.
    public func history(_ manager: String) throws -> [SettledStep] {
        try historyEntries().compactMap { $0.step(of: manager) }
    }

    /// Every manager's steps that were settled, in the order of time.
    package func historyEntries() throws -> [HistoryEntry] {
        let contents = try reading { try history.contents() } ?? Data()
        // A line that is cut off is the trace of a crash; the record knows better.
        return contents.split(separator: UInt8(ascii: "\n")).compactMap { HistoryEntry(json: Data($0)) }
    }

    /// The managers that have a record, by name.
    package func managerNames() throws -> [String] {
        try document().managerNames
    }

    /// Keeps the file as `<file>.damaged-<date>`, and replaces it.
    public func setAside(replacing manager: String, with state: StoreState) throws {
        try writing {
            try FileLock(at: file.url.appendingPathExtension("lock")).withLock(waitingFor: guardLimit) {
                try file.keepAside()
                var document = RecordDocument(place: name)
                try document.replaceState(of: manager, with: state)
                try file.replace(with: try document.data(), barrier: barrier)
            }
        }
    }

    private var history: DurableFile {
        DurableFile(at: file.url.appendingPathExtension("history"))
    }

    private func document() throws -> RecordDocument {
        try documentAndState().document
    }

    private func documentAndState() throws -> (document: RecordDocument, state: FileState?) {
        guard let (contents, state) = try reading({ try file.contentsAndState() }) else {
            return (RecordDocument(place: name), nil)
        }
        return (try RecordDocument(contents, place: name), state)
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw MigrationError(
                .unreadableStore, "\(name) cannot be read: \(Self.reason(error)) (\(url.path)).",
                remedy:
                    "It is not known what has run, so nothing was run. Make the file readable, and launch again.",
                underlyingError: error)
        }
    }

    private func writing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as LockTimeout {
            throw MigrationError(
                .locked, "\(name) is being written by \(error.holder), for more than \(error.limit) now.",
                remedy: "Launch again when that process has gone on or ended.")
        } catch let error as POSIXError {
            throw MigrationError(
                .unwritableStore, "\(name) cannot be written: \(Self.reason(error)) (\(url.path)).",
                remedy: "Make the folder writable and see that the disk is not full, and launch again.",
                underlyingError: error)
        }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? POSIXError)?.reason ?? "\(error)"
    }
}

extension String {
    /// The text as a part of a file's name, different for different texts.
    package var asFileName: String {
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8)
        let escaped = utf8.map { byte in
            safe.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        guard escaped.utf8.count > 100 else { return escaped }
        // File names end at 255 bytes. FNV-1a tells long names apart that begin alike.
        let hash = utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return escaped.prefix(80) + "%" + String(hash, radix: 16)
    }
}
