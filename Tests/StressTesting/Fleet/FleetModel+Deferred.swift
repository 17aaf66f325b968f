extension FleetModel.Record {
    /// How far a deferred step is.
    struct Deferred: Hashable {
        var done = 0
        /// Nil before the first batch.
        var total: Int?
        /// The runs in which a batch threw.
        var failures = 0
        /// The batch that was started last.
        var running: Running?
    }

    /// The record, with what only batches write.
    func keepingDeferred(of known: Self?) -> Self {
        var record = self
        record.deferred.merge(known?.deferred ?? [:]) { $1 }
        record.deferred = record.deferred.filter { !settled.contains($0.key) }
        return record
    }
}

// Deferred steps, all of them in the database: row by row, in order.
extension FleetModel {
    private typealias Running = Record.Running
    private typealias Deferred = Record.Deferred

    /// What a deferred step writes down about a row.
    static func line(manager: Int, rank: Int, row: Int) -> String {
        "\(line(manager: manager, rank: rank))\(row)"
    }

    /// How these lines begin.
    static func line(manager: Int, rank: Int) -> String { "\(manager) \(rank) row " }

    /// Does a manager's deferred work after its launch.
    ///
    /// - Parameters:
    ///   - limit: how many batches there is time for.
    ///   - outrun: the lock at which another process comes in between, and the build that it launches. Lock 0 is that of
    ///     the run, the others are those of its batches.
    mutating func runDeferred(
        _ manager: Int, batches limit: Int, outrun: (lock: Int, build: Int)? = nil
    ) -> Outcome {
        var (waiting, obstacle) = waitingSteps(of: manager)
        if let obstacle { return obstacle }
        if waiting.isEmpty { return .deferred(completed: [], pending: [], failed: []) }
        if let outrun, outrun.lock == 0 {
            self.outrun(by: outrun.build)
            (waiting, obstacle) = waitingSteps(of: manager)
            if let obstacle { return obstacle }
        }
        // What the run knows of them.
        let known = waiting.map { record(of: $0)?.deferred[$0.rank] ?? Deferred() }
        var (batches, locks) = (0, 0)
        var (completed, failed): ([Int], [Int]) = ([], [])
        for (step, before) in zip(waiting, known) where batches < limit {
            if isExhausted(before) {
                failed.append(step.rank)
                continue
            }
            start(step, before)
            while true {
                guard batches < limit else {
                    changeDeferred(step) { $0.running = nil }
                    break
                }
                locks += 1
                if let outrun, outrun.lock == locks { self.outrun(by: outrun.build) }
                guard let isDone = runBatch(of: step) else {
                    failed.append(step.rank)
                    changeDeferred(step) { state in
                        state.running = nil
                        state.failures += 1
                    }
                    break
                }
                batches += 1
                guard !isDone else {
                    completed.append(step.rank)
                    break
                }
            }
        }
        return .deferred(
            completed: completed, pending: waiting.map(\.rank).filter { !completed.contains($0) },
            failed: failed)
    }

    /// Runs a deferred step to its end, in a launch.
    ///
    /// - Returns: false when it has thrown.
    mutating func runToEnd(_ step: FleetApp.Step, _ before: Record.Deferred) -> Bool {
        start(step, before)
        while true {
            guard let isDone = runBatch(of: step) else {
                changeDeferred(step) { $0.running = nil }
                return false
            }
            if isDone { return true }
        }
    }

    /// Whether the process has died too often in the batch that comes next.
    func isExhausted(_ state: Record.Deferred) -> Bool {
        guard let died = state.running, died.remaining == state.done else { return false }
        return died.build == FleetApp.builds[build].text
            && died.attempt - died.forgiven >= app.maximumAttempts
    }

    /// The deferred steps that wait, or what keeps them from running.
    private func waitingSteps(of manager: Int) -> (steps: [FleetApp.Step], obstacle: Outcome?) {
        var model = self
        switch model.launch(manager) {
        case .done(_, _, _, _, _, let waiting) where model.state == state:
            return (app.steps(of: manager, in: build).filter { waiting.contains($0.rank) }, nil)
        case .stopped(let reason, _) where ["newerThanThisProcess", "undecided"].contains(reason):
            // Nothing can be planned.
            return ([], .stopped(reason, at: nil))
        default:
            // The launch is not complete, or no longer.
            return ([], .stopped("notYetMigrated", at: nil))
        }
    }

    private func record(of step: FleetApp.Step) -> Record? {
        state.database.place.records[step.manager]
    }

    private mutating func changeDeferred(_ step: FleetApp.Step, _ body: (inout Deferred) -> Void) {
        guard var record = record(of: step), !record.settled.contains(step.rank) else { return }
        body(&record.deferred[step.rank, default: Deferred()])
        change { $0.database.place.records[step.manager] = record }
    }

    /// Notes that a batch is being started.
    private mutating func start(_ step: FleetApp.Step, _ before: Deferred) {
        let build = FleetApp.builds[build].text
        changeDeferred(step) { state in
            let died = state.running.flatMap { $0.remaining == before.done ? $0 : nil }
            state.running = Running(
                rank: step.rank, remaining: before.done, attempt: (died?.attempt ?? 0) + 1,
                // A new build starts afresh.
                forgiven: died.map { $0.build == build ? $0.forgiven : $0.attempt } ?? 0, build: build)
        }
    }

    /// Runs a batch.
    ///
    /// - Returns: whether that was the last one; nil when it has thrown, down to a single row.
    private mutating func runBatch(of step: FleetApp.Step) -> Bool? {
        // Another process has done it.
        guard var record = record(of: step), !record.settled.contains(step.rank) else { return true }
        guard state.database.ledger.contains(FleetApp.firstSchema.number) else { return nil }
        var state = record.deferred[step.rank] ?? Deferred()
        var count = min(FleetApp.rowsPerBatch, FleetApp.rows - state.done)
        while countBody() {
            guard count > 1 else { return nil }
            count /= 2
        }
        let lines = (state.done + 1...state.done + count).map {
            Self.line(manager: step.manager, rank: step.rank, row: $0)
        }
        state.done += count
        state.total = FleetApp.rows
        state.running?.remaining = state.done
        state.running?.attempt = 1
        state.running?.forgiven = 0
        let isDone = state.done == FleetApp.rows
        if isDone { record.settle(step.rank) } else { record.deferred[step.rank] = state }
        change {
            $0.database.done += lines
            $0.database.place.records[step.manager] = record
        }
        return isDone
    }
}
