import Foundation

/// The changes that a run has to write down in its places, and has not written yet.
///
/// The journal keeps changes, not records: each is made to the record that the place has then. So what others write
/// meanwhile stays, such as a step that its own transaction settled, or how far a deferred step is.
struct Journal {
    fileprivate struct Page {
        let plan: LaunchPlan.PlacePlan
        let isStore: Bool
        var changes: [RecordChange] = []
        var history: [SettledStep] = []
        var hasSeenCurrent: Bool
        /// True until the place has its first record.
        var isFirstRecord: Bool
        /// Identifies the place, once it has a record.
        var id: String?
        /// True until the record is that of the manager's store, which has just been made and finds it in a database.
        var isToBeTakenOver: Bool
        /// The record with all changes so far; nil where the manager does not begin.
        var record: MigrationRecord?

        var isWritten: Bool { changes.isEmpty && history.isEmpty && hasSeenCurrent && !isToBeTakenOver }
    }

    private let plan: LaunchPlan
    /// How long a write waits for another writer.
    private let timeout: Duration
    private var pages: [Page]

    private var request: LaunchRequest { plan.request }

    /// Opens the journal of a plan.
    ///
    /// Nothing is written yet.
    init(_ plan: LaunchPlan, timeout: Duration) {
        self.plan = plan
        self.timeout = timeout
        let request = plan.request
        pages = plan.places.enumerated().map { index, place in
            Page(
                plan: place, isStore: index == 0,
                hasSeenCurrent: place.state.hasLaunched(request.current, in: request.line),
                isFirstRecord: place.state.record == nil, id: place.state.storeID,
                isToBeTakenOver: index > 0 && plan.takesOver(place), record: place.record)
        }
        for index in pages.indices where pages[index].record != pages[index].plan.state.record {
            let place = pages[index].plan
            pages[index].changes = place.changes
            pages[index].history = place.notNeeded.map {
                SettledStep(
                    place.steps.work(of: $0, manager: request.manager), outcome: .notNeeded,
                    date: request.date,
                    appVersion: request.current)
            }
        }
    }

    /// Marks work as pending that was running when its run ended without being able to write that down.
    ///
    /// Under the lock of launches, once deaths have been found.
    mutating func endStaleStarts() {
        for index in pages.indices { change(index, .abandoned) }
    }

    /// Notes that work is being started.
    ///
    /// - Returns: the work as it begins.
    mutating func start(_ pending: LaunchPlan.PendingStep, from state: WorkState?) -> OpenWork {
        let (id, remaining, request) = (pending.step.id, pending.remaining, request)
        if let state { pages[pending.place].record?[id] = state }
        let start = OpenWork.Start(
            build: request.build, since: request.date, isDeferred: pending.step.isDeferred)
        let isRetry = plan.work(of: pending) == request.retrying
        // With its start, and not before: until then, it may come to be needed no longer.
        if plan.isReopened(pending) { change(pending.place, .reopened(id, current: request.current)) }
        change(pending.place, .started(id, start, remaining: remaining, isRetry: isRetry))
        return pages[pending.place].record?.open(id) ?? OpenWork()
    }

    /// Notes that work is done: a schema step leaves no trace, since the ledger has it.
    mutating func end(_ pending: LaunchPlan.PendingStep, _ settlement: Settlement) {
        let (step, id) = (pending.step, pending.step.id)
        switch step.kind {
        case .transaction, .batches:
            // Its transaction has written it already.
            pages[pending.place].record?[id] = .done
        case .closure, .deferredClosure:
            change(pending.place, .done(id))
            pages[pending.place].history.append(settlement.step)
        case .versionChange, .schemaStep: change(pending.place, .done(id))
        }
    }

    /// Notes that another process has settled a step.
    mutating func noteSettled(_ pending: LaunchPlan.PendingStep) {
        pages[pending.place].record?[pending.step.id] = .done
    }

    /// Notes that work has thrown, or was interrupted.
    ///
    /// - Parameter failure: the build and the codes, if it failed by itself.
    mutating func stop(_ pending: LaunchPlan.PendingStep, failure: String? = nil) {
        change(pending.place, .stopped(pending.step.id, failure: failure))
    }

    /// Notes that work is settled without running.
    mutating func skip(_ pending: LaunchPlan.PendingStep) {
        change(pending.place, .skipped(pending.step.id))
        pages[pending.place].history.append(
            SettledStep(
                plan.work(of: pending), outcome: .skipped, date: request.date, appVersion: request.current))
    }

    /// Notes where a deferred step will begin, so that whoever reads the record alone sees that it waits.
    mutating func prepare(_ pending: LaunchPlan.PendingStep, _ position: StepPosition) {
        change(pending.place, .prepared(pending.step.id, position))
    }

    /// Writes that everything in the databases is done.
    mutating func completeDatabases() throws {
        for index in pages.indices.dropFirst() { finish(index) }
        for index in pages.indices.dropFirst() { try save(only: index) }
    }

