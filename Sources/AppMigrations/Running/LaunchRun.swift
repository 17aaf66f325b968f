import Foundation

extension RunInput {
    /// Launches: does everything that is pending, and writes that the launch is complete.
    func launch(_ caller: Caller) throws -> MigrationReport {
        var answer = memory.answer
        let found = try plan(readStates(), &answer, caller)
        // The process that this one waits for writes down the new version.
        if role == .waitsForApp { try found.checkMigrated() }
        if role == .waitsForApp || found.isSettled {
            caller.tell(.launchRecognized(found.places[0].launch))
            return MigrationReport(found, memory.workDone)
        }

        // Before the lock: a launch that is refused has found no deaths.
        for place in registration.due { try place.place.checkIsOutsideTransaction() }
        try endFormers(of: found)
        let lock = try RunLock.take(
            manager, of: store, waitingFor: patience, unless: checkStopped, in: activity,
            stop: { [interruption] in interruption.stop(.suspending) })
        defer { lock.release() }
        try lock.findDeaths { try registration.findDeaths(waitingUpTo: patience) }
        // Another process may have done it all while this one waited.
        let first = try plan(readStates(), &answer, caller)
        caller.tell(.launchRecognized(first.places[0].launch))
        var run = LaunchRun(self, first, caller, memory.workDone)
        run.showProgress(after: memory.weight)
        while try run.runUntilPlanMayChange() {
            // A closure may have brought another file to the place of a database, for instance.
            do {
                // A closure that has returned must not count as running while a database is slow or busy.
                try run.journal.save()
                let states = try readStates()
                let next = try plan(run.journal.states(after: states), &answer, caller, before: run.next)
                if let error = run.stillNeeded(in: next) { throw error }
                guard run.works(of: next) != run.worksLeft || run.journal.hasLostRecord(among: states) else {
                    continue
                }
                run = LaunchRun(try plan(readStates(), &answer, caller, before: run.next), continuing: run)
            } catch {
                // What has run is written down, whatever is found.
                throw run.stop(with: error)
            }
            run.showProgress(after: progress.completedUnitCount)
        }
        try run.complete()
        return MigrationReport(first, run.workDone, run)
    }
}

/// The steps of a launch, in order, and then the record that it is complete.
///
/// It stops at the first work that does not succeed. The end of a closure is written together with the start of
/// the next step, or before the launch looks at databases: until then only this process knows it, and if that is
/// killed, the closure runs again. So whatever ends the run goes through ``stop(with:)``.
final class LaunchRun: Run {
    /// The work that the launch has run, in order, under this plan and those before it.
    private var ran: [LaunchPlan.StepKey] = []
    /// The work that has gone on where an earlier launch had stopped, and so has not looked at what was done before.
    private var continued: Set<LaunchPlan.StepKey> = []
    private var index = 0
    /// The index of the step before which the launch planned last.
    private var lastPlanned: Int?

    /// The step that comes next.
    var next: LaunchPlan.PendingStep? { index < plan.pending.count ? plan.pending[index] : nil }

    convenience init(_ plan: LaunchPlan, continuing run: LaunchRun) {
        self.init(run.input, plan, run.caller, run.workDone)
        (ran, continued) = (run.ran, run.continued)
    }

    /// Shows what is left to do in the manager's progress.
    ///
    /// - Parameter weight: how much is done.
    func showProgress(after weight: Int64) {
        input.progress.completedUnitCount = weight
        input.progress.totalUnitCount = max(
            1, plan.pending.reduce(weight + plan.weightAbove) { $0 + $1.weight })
    }

    /// Runs the pending steps, up to one that may have changed what is pending.
    ///
    /// - Returns: false if all have run, and nothing of the plan has changed since.
    func runUntilPlanMayChange() throws -> Bool {
        if index == 0 {
            try checkSchemaSteps()
            journal.endStaleStarts()
        }
        let count = plan.pending.count { $0.step.kind != .versionChange }
        while let pending = next {
            if hasRunEnough(pending, in: plan) {
                index += 1
                noteEnded(pending)
                continue
            }
            if asksBefore(pending) { return true }
            index += 1
            if let reason = input.reasonToStop { throw stop(with: reason) }
            if let missing = missing(before: pending) {
                throw stop(with: missingError(missing, before: pending))
            }
            // The closures before it must not count as running while it waits for its lock.
            if pending.step.isDeferred { try journal.save() }
            try perform(StepRun(pending, number: index, of: count, in: self))
            if mayChangePlan(pending) {
                lastPlanned = index
                return true
            }
        }
        // At the end, conditions are asked, whatever has run.
        defer { lastPlanned = index }
        return index > 0 && lastPlanned != index && input.registration.hasConditions
    }

    /// Returns true if deferred steps that are done may be needed again, because their deadline has come in the step's place, or a step
    /// of its version is finishing them, or if the step itself may be needed no longer, because another one has run.
    private func asksBefore(_ pending: LaunchPlan.PendingStep) -> Bool {
        defer { lastPlanned = index }
        guard lastPlanned != index, input.registration.hasConditions else { return false }
        let isDeadline = input.registration.deadlines.values.contains { deadline in
            deadline <= pending.step.version
                && !plan.pending[..<index].contains {
                    $0.place == pending.place && $0.step.version >= deadline
                }
        }
        let isBeforeFinishing = plan.pending[index...].contains {
            !$0.step.finishing.isEmpty && $0.step.version <= pending.step.version
        }
        return isBeforeFinishing || isDeadline
            || index > 0 && !pending.step.isDeferred && plan.isReopened(pending)
    }

    /// The work that is pending and has not run.
    var worksLeft: Set<LaunchPlan.StepKey> { works(of: plan).subtracting(ended) }

