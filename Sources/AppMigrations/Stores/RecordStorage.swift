import Foundation

/// What keeps the records of managers, behind a ``MigrationStore``.
///
/// It keeps one opaque value, its ``StoreState``, as bytes. Its methods may be called on any thread, and by
/// several processes at once.
///
/// - **Unreadable is not absent.** `read` returns an empty state only if nothing was ever kept. Whatever
///   cannot be read or understood is a ``MigrationError`` with the code `unreadableStore`, `damagedStore` or
///   `newerThanThisProcess`: otherwise the manager would take an old install for a fresh one, and lose data.
/// - **Durable means durable.** When `update` returns, its change survives a power cut; when it throws,
///   nothing has changed.
package protocol RecordStorage: Sendable {
    /// The name that messages use: a file's name, for instance.
    var name: String { get }

    /// Returns what is kept. Neither writes nor locks.
    ///
    /// - Parameter manager: the manager that asks. The records of all others may be left out.
    /// - Throws: ``MigrationError``, when the contents cannot be read or understood.
    func read(_ manager: String) throws -> StoreState

    /// Reads the state, changes it, and writes it back: atomically, durably, and with no other change in between.
    ///
    /// - Parameters:
    ///   - manager: the manager that asks.
    ///   - limit: the longest time to wait for another writer.
    ///   - change: when it throws, nothing is written. It is called again if readers keep its commit waiting. The state's
    ///     ``StoreState/newHistory`` is appended to the history.
    /// - Throws: ``MigrationError``, or the error of the change; nothing is written then.
    func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws

    /// Makes sure that the files survive a power cut that a closure has written, which is about to be recorded as done.
    ///
    /// - Throws: ``MigrationError``, when the system cannot do it.
    func syncFiles() throws

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

    /// Returns every settled step of a manager, oldest first.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: ``MigrationError``, when the history cannot be read.
    func history(_ manager: String) throws -> [SettledStep]

    /// Sets damaged contents aside, under a dated name, and begins anew with a state: at once, so that no crash in
    /// between leaves a store that looks as if it had never been used.
    ///
    /// - Parameter state: the state to begin anew with.
    /// - Throws: ``MigrationError``, when the contents cannot be set aside.
    func setAside(replacingWith state: StoreState) throws
}

// What a manager does with its storage; errors of every kind become a ``MigrationError`` that names the store.
extension RecordStorage {
    package func syncFiles() throws {}

    /// Returns the record of one manager.
    package func record(of manager: String) throws -> MigrationRecord? {
        try StoreAccess.read.of(name) { try read(manager).record(of: manager) }
    }

    /// Takes a lock, and waits on this thread while another run holds it.
    ///
    /// - Parameters:
    ///   - limit: the longest time to wait.
    ///   - sharesOwn: whether a lock that another run of this process holds counts as taken.
    ///   - check: throws if nobody waits for the lock any more.
    ///   - timeout: makes the error for when the time is over, from the holder.
    func lock(
        _ name: String, waitingUpTo limit: Duration, sharesOwn: Bool = false,
        unless check: () throws -> Void = {}, timeout: (_ holder: LockHolder) -> MigrationError
    ) throws -> HeldLock {
        let deadline = ContinuousClock.now + limit
        while true {
            try check()
            let lock = try lock(name)
            if let held = lock.held { return held }
            if case .held(let holder) = lock {
                if sharesOwn, holder == .thisProcess {
                    return HeldLock(hasDied: false, release: LockRelease { _ in })
                }
                if deadline <= .now { throw timeout(holder) }
            }
            Thread.sleep(forTimeInterval: .random(in: 0.002...0.01))
        }
    }

    /// Changes what is kept; see ``update(_:waitingUpTo:_:)``.
    package func change(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        try StoreAccess.write.of(name) { try update(manager, waitingUpTo: limit, change) }
    }
}
