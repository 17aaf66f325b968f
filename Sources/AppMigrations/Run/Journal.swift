import Foundation

/// The changes that a run has to write down in its places, and has not written yet.
///
/// The journal keeps changes, not records: each is made to the record that the place has then. So what others write
/// meanwhile stays, such as a step that its own transaction settled, or how far a deferred step is.
struct Journal {
    /// Writes what was noted; does input and output, on any thread.
    typealias Save = @Sendable () throws -> Void

    fileprivate typealias Change = @Sendable (inout MigrationRecord) -> Void

    fileprivate struct Page {
        let place: any MigrationPlace
        let plan: LaunchPlan.PlacePlan
        var changes: [Change] = []
        var history: [SettledStep] = []
        var hasSeenCurrent: Bool
        /// The record with all changes so far: the first one of the place, or for a place that has lost it since.
        var record: MigrationRecord

        var isWritten: Bool { changes.isEmpty && history.isEmpty && hasSeenCurrent }
    }

    private let request: LaunchRequest
    /// How long a write waits for another writer.
    private let timeout: Duration
    private var pages: [Page]

    /// Opens the journal of a plan.
    ///
    /// Nothing is written yet.
    init(_ plan: LaunchPlan, _ places: [any MigrationPlace], timeout: Duration) {
        let request = plan.request
        self.request = request
        self.timeout = timeout
        pages = zip(plan.places, places).map { plan, place in
            Page(
                place: place, plan: plan,
                hasSeenCurrent: plan.state.hasSeen(request.current, in: request.line), record: plan.record)
        }
        for index in pages.indices where pages[index].record != pages[index].plan.state.record {
            let place = pages[index].plan
            let (launch, due, current) = (place.launch, place.steps.closures, request.current)
            pages[index].changes.append { $0.begin(launch, current: current, due: due) }
            let notNeeded = place.record.settled.subtracting(place.state.record?.settled ?? [])
            pages[index].history = notNeeded.map { settled($0, as: .notNeeded) }
        }
    }

    /// Notes that work is being started.
    ///
    /// - Returns: the number of the attempt, from 1.
    ///
    /// - Parameter hasDied: whether the last run may have died, so that an attempt in the record died in it.
    mutating func start(_ pending: LaunchPlan.PendingStep, hasDied: Bool) -> Int {
        let (work, remaining, request) = (pending.step.work, pending.remaining, request)
        change(pending.place) { $0.start(work, remaining: remaining, by: request, hasDied: hasDied) }
        return pages[pending.place].record.attempts[work]?.number ?? 1
    }

    /// Notes that the last attempt at work died, and is not followed by another one.
    mutating func confirmDeath(in pending: LaunchPlan.PendingStep) {
        let work = pending.step.work
        change(pending.place) { $0.confirmDeath(in: work) }
    }

    /// Notes that work is done: a step is settled; a move and the closures for a version change leave no trace.
    mutating func end(_ pending: LaunchPlan.PendingStep, _ settlement: Settlement) {
        let step = pending.step
        switch step.kind {
        case .transaction, .batches:
            // Its transaction has written it already.
            pages[pending.place].record.settle(step.version)
        case .closure, .deferredClosure:
            change(pending.place) { $0.settle(step.version) }
            pages[pending.place].history.append(settlement.step)
        case .move, .versionChange:
            change(pending.place) { $0.attempts[step.work] = nil }
        }
    }

    /// Notes that another process has settled a step.
    mutating func noteSettled(_ pending: LaunchPlan.PendingStep) {
        pages[pending.place].record.settle(pending.step.version)
    }

    /// Notes that work has thrown.
    ///
    /// - Returns: whether the manager gives up on the step.
    mutating func stop(_ pending: LaunchPlan.PendingStep, isFailure: Bool) -> Bool {
        let step = pending.step
        change(pending.place) { record in
            // A commit can take effect although it reports an error: then the step is done, and has not failed.
            guard step.isMove || step.kind == .versionChange || !record.settled.contains(step.version) else {
                return
            }
            record.stop(step.work)
            if isFailure, step.kind != .versionChange, !step.isMove { record.fail(step) }
        }
        guard isFailure, pages[pending.place].record.hasGivenUp(step) else { return false }
        pages[pending.place].history.append(settled(step.version, as: .skipped))
        return true
    }

