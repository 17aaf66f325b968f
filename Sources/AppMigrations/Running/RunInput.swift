import Foundation

/// Everything about a manager that a run needs, and that may cross to the run's thread.
final class RunInput: Sendable {
    let registration: Registration
    let request: LaunchRequest
    /// The managers whose steps have come to this one.
    let formers: [FormerManager]
    let role: MigrationOptions.Role
    let progress: Progress
    /// How long to wait for locks and for other writers.
    let patience: Duration
    let memory: LaunchMemory
    let activity = ExpiringActivity.current
    let interruption = Interruption()

    init(
        registration: Registration, request: LaunchRequest, formers: [FormerManager],
        role: MigrationOptions.Role, progress: Progress, patience: Duration, memory: LaunchMemory
    ) {
        self.registration = registration
        self.request = request
        self.formers = formers
        self.role = role
        self.progress = progress
        self.patience = patience
        self.memory = memory
    }

    var manager: String { request.manager }
    var store: any RecordStorage { registration.storePlace.store }

    /// The error with which a run ends early; nil unless it was cancelled, or the system is about to suspend the process.
    var reasonToStop: (any Error)? { interruption.error(manager: manager, progress) }

    /// Throws if the run has to end early.
    func checkStopped() throws { if let reasonToStop { throw reasonToStop } }

    /// Takes the lock of launches, and waits while another run holds it.
    ///
    /// - Throws: ``MigrationError`` with the code `locked`, when the time is up; the reason to stop.
    func lock() throws -> RunLock {
        let held = try store.lock(manager, waitingUpTo: patience, unless: checkStopped) {
            RunLock.timeout(manager, $0, patience)
        }
        return RunLock(manager, held, in: activity, stop: interruption.suspend)
    }
}
