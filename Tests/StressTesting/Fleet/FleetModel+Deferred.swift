// Deferred steps: row by row, in order.
extension FleetModel {
    private typealias Position = Record.Position

    /// The line that a deferred step writes about a row.
    static func line(manager: Int, rank: Int, row: Int) -> String {
        "\(line(manager: manager, rank: rank))\(row)"
    }

    /// How these lines begin.
    static func line(manager: Int, rank: Int) -> String { "\(manager) \(rank) row " }

    /// How a batch ends.
    private enum BatchEnding {
        case more, done
        case trouble(Trouble)
        /// Nothing is left but rows that have failed.
        case rowsLeft(Trouble)
        /// Another process has settled the step, or removed the record.
        case endedElsewhere
    }

    /// Everything that a run knows of one step.
    private struct Runner {
        /// How many of the rows that earlier runs have set aside it has not retried.
        var retriesLeft: Int
        /// Where the next one of them is.
        var index = 0
        var failure: Trouble?
    }

    /// True if no other process has ended a step.
    private func isPending(_ step: FleetApp.Step) -> Bool {
        record(of: step).map { !$0.settled.contains(step.rank) } ?? false
    }

    private func runner(of step: FleetApp.Step) -> Runner {
        Runner(retriesLeft: record(of: step)?.positions[step.rank]?.setAside.count ?? 0)
    }

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
        if waiting.isEmpty { return .deferred(completed: [], skipped: [], pending: [], failed: []) }
        if let outrun, outrun.lock == 0 {
            self.outrun(by: outrun.build)
            (waiting, obstacle) = waitingSteps(of: manager)
            if let obstacle { return obstacle }
        }
        // What the run knows of them.
        let exhausted = waiting.filter { step in
            record(of: step)?.isExhausted(
                Record.Work(rank: step.rank), remaining: nil, build: current.text,
                maximum: app.maximumAttempts) ?? false
        }.map(\.rank)
        var (batches, locks) = (0, 0)
        var (completed, skipped, failed, gone): ([Int], [Int], [Int], [Int]) = ([], [], [], [])
        for step in waiting where batches < limit {
            locks += 1
            if let outrun, outrun.lock == locks { self.outrun(by: outrun.build) }
            guard isPending(step) else {
                gone.append(step.rank)
                continue
            }
            if exhausted.contains(step.rank) {
                failed.append(step.rank)
                continue
            }
            let work = Record.Work(rank: step.rank)
            var runner = runner(of: step)
            changeUnsettled(step) { $0.start(work, remaining: nil, build: $1) }
            steps: while true {
                guard batches < limit else {
                    changeUnsettled(step) { record, _ in record.stop(work) }
                    break
                }
                // A closure keeps the lock with which the step began.
                if step.batches != .closure {
                    locks += 1
                    if let outrun, outrun.lock == locks { self.outrun(by: outrun.build) }
                }
                let ending = step.batches == .closure ? runClosure(of: step) : runBatch(of: step, &runner)
                switch ending {
                case .more: batches += 1
                case .done:
                    batches += 1
                    completed.append(step.rank)
                    break steps
                case .endedElsewhere:
                    gone.append(step.rank)
                    break steps
                case .trouble(let trouble), .rowsLeft(let trouble):
                    if case .rowsLeft = ending { batches += 1 }
                    failed.append(step.rank)
                    changeUnsettled(step) { record, _ in
                        record.stop(work)
                        if !trouble.isObstacle, record.fail(step) { skipped.append(step.rank) }
                    }
                    break steps
                }
            }
        }
        let ended = completed + skipped + gone
        return .deferred(
            completed: completed, skipped: skipped,
            pending: waiting.map(\.rank).filter { !ended.contains($0) }, failed: failed)
    }

    /// Runs a deferred step to its end, in a launch.
    ///
    /// - Returns: why it throws; nil if it does not.
    mutating func runToEnd(_ step: FleetApp.Step) -> Trouble? {
        var runner = runner(of: step)
        while true {
            switch runBatch(of: step, &runner) {
            case .more: break
            case .done, .endedElsewhere: return nil
            case .trouble(let trouble), .rowsLeft(let trouble): return trouble
            }
        }
    }

    /// The deferred steps that wait, or what keeps them from running.
    private func waitingSteps(of manager: Int) -> (steps: [FleetApp.Step], obstacle: Outcome?) {
        var memory = Memory()
        let (plan, problem) = plan(manager, &memory)
        // Without a plan, it says why.
        guard let plan else { return ([], problem) }
        // The launch is not complete, or no longer.
        guard plan.isReady else { return ([], .stopped("notYetMigrated", at: nil)) }
        return (plan.waiting.compactMap(\.step), nil)
    }

    private func record(of step: FleetApp.Step) -> Record? {
        state[place(of: step.home)].records[step.manager]
    }

    /// Changes what is known of a step, unless another process has done it.
    private mutating func changeUnsettled(
        _ step: FleetApp.Step, _ body: (inout Record, _ build: String) -> Void
    ) {
        guard var record = record(of: step), !record.settled.contains(step.rank) else { return }
        body(&record, current.text)
        let place = place(of: step.home)
        change { $0[place].records[step.manager] = record }
    }

    /// Runs a batch.
    private mutating func runBatch(of step: FleetApp.Step, _ runner: inout Runner) -> BatchEnding {
        guard isPending(step), let record = record(of: step) else { return .endedElsewhere }
        guard state[step.home].hasTables else { return .trouble(.noTables) }
        var position = record.positions[step.rank] ?? Position()
        if step.batches == .cursor { return runCalls(of: step, from: position) }
        let present = state[step.home].rows
        if !position.isBegun { position = Position(over: present) }
        while runner.retriesLeft > 0 {
            runner.retriesLeft -= 1
            let row = position.setAside[runner.index]
            // The app may have deleted it.
            let rows = present.filter { $0 == row }
            if !rows.isEmpty, let trouble = runBody() {
                guard !trouble.isObstacle else { return .trouble(trouble) }
                runner.failure = trouble
                runner.index += 1
                continue
            }
            position.setAside.remove(at: runner.index)
            return write(position, of: step, rows: rows) ? .done : .more
        }
        // Rows above the bounds came later, and are none of the step's.
        var rows = Array(
            present.filter { position.rest?.contains($0) ?? false }.prefix(FleetApp.rowsPerBatch))
        var isAside = false
        // A batch that takes all that is left goes up to the upper bound.
        var isLast = rows.count < FleetApp.rowsPerBatch
        while !rows.isEmpty, let trouble = runBody() {
            guard !trouble.isObstacle else { return .trouble(trouble) }
            // A batch that fails is halved, down to a single row, which is set aside.
            isAside = rows.count == 1
            if isAside {
                runner.failure = trouble
                break
            }
            rows.removeLast(rows.count - rows.count / 2)
            isLast = false
        }
        position.move(behind: isLast ? nil : rows.last)
        if isAside { position.setAside += rows }
        if write(position, of: step, rows: isAside ? [] : rows) { return .done }
        return position.rest == nil ? .rowsLeft(runner.failure ?? .noTables) : .more
    }

    /// Runs a batch of calls, each of which does a row.
    private mutating func runCalls(of step: FleetApp.Step, from start: Position) -> BatchEnding {
        var count = min(FleetApp.rowsPerBatch, FleetApp.rows - start.done)
        calls: while true {
            for call in 1...count {
                guard let trouble = runBody() else { continue }
                guard call > 1, !trouble.isObstacle else { return .trouble(trouble) }
                // The calls before it are made again, without it.
                count = call - 1
                continue calls
            }
            var position = start
            let rows = Array(start.done + 1...start.done + count)
            position.isBegun = true
            position.rest = rows.last == FleetApp.rows ? nil : 1...FleetApp.rows
            return write(position, of: step, rows: rows) ? .done : .more
        }
    }

    /// Runs a deferred closure from its last checkpoint to its end.
    private mutating func runClosure(of step: FleetApp.Step) -> BatchEnding {
        var done = record(of: step)?.positions[step.rank]?.done ?? 0
        while done < FleetApp.rows {
            let trouble = runBody()
            change { [done] in
                $0.files.append(Self.line(manager: step.manager, rank: step.rank, row: done + 1))
            }
            if let trouble { return .trouble(trouble) }
            done += 1
            changeUnsettled(step) { record, _ in
                record.positions[step.rank] = Position(done: done, isBegun: true, rest: 1...FleetApp.rows)
                record.attempts[Record.Work(rank: step.rank)]?.restart()
            }
        }
        changeUnsettled(step) { record, _ in record.settle(step.rank) }
        return .done
    }

    /// Writes down that rows are done.
    ///
    /// - Returns: whether all are.
    private mutating func write(_ position: Position, of step: FleetApp.Step, rows: [Int]) -> Bool {
        guard var record = record(of: step) else { return false }
        var position = position
        position.done += rows.count
        let lines = rows.map { Self.line(manager: step.manager, rank: step.rank, row: $0) }
        record.positions[step.rank] = position
        record.attempts[Record.Work(rank: step.rank)]?.restart()
        let isDone = position.rest == nil && position.setAside.isEmpty
        if isDone { record.settle(step.rank) }
        change {
            $0[step.home].done += lines
            $0[step.home].records[step.manager] = record
        }
        return isDone
    }
}
