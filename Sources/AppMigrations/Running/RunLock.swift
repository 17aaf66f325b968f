import Foundation

/// A manager's lock for one run, and the system's leave to finish the run before it suspends the process.
///
/// The lock is released with ``release()``, or when the run does not stop although the time has expired.
final class RunLock: Sendable {
    private let hasDied: Bool
    private let unlock: @Sendable (_ isEnd: Bool) -> Void
    private let endActivity: @Sendable () -> Void
    private let isEnd = Locked(true)

    /// - Parameter stop: makes the run stop, before the system suspends the process.
    init(
        _ name: String, _ lock: HeldLock, in activity: ExpiringActivity = .current,
        stop: @escaping @Sendable () -> Void = {}
    ) {
        hasDied = lock.hasDied
        let release = lock.release
        let isHeld = Locked(true)
        let unlock: @Sendable (_ isEnd: Bool) -> Void = { isEnd in
            // Once: somebody else may hold the lock by a second call.
            let wasHeld = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            guard wasHeld else { return }
            if isEnd { release() } else { release.abandon() }
        }
        self.unlock = unlock
        // The process may be killed while it is suspended, and that is a death.
        endActivity = activity.begin(name, stop: stop) { unlock(false) }
    }

    func release() {
        unlock(isEnd.withLock { $0 })
        endActivity()
    }

    /// Makes ``release()`` leave the lock as its last holder did, who has died: whoever takes it next finds deaths.
    func leaveEvidence() { isEnd.withLock { $0 = false } }

    /// Finds deaths if the last holder of the lock may have died in its run.
    ///
    /// If they cannot be written down, the lock is released, and whoever takes it next finds them.
    func findDeaths(_ find: () throws -> Void) throws {
        guard hasDied else { return }
        do {
            try find()
        } catch {
            unlock(false)
            endActivity()
            throw error
        }
    }

    /// Takes the lock of launches, and waits on this thread while another run holds it.
    ///
    /// - Throws: ``MigrationError`` with the code `locked`, when the time is up; what `check` throws.
    static func take(
        _ manager: String, of store: any RecordStorage, waitingFor limit: Duration,
        unless check: () throws -> Void = {}, in activity: ExpiringActivity = .current,
        elseAdvising remedy: String = "Launch again when it has finished, or raise the option `lockTimeout`.",
        stop: @escaping @Sendable () -> Void = {}
    ) throws -> RunLock {
        let held = try store.lock(manager, waitingUpTo: limit, unless: check) { holder in
            MigrationError(
                .locked, "\(holder) is migrating, and did not finish within \(limit)",
                remedy: remedy, manager: manager)
        }
        return RunLock(manager, held, in: activity, stop: stop)
    }
}

/// The names of a manager's further locks: no manager's own name has a NUL.
package enum LockName {
    /// Returns whether a name is that of a manager, whose lock its launches take.
    package static func isOfLaunch(_ name: String) -> Bool { !name.utf8.contains(0) }

    /// Held by the one run of `runDeferred`, from its beginning to its end.
    static func deferredRun(of manager: String) -> String { "\(manager)\0deferred" }

    /// Held during a batch, or the whole of a deferred closure, by a launch or a deferred run.
    static func deferredStep(of manager: String) -> String { "\(manager)\0batch" }
}