    /// Notes that a step is settled without running.
    mutating func skip(_ pending: LaunchPlan.PendingStep) {
        let version = pending.step.version
        change(pending.place) { $0.settle(version) }
        pages[pending.place].history.append(settled(version, as: .skipped))
    }

    /// Notes that the launch is complete without the closures for a version change.
    mutating func skipVersionChange(_ pending: LaunchPlan.PendingStep) {
        let (launch, current, work) = (pages[0].plan.launch, request.current, pending.step.work)
        change(0) { record in
            record.attempts[work] = nil
            record.finish(launch, current: current)
        }
    }

    /// Notes where a deferred step will begin, so that whoever reads the record alone sees that it waits.
    mutating func prepare(_ pending: LaunchPlan.PendingStep, _ position: StepPosition) {
        let version = pending.step.version
        change(pending.place) { record in
            guard !record.settled.contains(version), record.positions[version] == nil else { return }
            record.positions[version] = position
        }
    }

    /// Notes that everything is done.
    mutating func finish() {
        for (index, page) in pages.enumerated() where request.stop == nil {
            let (launch, current) = (page.plan.launch, request.current)
            change(index) { $0.finish(launch, current: current) }
        }
    }

    private mutating func change(_ index: Int, _ change: @escaping Change) {
        let record = pages[index].record
        change(&pages[index].record)
        if pages[index].record != record { pages[index].changes.append(change) }
    }

    private func settled(_ version: AppVersion, as outcome: SettledStep.Outcome) -> SettledStep {
        SettledStep(
            manager: request.manager, version: version, outcome: outcome, date: Date(),
            appVersion: request.current)
    }

    // MARK: Writing

    /// Returns true if a place has written everything.
    func isWritten(_ index: Int) -> Bool { pages[index].isWritten }

    /// Returns a closure that writes everything not written yet.
    ///
    /// - Parameter last: the place where work is being started. It comes last, unless it is the store's first record: when
    ///   another place cannot be written, the work is not started, and must not look as if the process had died in it.
    func saving(last: Int? = nil) -> Save {
        var order = pages.indices.filter { $0 != last } + (last.map { [$0] } ?? [])
        if pages[0].plan.state.record == nil {
            // A database with a record beside a store without one would say that the install has been launched before.
            order = [0] + order.filter { $0 != 0 }
        }
        return saving(order)
    }

    /// Returns a closure that writes what one place has not written yet.
    func saving(only index: Int) -> Save { saving([index]) }

    private func saving(_ order: [Int]) -> Save {
        { [request, timeout, pages = order.map { pages[$0] }.filter { !$0.isWritten }] in
            for page in pages { try page.write(request, timeout) }
        }
    }

    /// Notes that a place has been written, or all places.
    mutating func noteSaved(only: Int? = nil) {
        for index in pages.indices where only == nil || only == index {
            pages[index].changes = []
            pages[index].history = []
            pages[index].hasSeenCurrent = true
        }
    }
}

extension Journal.Page {
    /// Makes the changes in the place: does input and output.
    fileprivate func write(_ request: LaunchRequest, _ timeout: Duration) throws {
        try place.store.change(request.manager, waitingUpTo: timeout) { state in
            try state.changeRecord(of: request.manager) { known in
                guard var record = known else {
                    known = self.record
                    return
                }
                for change in changes { change(&record) }
                known = record
            }
            // Without a record, evidence has named the previous version, or at least that there is one. The next manager
            // would take what this one has found for a new install's own.
            let previous = plan.launch.previousVersion
            let adopted = plan.state.record == nil ? previous : nil
            let versions = [previous, request.current].compactMap { $0 }.filter {
                $0 != .zero || $0 == adopted
            }
            state.see(versions, in: request.line, at: Date(), adopted: adopted)
            state.newHistory = history
        }
    }
}
