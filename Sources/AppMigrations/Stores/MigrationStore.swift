import Foundation
import MigrationDiagnostics

/// A place that keeps the records of managers.
///
/// One store serves any number of managers. ``JSONStore`` is a file, ``InMemoryStore`` is for tests, and
/// `SQLiteStore` (in SchemaMigrations) is a SQLite database.
///
/// ## Implementing a store
///
/// A store keeps one opaque value, its ``StoreState``, as bytes. Its methods may be called on any thread, and by
/// several processes at once.
///
/// - **Unreadable is not absent.** `read` returns an empty state only if the store is known to hold none. Whatever
///   cannot be read or understood is a ``MigrationError`` with the code `unreadableStore`, `damagedStore` or
///   `newerFormat`: otherwise the manager would take an old install for a fresh one, and lose data.
/// - **Durable means durable.** When `update` returns, its change survives a power cut; when it throws,
///   nothing has changed.
///
/// `StoreConformance` (in MigrationTesting) tests all of it:
///
/// ```swift
/// import MigrationTesting
///
/// try StoreConformance { folder in try MyStore(in: folder) }.check()
/// ```
public protocol MigrationStore: Sendable {
    /// The name that messages use: a file's name, for instance.
    var name: String { get }

    /// Returns what the store keeps. Neither writes nor locks.
    ///
    /// - Parameter manager: the manager that asks. A store may leave out the records of all others.
    /// - Throws: ``MigrationError``, when the contents cannot be read or understood.
    func read(_ manager: String) throws -> StoreState

    /// Reads the state, changes it, and writes it back: atomically, durably, and with no other change in between.
    ///
    /// - Parameters:
    ///   - manager: the manager that asks.
    ///   - change: is called once; when it throws, nothing is written. Append the state's
    ///     ``StoreState/newHistory`` to the history, if the store keeps one.
    /// - Throws: ``MigrationError``, or the error of the change; nothing is written then.
    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws

    /// Tries to lock a manager for a run, without waiting.
    ///
    /// Deferred steps take further locks, each under the manager's name with a NUL and a word after it. All bytes of a
    /// name count.
    ///
    /// The lock excludes other objects, threads and processes that lock the same manager; `read` and `update` do
    /// not need it. It must die with its process.
    ///
    /// - Parameter manager: the name of the manager, or a longer one that begins with it.
    /// - Throws: ``MigrationError``, when the store cannot be written.
    func lock(_ manager: String) throws -> StoreLock

    /// Returns every settled step of a manager, oldest first. By default, a store keeps no history.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: ``MigrationError``, when the history cannot be read.
    func history(_ manager: String) throws -> [SettledStep]

    /// Sets damaged contents aside, under a dated name, and begins anew with a state: at once, so that no crash in
    /// between leaves a store that looks as if it had never been used.
    ///
    /// By default, throws a ``MigrationError``: the store cannot do so.
    ///
    /// - Parameter state: the state to begin anew with.
    /// - Throws: ``MigrationError``, when the store cannot do so.
    func setAside(replacingWith state: StoreState) throws
}

extension MigrationStore {
    /// Returns nothing: the store keeps no history.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: nothing.
    public func history(_ manager: String) throws -> [SettledStep] { [] }

    /// Throws: the store cannot set its contents aside.
    ///
    /// - Parameter state: the state to begin anew with.
    /// - Throws: ``MigrationError``, always.
    public func setAside(replacingWith state: StoreState) throws {
        throw MigrationError(
            .damagedStore, "\(name) is damaged, and this kind of store cannot set its contents aside.",
            remedy: "Remove the contents by hand, or implement setAside(replacingWith:) in the store.")
    }
}

/// A store whose writers wait for each other.
package protocol WaitingStore: MigrationStore {
    /// Changes the state; see ``MigrationStore/update(_:_:)``.
    ///
    /// - Parameter limit: the longest time to wait for another writer.
    func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws
}

// What a manager does with its stores; errors of every kind become a ``MigrationError`` that names the store.
extension MigrationStore {
    /// Returns the record of one manager.
    package func record(of manager: String) throws -> MigrationRecord? {
        try StoreAccess.read.of(name) { try read(manager).record(of: manager) }
    }

