package import Foundation
import MigrationDiagnostics

/// Keeps records in a JSON file; see ``MigrationStore/jsonFile(at:movedFrom:)``.
package struct JSONStore: RecordStorage {
    /// The data that must be on the disk before a record says that a step is complete.
    package enum Durability: Sendable {
        /// Everything written to the store's file system, by any process: files that a step wrote without syncing
        /// them survive a power cut if their record does. Costs some milliseconds.
        case fileSystem
        /// Nothing but the record itself: for steps that sync their own files.
        case recordOnly
    }

    /// Where the file is.
    package let url: URL

    /// The file's name.
    package let name: String

    let file: DurableFile
    private let durability: Durability
    /// True if older versions of the app may have had the file elsewhere.
    private let mayHaveMoved: Bool
    /// The contents read last, for the other managers of a launch.
    private let known = Locked<Known?>(nil)

    /// - Parameters:
    ///   - url: the file, which need not exist yet.
    ///   - oldURLs: where older versions of the app had it, the newest first.
    ///   - durability: what must be on the disk before the record; less of it for tests.
    package init(at url: URL, movedFrom oldURLs: [URL] = [], durability: Durability = .fileSystem) throws {
        self.url = url
        name = url.lastPathComponent
        self.durability = durability
        mayHaveMoved = !oldURLs.isEmpty
        file = DurableFile(at: url.resolvingSymlinksInPath())
        if !oldURLs.isEmpty { try moveHere(from: oldURLs) }
    }

    /// True unless there is no folder for the file.
    private var hasFolder: Bool {
        get throws { try access(.read) { try DurableFile(at: file.folder).exists() } }
    }

    private func requireFolder() throws {
        guard try !hasFolder else { return }
        throw MigrationError(
            .misuse, "\(name): the folder \(file.folder.path) does not exist.",
            remedy: "Create it first.")
    }

    private struct Known {
        let contents: StoreState
        let file: FileState
    }

    /// Returns what the file holds.
    ///
    /// Caches the contents of an unchanged file.
    ///
    /// - Parameter manager: the manager that asks.
    /// - Throws: ``MigrationError``, when the file cannot be read or understood.
    package func read(_ manager: String) throws -> StoreState {
        try known.withLock { known in
            if let known, known.file == file.state { return known.contents }
            let (contents, state) = try contentsAndState()
            known = state.map { Known(contents: contents, file: $0) }
            return contents
        }
    }

    static let defaultTimeout: Duration = .seconds(5)

    /// Changes what the file holds, under a short lock that all its writers take.
    ///
    /// If the system replaces the file, but cannot sync its folder, this throws although ``read(_:)`` returns the new
    /// contents; a power cut may bring back the old ones.
    package func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        try withWriteLock(waitingUpTo: limit) {
            var state = try contentsAndState().contents
            try change(&state)
            let lines = try state.newHistory.map { try $0.json() }
            try historyFile.appending(lines, permissions: file.permissions) {
                try file.replace(with: try state.json())
            }
            // If this fails, the new record and its history stay: other processes may have read them.
            try file.syncName()
        }
    }

    /// Tries to lock a manager for a run, with a lock file of its own beside the store.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: ``MigrationError``, when the lock file cannot be created.
    package func lock(_ manager: String) throws -> StoreLock {
        try requireFolder()
        let lock = try access(.write) {
            try FileLock(
                at: file.url.appendingPathExtension("\(manager.asFileName).lock"),
                permissions: file.permissions
            ).take()
        }
        // Under the lock, the file is read again, whatever its state.
        known.withLock { $0 = nil }
        return lock
    }

    /// Returns every settled step of a manager, oldest first.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: ``MigrationError``, when the file of the history cannot be read.
    package func history(_ manager: String) throws -> [SettledStep] {
        try fullHistory().filter { $0.belongs(to: manager) }
    }

    /// Returns every manager's settled steps, oldest first.
    package func fullHistory() throws -> [SettledStep] {
        let contents = try hasFolder ? access(.read) { try historyFile.contents() } ?? Data() : Data()
        // A line that is cut off is the trace of a crash; the record knows better.
        return contents.split(separator: UInt8(ascii: "\n")).compactMap { SettledStep(json: Data($0)) }
    }

    /// The names of the managers that have a record.
    package func managerNames() throws -> [String] {
        try contentsAndState().contents.managerNames
    }

    /// Returns every manager's steps that work in portions and are not complete.
    package func unfinishedSteps() throws -> [UnfinishedStep] {
        try contentsAndState().contents.unfinishedSteps()
    }

    /// Keeps the file as `<file>.damaged-<date>`, and replaces it.
    ///
    /// - Parameter state: the state to begin anew with.
    /// - Throws: ``MigrationError``, when the file cannot be replaced.
    package func setAside(replacingWith state: StoreState) throws {
        try withWriteLock(waitingUpTo: Self.defaultTimeout) {
            var state = state
            // What stands at an old place is no rival of a record that was moved, nor of the one that replaces it. A record that was
            // damaged before has moved as it was.
            let damaged = try? file.contents()
            state.origin =
                damaged.flatMap(StoreState.origin(ofJSON:)) ?? (mayHaveMoved ? damaged.map(Self.origin) : nil)
            try file.keepAside()
            try file.replace(with: try state.json())
            try file.syncName()
        }
    }

    private var historyFile: DurableFile { file.history }

    private func contentsAndState() throws -> (contents: StoreState, state: FileState?) {
        // Nobody has recorded anything yet, or could do so now.
        guard try hasFolder else { return (StoreState(), nil) }
        return try access(.read) {
            guard let (data, state) = try file.contentsAndState() else { return (StoreState(), nil) }
            return (try StoreState(json: data), state)
        }
    }

    func withWriteLock(waitingUpTo limit: Duration, _ body: () throws -> Void) throws {
        try requireFolder()
        try access(.write) {
            // Before the lock: it can take seconds, and others need not wait for it.
            if case .fileSystem = durability { try file.flushFileSystem() }
            try writeLock.withLock(waitingFor: limit, body)
        }
    }

    /// The short lock that all writers of the file take.
    var writeLock: FileLock {
        FileLock(at: file.url.appendingPathExtension("lock"), permissions: file.permissions)
    }

    func access<Result>(_ access: StoreAccess, _ body: () throws -> Result) throws -> Result {
        try access.of(name, at: url.path, body)
    }
}