    /// Returns the work of a plan that is pending or waits, without the closures for a version change, which come last in any case.
    func works(of plan: LaunchPlan) -> Set<LaunchPlan.StepKey> {
        Set(
            (plan.pending + plan.deferred).filter {
                $0.step.kind != .versionChange && !hasRunEnough($0, in: plan)
            }.map(\.key))
    }

    /// Returns true if this launch has run a step, and does not run it again although its condition holds: nothing else has run
    /// since, or nothing new has while it has run twice.
    ///
    /// A later step may still do what the condition asks for.
    private func hasRunEnough(_ pending: LaunchPlan.PendingStep, in plan: LaunchPlan) -> Bool {
        let key = pending.key
        if pending.step.kind == .versionChange { return ran.contains(key) }
        guard !pending.step.isDeferred, plan.isReopened(pending) else { return false }
        return ran.last == key && !continued.contains(key) || hasRunTwice(key)
    }

    /// Returns true if a step has run twice since other work last ran for the first time, which may have brought what its condition
    /// asks about.
    ///
    /// A launch ends, since work runs for the first time only once.
    private func hasRunTwice(_ key: LaunchPlan.StepKey) -> Bool {
        let latest = ran.indices.last { !ran[..<$0].contains(ran[$0]) } ?? 0
        return ran[latest...].count { $0 == key } > 1
    }

    /// Returns the error for a step that has run, and would at each launch.
    ///
    /// A deferred step has looked at each row that it has visited: one that needs it then has come since. Of the others, the end of
    /// the launch tells.
    func stillNeeded(in plan: LaunchPlan) -> MigrationError? {
        // What a later step does, `migrate(through:)` has not come to.
        let isOver =
            plan.weightAbove == 0 && next == nil && plan.pending.allSatisfy { hasRunEnough($0, in: plan) }
        let needed = plan.pending.first { pending in
            guard plan.isReopened(pending) else { return false }
            return pending.step.isDeferred
                ? hasRunTwice(pending.key) : isOver && hasRunEnough(pending, in: plan)
        }
        return needed.map { .stillNeeded($0.step, plan.work(of: $0)) }
    }

    /// Returns true if a step that has run may have changed what databases hold, and one of them, or the end, comes next.
    private func mayChangePlan(_ pending: LaunchPlan.PendingStep) -> Bool {
        if plan.hasConditions(after: pending) { return true }
        guard [.closure, .deferredClosure, .versionChange].contains(pending.step.kind),
            plan.places.contains(where: \.steps.worksInDatabases)
        else { return false }
        return index == plan.pending.count || plan.pending[index].step.kind != .closure
    }

    /// Refuses schema steps that can never run, if they come after other work: the first one refuses that itself.
    private func checkSchemaSteps() throws {
        for pending in plan.pending.dropFirst() {
            guard case .schemaStep(let work) = body(of: pending.step) else { continue }
            do {
                try work.check(pending.schema)
            } catch let error as MigrationError {
                throw error.ofManager(manager, in: plan.places[pending.place].steps.name)
            }
        }
    }

    private func perform(_ step: StepRun) throws {
        switch step.perform() {
        case .done:
            try writeEnd(of: step)
            step.noteDone()
            let key = step.pending.key
            ran.append(key)
            if step.isContinued { continued.insert(key) } else { continued.remove(key) }
            step.finishProgress()
        case .endedElsewhere:
            try writeEnd(of: step)
            noteEnded(step.pending)
            step.finishProgress()
        case .interrupted: break
        case .refused(let error):
            step.release()
            throw stop(with: error)
        case .notStarted(let error):
            step.release()
            throw error
        case .failed(let failure):
            step.noteFailure(failure)
            try writeEnd(of: step)
            step.finishProgress()
            // A child that is not finished would count for ever: finished, and taken back, it counts for nothing.
            input.progress.completedUnitCount -= step.pending.weight
            throw stop(with: failure.error)
        }
    }

    private func writeEnd(of step: StepRun) throws {
        do { try step.writeEnd() } catch { throw stop(with: error) }
    }

    /// Writes what is known, and returns the error.
    func stop(with error: any Error) -> any Error {
        // Why the run stops matters more than whether this can be written; at worst the last closure runs again.
        try? journal.save()
        return error
    }

    /// Writes where the deferred steps begin that wait, and at last that the launch is complete.
    func complete() throws {
        for pending in plan.unprepared { try prepare(pending) }
        // The store needs its first record before a database has one, and that before the store names it.
        if journal.storeBegins { try journal.save(only: 0) }
        do {
            // The databases first, which get their ids with their records.
            try journal.completeDatabases()
        } catch {
            throw stop(with: error)
        }
        // The store last: as long as it is not complete, a database that is lost is made anew as before.
        try journal.completeStore()
        // An older version of the app has completed nothing of what a newer one has begun.
        guard plan.isComplete, !plan.places[0].launch.isDowngrade else { return }
        for step in input.registration.due.flatMap(\.schemaSteps) {
            if case .schemaStep(let work) = body(of: step) { work.completeLaunch() }
        }
    }

    private func prepare(_ pending: LaunchPlan.PendingStep) throws {
        guard case .batches(let work) = body(of: pending.step) else {
            return journal.prepare(pending, StepPosition())
        }
        do {
            var position = try work.begin()
            // What comes before it may leave it other rows: it finds its own when its turn has come.
            if plan.deferred.first?.key != pending.key { position.cursor = nil }
            journal.prepare(pending, position)
            note(position, of: pending)
        } catch {
            throw stop(
                with: WorkFailure(
                    error, of: pending.step, work: plan.work(of: pending), attempt: 1,
                    build: input.request.build,
                    after: plan.places[pending.place].record?.open(pending.step.id)?.lastFailure,
                    interruption: input.reasonToStop
                ).error)
        }
    }
}
