import Foundation

/// The state of each place's record during a run, and how much of it the place has written.
struct LaunchJournal {
    /// Writes what was noted; does input and output, on any thread.
    typealias Save = @Sendable () throws -> Void

    private struct Page {
        let place: LaunchPlan.PlacePlan
        var record: MigrationRecord
        var written: MigrationRecord?
        var hasSeenCurrent: Bool
        var history: [SettledStep]
    }

    private let plan: LaunchPlan
    /// How long a write waits for another writer.
    let writeTimeout: Duration
    private var pages: [PlaceID: Page] = [:]
    /// The work that the record named as running before this one was started.
    private var runningBefore: MigrationRecord.Running?

    /// Opens the journal of a plan.
    ///
    /// Nothing is written yet.
    init(_ plan: LaunchPlan, writeTimeout: Duration) {
        self.plan = plan
        self.writeTimeout = writeTimeout
        for place in plan.places {
            let notNeeded = place.record.settled.subtracting(place.state.record?.settled ?? [])
            pages[place.place.id] = Page(
                place: place, record: place.record, written: place.state.record,
                hasSeenCurrent: place.state.hasSeen(plan.request.current, in: plan.request.line),
                history: notNeeded.map { plan.request.settled($0, as: .notNeeded) })
        }
    }

    /// The kind of launch that this is for a step's place.
    func launch(for step: MigrationStep) -> Launch? { pages[step.place.id]?.place.launch }

    /// The number of the attempt at a step that was started, from 1.
    func attempt(at step: MigrationStep) -> Int { pages[step.place.id]?.record.running?.attempt ?? 1 }

    /// Notes that work is being started in a place.
    mutating func start(_ work: MigrationRecord.Running, in place: PlaceID) {
        runningBefore = pages[place]?.record.running
        pages[place]?.record.start(work)
    }

    /// Notes that a move or a closure for a version change is done.
    mutating func end(in place: PlaceID) {
        guard let ended = pages[place]?.record.running else { return }
        pages[place]?.record.running = runningBefore.flatMap { $0.isSameWork(as: ended) ? nil : $0 }
    }

    /// Notes that a step, which is no move, is done.
    mutating func settle(_ step: MigrationStep, _ settlement: Settlement) {
        let id = step.place.id
        if step.settlesItself {
            // The transaction has written it already.
            pages[id]?.written?.settle(step.version)
        } else {
            pages[id]?.history.append(settlement.step)
        }
        // If a later step has died before, this one, which was added since, must not make that forgotten.
        if !step.isDeferred { end(in: id) }
        pages[id]?.record.settle(step.version)
    }

    /// Notes that a running step has got further than in its earlier attempts, which no longer count.
    mutating func forgive(_ step: MigrationStep) {
        // Another step that died before has not got further by this one's checkpoint.
        guard runningBefore?.work == .step, runningBefore?.version == step.version else { return }
        let attempt = attempt(at: step)
        runningBefore?.forgiven = attempt - 1
    }

    /// Notes that the work started last in a place has thrown.
    mutating func fail(in place: PlaceID) {
        // The process has not died in it: the deaths before are all there is to count.
        pages[place]?.record.running = runningBefore
    }

    /// Counts that a best-effort step has thrown.
    ///
    /// - Returns: whether that was the last time: then the step is settled as skipped.
    mutating func countFailure(of step: MigrationStep, upTo limit: Int) -> Bool {
        let id = step.place.id
        let count =
            min(pages[id]?.record.failures[step.version] ?? 0, MigrationRecord.maximumFailures - 1) + 1
        pages[id]?.record.failures[step.version] = count
        guard count >= limit else { return false }
        pages[id]?.record.settle(step.version)
        pages[id]?.history.append(plan.request.settled(step.version, as: .skipped))
        return true
    }

    /// Notes that everything is done.
    mutating func finish() {
        for (id, page) in pages {
            pages[id]?.record = plan.ending(page.record, by: page.place.launch)
        }
        // Whoever reads the record alone sees that they wait.
        for waiting in plan.deferred {
            pages[waiting.step.place.id]?.record.deferred[waiting.step.version] = waiting.deferred
        }
    }

    /// Returns a closure that writes everything not written yet, in every place.
    ///
    /// - Parameter last: the place where work is being started. It comes last: when another place cannot be
    /// written, the work is not started, and must not look as if the process had died in it.
    func saving(last: PlaceID? = nil) -> Save {
        let ids = plan.places.map(\.place.id)
        let unwritten = (ids.filter { $0 != last } + ids.filter { $0 == last })
            .compactMap { pages[$0] }
            .filter { $0.record != $0.written || !$0.hasSeenCurrent }
            .map { (place: $0.place, record: $0.record, history: $0.history) }
        return { [request = plan.request, writeTimeout] in
            for (place, record, history) in unwritten {
                try place.place.store.change(request.manager, waitingUpTo: writeTimeout) { state in
                    try state.changeRecord(of: request.manager) { known in
                        // A step that was settled in its own transaction stays settled, even if this run does not
                        // know of it: two stores may share a database.
                        known = record.keeping(known)
                    }
                    place.noteSeen(in: &state, request)
                    state.newHistory = history
                }
            }
        }
    }

    /// Notes that everything has been written.
    mutating func noteSaved() {
        for (id, page) in pages {
            pages[id]?.written = page.record
            pages[id]?.hasSeenCurrent = true
            pages[id]?.history = []
        }
    }
}