    /// Takes a lock, and waits on this thread while another run holds it.
    ///
    /// - Parameters:
    ///   - limit: the longest time to wait.
    ///   - timeout: makes the error for when that is over, from a description of the holder.
    func lock(
        _ name: String, waitingUpTo limit: Duration, timeout: (_ holder: String) -> MigrationError
    ) throws -> HeldLock {
        let deadline = ContinuousClock.now + limit
        while true {
            switch try lock(name) {
            case .acquired(let wasReleased, let release):
                return HeldLock(hasDied: !wasReleased, release: release)
            case .held(let holder):
                guard ContinuousClock.now < deadline else { throw timeout(holder) }
                Thread.sleep(forTimeInterval: .random(in: 0.002...0.01))
            }
        }
    }

    /// Changes what the store keeps; see ``update(_:_:)``.
    ///
    /// - Parameter limit: the longest time to wait for another writer, if the store's writers wait.
    package func change(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        try StoreAccess.write.of(name) {
            if let store = self as? any WaitingStore {
                try store.update(manager, waitingUpTo: limit, change)
            } else {
                try update(manager, change)
            }
        }
    }
}

/// A way to use a store.
package enum StoreAccess: Sendable {
    case read
    case write

    fileprivate var code: MigrationError.Code {
        switch self {
        case .read: .unreadableStore
        case .write: .unwritableStore
        }
    }

    fileprivate var problem: String {
        switch self {
        case .read: "cannot be read"
        case .write: "cannot be written"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .read:
            "Nothing was run, because the store says which steps have run. Make it readable, then launch again."
        case .write: "Make it writable, then launch again. A step that was not recorded runs again."
        }
    }

    /// Reads or writes a store: what goes wrong becomes a ``MigrationError`` that names the store.
    ///
    /// - Parameters:
    ///   - name: the store's name.
    ///   - path: the file in question, if the name does not tell it.
    package func of<Result>(_ name: String, at path: String? = nil, _ body: () throws -> Result) throws
        -> Result
    {
        do {
            return try body()
        } catch {
            throw failure(error, of: name, at: path)
        }
    }

    /// Returns an error as one that names the store.
    private func failure(_ error: any Error, of name: String, at path: String?) -> any Error {
        switch error {
        case let error as MigrationError:
            return error.located(at: .store(name))
        case let error as DecodingError:
            return MigrationError.damagedStore("not a record", underlyingError: error).located(
                at: .store(name))
        case let error as LockTimeout:
            return MigrationError(
                .locked,
                Diagnostic(
                    at: .store(name), "locked by \(error.holder) for more than \(error.limit)",
                    remedy: "Launch again when that process has resumed or exited."))
        case is any SystemError, is CocoaError:
            let obstacle = Obstacle(error)
            let reason = (error as? any SystemError)?.reason ?? "\(error)"
            return MigrationError(
                // That a store cannot be written has a code of its own.
                obstacle.flatMap { $0 == .readOnly ? nil : $0.code } ?? code,
                Diagnostic(
                    at: .store(name), "\(problem): \(reason)\(path.map { " (\($0))" } ?? "")",
                    remedy: obstacle?.remedy ?? (error as? any SystemError)?.ownRemedy ?? remedy),
                underlyingError: error)
        default:
            return error
        }
    }
}

/// A lock that has been taken.
struct HeldLock: Sendable {
    /// True if the last holder may have died while it held the lock.
    let hasDied: Bool
    let release: @Sendable () -> Void
}

extension StoreLock {
    /// The lock; nil if somebody else holds it.
    var held: HeldLock? {
        switch self {
        case .acquired(let wasReleased, let release): HeldLock(hasDied: !wasReleased, release: release)
        case .held: nil
        }
    }
}

/// The result of an attempt to lock a manager.
public enum StoreLock: Sendable {
    /// The lock is held until the closure is called.
    ///
    /// `wasReleased` is true if the last holder released the lock, so that it has not died while it held it. Leave it out
    /// if the store cannot know.
    case acquired(wasReleased: Bool = false, release: @Sendable () -> Void)

    /// Somebody else holds the lock. Says who, as far as that is known: `process 417`.
    case held(by: String)
}
