import Foundation

/// Stops a run: because it was cancelled, or because the system is about to suspend the process.
final class Interruption: Sendable {
    enum Reason {
        case cancelled
        /// The system is about to suspend the process.
        case suspending
    }

    private struct State {
        var reason: Reason?
        /// The progress of the step that is running.
        var step: Progress?
    }

    private let state = Locked(State())
    private let wasStopped = DispatchSemaphore(value: 0)

    /// The error with which a run stops; nil as long as it may go on.
    func error(manager: String, _ progress: Progress) -> (any Error)? {
        switch state.withLock({ $0.reason }) {
        case .suspending:
            MigrationError(
                .suspended, "the system is about to suspend the app",
                remedy: "Completed steps stay complete. Migrate again when the app is active.",
                manager: manager)
        case .cancelled: CancellationError()
        case nil: progress.isCancelled ? CancellationError() : nil
        }
    }

    /// Makes a step stop with the run.
    ///
    /// Cancels the step's progress, not that of the manager, which could never be used again.
    func attach(_ step: Progress) {
        let isStopped = state.withLock { state in
            state.step = step
            return state.reason != nil
        }
        if isStopped { step.cancel() }
    }

    /// Waits on this thread, until the time is over or the run is to stop.
    func wait(for duration: Duration) {
        guard wasStopped.wait(timeout: .now() + duration.inSeconds) == .success else { return }
        // For whoever waits next.
        wasStopped.signal()
    }

    func stop(_ reason: Reason) {
        let step = state.withLock { state in
            state.reason = reason
            return state.step
        }
        wasStopped.signal()
        step?.cancel()
    }
}
