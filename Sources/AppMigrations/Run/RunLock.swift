import Foundation

/// A manager's lock for one run, and the system's leave to finish the run before it suspends the process.
///
/// The lock is released with ``release()``, or when the run does not stop although the time has expired.
final class RunLock: Sendable {
    let interruption = Interruption()
    private let unlock: @Sendable () -> Void
    private let endActivity: @Sendable () -> Void

    private init(_ name: String, _ release: @escaping @Sendable () -> Void) {
        let isHeld = Locked(true)
        let unlock: @Sendable () -> Void = {
            // Once: somebody else may hold the lock by a second call.
            let wasHeld = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            if wasHeld { release() }
        }
        self.unlock = unlock
        endActivity = ExpiringActivity.current.begin(
            name, stop: interruption.suspend, abandon: unlock)
    }

    func release() {
        unlock()
        endActivity()
    }

    /// Takes the lock, and waits on this thread while another run holds it.
    ///
    /// - Throws: ``MigrationError`` with the code `locked`, when the time is up.
    static func take(
        _ manager: String, of store: any MigrationStore, waitingFor limit: Duration
    ) throws -> RunLock {
        let release = try store.lock(manager, waitingUpTo: limit) { timeout(manager, $0, limit) }
        return RunLock(manager, release)
    }

    /// Takes the lock, and waits without blocking the actor while another run holds it.
    ///
    /// - Throws: ``MigrationError`` with the code `locked`, when the time is up; `CancellationError`.
    static func take(
        _ manager: String, of store: any MigrationStore, waitingFor limit: Duration,
        isolation: isolated (any Actor)?
    ) async throws -> RunLock {
        let deadline = ContinuousClock.now + limit
        while true {
            switch try await offload({ try store.lock(manager) }) {
            case .acquired(let release): return RunLock(manager, release)
            case .held(let holder):
                guard ContinuousClock.now < deadline else { throw timeout(manager, holder, limit) }
                try await Task.sleep(for: .milliseconds(.random(in: 2...10)))
            }
        }
    }

    /// Takes the lock if nobody holds it.
    ///
    /// Any thread.
    static func takeIfFree(_ name: String, of store: any MigrationStore) throws -> RunLock? {
        switch try store.lock(name) {
        case .acquired(let release): RunLock(name, release)
        case .held: nil
        }
    }

    private static func timeout(_ manager: String, _ holder: String, _ limit: Duration) -> MigrationError {
        MigrationError(
            .locked, "\(holder) is migrating, and did not finish within \(limit)",
            remedy: "Launch again when it has finished, or raise the option `lockTimeout`.", manager: manager)
    }
}