extension JSONStore {
    /// The default store of an app: `<Application Support>/<bundle identifier>/migrations.json`.
    ///
    /// - Throws: ``MigrationError`` with the code `misuse`, where there is no such place.
    static func inApplicationSupport() throws -> JSONStore {
        func refusal(_ reason: String) -> MigrationError {
            MigrationError(
                .misuse, "There is no default store here: \(reason).",
                remedy: "Pass one: store: .jsonFile(at: url), or .inMemory() in tests and previews.")
        }
        guard !isPurged else {
            throw refusal("tvOS deletes an app's files when it needs space, and the app would look new")
        }
        let environment = ProcessInfo.processInfo.environment
        if Bundle.main.bundleURL.pathExtension == "appex" {
            throw refusal("an app extension shares its app's store, which cannot be guessed")
        }
        if environment["XCTestConfigurationFilePath"] != nil || environment["XCTestBundlePath"] != nil {
            throw refusal("tests must not touch the app's own store")
        }
        if environment["XCODE_RUNNING_FOR_PREVIEWS"] == "1" {
            throw refusal("a preview must not touch the app's own store")
        }
        guard let identifier = Bundle.main.bundleIdentifier else {
            throw refusal("the main bundle has no identifier")
        }
        let folder: URL
        do {
            folder = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true
            ).appendingPathComponent(identifier, isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw MigrationError(
                .misuse, "The app's folder in Application Support cannot be created: \(error).",
                remedy: "Pass a store in a folder that exists: store: .jsonFile(at: url).",
                underlyingError: error)
        }
        return try JSONStore(at: folder.appendingPathComponent("migrations.json"))
    }

    /// True if the system deletes the files of apps that are not running.
    private static var isPurged: Bool {
        #if os(tvOS)
            true
        #else
            false
        #endif
    }
}

extension String {
    /// The text as a part of a file's name, different for different texts.
    package var asFileName: String {
        let safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8
        let escaped = utf8.map { byte in
            safe.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        guard escaped.utf8.count > 100 else { return escaped }
        // File names end at 255 bytes. A hash tells long names apart that begin alike.
        return escaped.prefix(80) + "%" + String(utf8.fnv1a(after: FNV1a.start), radix: 16)
    }
}