    /// Writes that everything is done, and in which databases the manager has been: they have their ids, once they have been
    /// written.
    mutating func completeStore() throws {
        finish(0)
        let found = pages.dropFirst().filter { $0.record?.completed != nil }.compactMap { page in
            page.id.map { KnownDatabase(id: $0, path: page.plan.steps.place.path) }
        }
        if plan.isComplete, let known = pages[0].record?.databases, !found.allSatisfy(known.contains) {
            change(0, .knows(found))
        }
        try save(only: 0)
    }

    /// True if the store needs its first record before the launch is complete: it has to be there before that of a database.
    var storeBegins: Bool { pages.count > 1 && pages[0].isFirstRecord && pages[0].record != nil }

    private mutating func finish(_ index: Int) {
        guard plan.isComplete else { return }
        change(index, .completed(pages[index].plan.launch, current: request.current))
    }

    private mutating func change(_ index: Int, _ change: RecordChange) {
        guard var record = pages[index].record else { return }
        record.apply(change)
        if pages[index].record != record { pages[index].changes.append(change) }
        pages[index].record = record
    }

    // MARK: Writing

    /// Writes everything not written yet.
    ///
    /// - Parameter last: the place where work is being started. It comes last, unless it is the store's first record: when
    ///   another place cannot be written, the work is not started, and must not look as if the process had died in it.
    mutating func save(last: Int? = nil) throws {
        var order = pages.indices.filter { $0 != last } + (last.map { [$0] } ?? [])
        if pages[0].isFirstRecord {
            // A database with a record beside a store without one would say that the store has lost it.
            order = [0] + order.filter { $0 != 0 }
        } else {
            // They begin where the store stands, so they need their records before it changes.
            let lost = order.filter { pages[$0].isFirstRecord && pages[$0].plan.state.lostRecord != nil }
            order = lost + order.filter { !lost.contains($0) }
        }
        for index in order { try save(only: index) }
    }

    /// Writes what one place has not written yet.
    mutating func save(only index: Int) throws {
        if !pages[index].isWritten { try pages[index].write(request, timeout, store: pages[0].id) }
        pages[index].changes = []
        pages[index].isToBeTakenOver = false
        pages[index].history = []
        pages[index].hasSeenCurrent = true
        pages[index].isFirstRecord = false
    }

    /// Returns true if a database has no record any more: it is another one.
    func hasLostRecord(among found: [PlaceState]) -> Bool {
        zip(pages, found).contains { page, found in page.hasLostRecord(found.record) }
    }

    /// Returns the states of the places as they will be when everything is written.
    func states(after found: [PlaceState]) -> [PlaceState] {
        zip(pages, found).map { page, found in
            page.latest(after: found.record).map(found.with) ?? found
        }
    }
}

extension Journal.Page {
    /// Returns the record with the changes that were not written yet.
    fileprivate func latest(after known: MigrationRecord?) -> MigrationRecord? {
        guard var latest = known, latest.hasBegun else { return hasLostRecord(known) ? nil : record }
        for change in changes { latest.apply(change) }
        return latest
    }

    /// Returns true if this is a database without the record that it had: another one, where this launch has not been.
    fileprivate func hasLostRecord(_ known: MigrationRecord?) -> Bool {
        record != nil && !isStore && !isFirstRecord && known?.hasBegun != true
    }

    /// Makes the changes in the place: does input and output.
    fileprivate mutating func write(_ request: LaunchRequest, _ timeout: Duration, store: String?) throws {
        // First: an older app must not run their steps again, once they are this manager's.
        for former in plan.formers where isFirstRecord {
            try plan.steps.store.change(former, waitingUpTo: timeout) { state in
                guard try !state.hasRemovedRecord(of: former) else { return }
                try state.changeRecord(of: former) { record in
                    var known = record ?? MigrationRecord(start: nil)
                    known.raiseHighest(to: request.current)
                    record = known
                }
            }
        }
        if changes.contains(where: \.endsClosure) { try plan.steps.store.syncFiles() }
        let owner = isStore ? nil : store
        var id: String?
        try plan.steps.store.change(request.manager, waitingUpTo: timeout) { state in
            defer { id = state.id }
            if hasLostRecord(try state.record(of: request.manager)) { return }
            // A record that was removed meanwhile stays removed: the closure has outlived its lock.
            if try !isFirstRecord && state.hasRemovedRecord(of: request.manager) { return }
            if record != nil {
                try state.changeRecord(of: request.manager) { record in
                    record = latest(after: record) ?? record
                    give(&record, to: owner)
                }
            }
            // Otherwise, the next manager would take what this one has found for a new install's own.
            if let named = plan.named {
                state.see(
                    named, build: request.appBuild, in: request.line, at: request.date, isAdopted: true)
            }
            state.see(request.current, build: request.appBuild, in: request.line, at: request.date)
            state.newHistory = history
        }
        give(&record, to: owner)
        self.id = id
    }

    /// Writes down the store to which the manager belongs, in a record that names none.
    private func give(_ record: inout MigrationRecord?, to store: String?) {
        if let store, isToBeTakenOver || record?.store == nil { record?.store = store }
    }
}
