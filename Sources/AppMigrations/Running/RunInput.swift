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

    /// Returns the error with which the run ends, if it ends because of what something has thrown; nil for a failure.
    ///
    /// The type of an error says nothing by itself: the task or the work must have been cancelled.
    func reason(for error: any Error, isCancelled: Bool = false) -> (any Error)? {
        if let reasonToStop { return reasonToStop }
        return (isCancelled || Task.isCancelled) && error is CancellationError ? error : nil
    }

    /// Reads every place.
    func readStates() throws -> [PlaceState] {
        try registration.readStates(following: formers).map { try $0.get() }
    }

    /// Plans a launch of places as they are, or as they will be.
    ///
    /// What `adopting` or a condition throws because the run was cancelled meanwhile is no fault of theirs.
    ///
    /// - Parameters:
    ///   - answer: the app's answer about data without a record; nil until it has been asked.
    ///   - next: the step that comes next, in a launch that has begun.
    ///   - note: is called with the error of a condition that throws; if it returns, the condition holds.
    func plan(
        _ states: [PlaceState], _ answer: inout AdoptionAnswer?, _ caller: Caller,
        before next: LaunchPlan.PendingStep? = nil,
        orNote note: (MigrationError) throws -> Void = { throw $0 }
    ) throws -> LaunchPlan {
        func needed(_ states: [PlaceState]) throws -> [MigrationStep] {
            try registration.needed(states, before: next?.step, caller.isNeeded, orNote: note)
        }
        func plan(again needed: [MigrationStep]) throws -> LaunchPlan {
            try LaunchPlan(
                request, states, of: registration.due, again: needed, deadlines: registration.deadlines,
                answer: &answer, asking: caller.adoption)
        }
        do {
            let known = try needed(states)
            let found = try plan(again: known)
            guard registration.hasConditions, found.places.contains(where: \.hasNewConditions) else {
                return found
            }
            // A record that begins, or that steps come to, says which of them count as done.
            let begun = found.places.map { $0.record.map($0.state.with) ?? $0.state }
            return try plan(again: known + needed(begun))
        } catch {
            throw reason(for: (error as? MigrationError)?.underlyingError ?? error) ?? error
        }
    }
}
