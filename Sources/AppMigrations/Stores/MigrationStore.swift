public import Foundation

/// Where records live.
///
/// One store serves any number of managers. ``JSONStore`` is a file, ``InMemoryStore`` is for tests, and
/// `SQLiteStore` (in SchemaMigrations) is a SQLite database.
///
/// ## Implementing a store
///
/// The three requirements may be called on any thread, and by several processes at once.
///
/// - **Unreadable is not absent.** `read` returns no record only when there certainly is none. Whatever
///   cannot be read or understood is a ``MigrationError`` with the code `unreadableStore`, `damagedStore` or
///   `newerFormat`: the manager would take an old install for a fresh one, and lose data.
/// - **Durable means durable.** When `update` returns, its change survives a power cut; when it throws,
///   nothing has changed.
public protocol MigrationStore: Sendable {
    /// How messages call the store: a file's name, for instance.
    var name: String { get }

    /// Returns what the store knows that concerns one manager. Neither writes nor locks.
    ///
    /// - Throws: ``MigrationError``, when that cannot be told.
    func read(_ manager: String) throws -> StoreState

    /// Reads what concerns one manager, changes it, and writes it back: atomically, durably, and with nobody
    /// else's change in between.
    ///
    /// - Parameters:
    ///   - manager: the manager's name.
    ///   - change: is called once; when it throws, nothing is written.
    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws

    /// Tries to lock a manager for a run, without waiting.
    ///
    /// The lock excludes other objects, threads and processes that want to lock the same manager; `read` and
    /// `update` do not ask for it. It must die with its process.
    func lock(_ manager: String) throws -> StoreLock
}

/// A store whose contents can be set aside when they are damaged.
public protocol RecoverableStore: MigrationStore {
    /// Gives what the store holds a dated name, and begins anew with what concerns one manager: at once, so that
    /// no crash in between leaves a store that looks as if it had never been used.
    func setAside(replacing manager: String, with state: StoreState) throws
}

/// What a store knows that concerns one manager.
public struct StoreState: Sendable, Hashable {
    /// What is remembered about the manager; nil when there certainly is no record.
    public var record: MigrationRecord?

    /// The app versions that the store has seen, for all its managers, by line; each line in the order in
    /// which they were seen.
    public var seen: [String: [SeenVersion]]

    /// What has become of steps by this change, for stores that keep a history.
    ///
    /// Empty when the state is read.
    public var newHistory: [SettledStep] = []

    /// Creates a state; by default that of a store that has never been used.
    public init(record: MigrationRecord? = nil, seen: [String: [SeenVersion]] = [:]) {
        self.record = record
        self.seen = seen
    }

    /// Notes that a version has been seen, unless it is known.
    package mutating func see(_ versions: [AppVersion], in line: String, at date: Date) {
        for version in versions where !hasSeen(version, in: line) {
            seen[line, default: []].append(SeenVersion(version: version, first: date))
        }
    }

    package func hasSeen(_ version: AppVersion, in line: String) -> Bool {
        seen[line, default: []].contains { $0.version == version }
    }
}

/// An app version that a store has seen.
public struct SeenVersion: Sendable, Hashable {
    /// The version.
    public let version: AppVersion
    /// When it was seen first.
    public let first: Date

    /// Creates a note of a version that has been seen.
    public init(version: AppVersion, first: Date) {
        self.version = version
        self.first = first
    }
}

/// What came of the attempt to lock a manager.
public enum StoreLock: Sendable {
    /// The lock is held until the closure is called.
    case acquired(release: @Sendable () -> Void)

    /// Somebody else holds the lock. Says who, as far as that is known: `process 417`.
    case held(by: String)
}
