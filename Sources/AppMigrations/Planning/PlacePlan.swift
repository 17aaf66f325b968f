extension LaunchPlan {
    /// One place's part of a plan; a class, as ``PlaceState`` is.
    final class PlacePlan: Sendable {
        let steps: PlaceSteps
        let launch: Launch
        /// The state in which the place was found.
        let state: PlaceState
        /// The record with which this launch begins its work; nil if the manager does not begin here.
        let record: MigrationRecord?
        /// The changes with which this launch begins, which make that record of the one that the place has.
        let changes: [RecordChange]
        /// The settled work that this launch does again, unless it is not needed any more when its turn comes.
        let reopened: [WorkID]
        /// The managers whose steps come to this one in this launch.
        let formers: [String]
        /// The version that evidence names, for managers that come here later; nil if the place knows it.
        let named: AppVersion?

        /// Plans a launch in a place.
        ///
        /// - Parameters:
        ///   - beginning: where the manager begins; nil if it has a record.
        ///   - needed: the steps that are done and needed again, here or elsewhere.
        ///   - store: the part of the manager's store, for a place that is another one.
        ///   - isMadeAnew: whether another database has taken the place of one in which the manager has worked.
        init(
            _ request: LaunchRequest, _ steps: PlaceSteps, _ state: PlaceState, _ beginning: Beginning?,
            again needed: [MigrationStep] = [], store: PlacePlan?, isMadeAnew: Bool = false
        ) throws {
            self.steps = steps
            self.state = state
            let isAtBound =
                switch beginning {
                // The latter of a ledger alone, or of tables that are older than it.
                case .at(_, .bound), .at(.zero, .seen): true
                default: false
                }
            func isNewHere() -> Bool {
                // An answer of this very launch is no evidence.
                isAtBound
                    && !state.seen(in: request.line)
                        .withoutAnswers(of: request.current, build: request.appBuild)
                        .contains { $0.version < store?.record?.start ?? .zero }
            }
            var record =
                state.record
                ?? beginning?.record(
                    request, steps.closures,
                    movedHere: isMadeAnew
                        ? [] : store?.movedAway(steps.closures, isNewHere: isNewHere()) ?? [])
            if let lost = state.lostRecord { record = record.map { lost.completing($0, steps.closures) } }
            let launch: Launch =
                if case .downgrade(let later) = beginning {
                    .downgrade(from: later)
                } else {
                    record?.launch(current: request.current, build: request.build) ?? .freshInstall
                }
            self.launch = launch
            var (changes, reopened) = ([RecordChange](), [WorkID]())
            if var begun = record {
                func change(_ change: RecordChange) {
                    begun.apply(change)
                    changes.append(change)
                }
                let carriedOver = steps.carriedOver(to: begun)
                if !carriedOver.isEmpty { change(.carriedOver(carriedOver)) }
                change(.begun(launch, current: request.current, due: steps.closures))
                if !launch.isDowngrade {
                    reopened = needed.filter { $0.place == steps.id && begun.isDone($0.id) }.map(\.id)
                    let owed = steps.owed(in: begun)
                    if !owed.isEmpty { change(.owed(owed)) }
                }
                record = begun
            }
            self.record = record
            self.changes = changes
            self.reopened = reopened
            formers = self.record.map { state.formersToEnd(request, from: $0.start) } ?? []
            switch beginning {
            case .at(let version, .answered), .at(let version, .bound), .at(let version, .lost),
                .at(let version, .lostNew):
                // The version of a pre-release has the steps of its release, and is no later one.
                let isSame = version.release == request.current.release
                named = isSame ? min(version, request.current) : version
            case .at(.zero, _): named = .zero
            // A database has told a store that knows nothing.
            case .downgrade(let later):
                named = state.seen(in: request.line).contains { $0.version == later } ? nil : later
            default: named = nil
            }
            try checkSupport(request, isAtBound: isAtBound)
        }

        /// Returns those steps that are settled here, and that the app has in another place now.
        ///
        /// - Parameter isNewHere: whether the data in the other place may be as new as that of an install that was new here, and did not
        ///   need them.
        private func movedAway(_ others: [MigrationStep], isNewHere: Bool) -> Set<WorkID> {
            // A newer app may still have them here.
            if launch.isDowngrade { return [] }
            return Set(
                others.filter { step in
                    [step.id, step.id.counterpart].compactMap(\.self).contains { id in
                        switch record?[id] {
                        case .done, .skipped: !steps.closures.has(id)
                        case .notNeeded: isNewHere && step.onFreshInstall == .skip && !steps.closures.has(id)
                        case .open, nil: false
                        }
                    }
                }.map(\.id))
        }

        /// The steps that the beginning of this launch has found not to be needed.
        var notNeeded: [MigrationStep] {
            let known = state.record?.work ?? state.lostRecord?.settled
            return steps.closures.filter { record?[$0.id] == .notNeeded && known?[$0.id] != .notNeeded }
        }

        /// Throws if the data is older than what the app can migrate.
        ///
        /// - Parameter isAtBound: whether the manager begins at the lowest version that its data can have.
        private func checkSupport(_ request: LaunchRequest, isAtBound: Bool) throws {
            guard let oldest = request.oldestSupported, let from = launch.upgradedVersion else { return }
            // A lower version of the app that was launched for a while has not made the data older. Nor is it as old as the
            // earliest version that was launched here before the manager, if that is all that is known.
            var versions = [from, record?.completed, record?.start]
            if record?.completed == nil, state.record != nil || named == nil || isAtBound {
                let first = record?.began ?? request.current
                // What other managers were answered says nothing of how old this one's data can be.
                let known = state.seen(in: request.line).filter { !isAtBound || !$0.isAdopted }
                versions += known.map(\.version).filter { $0 < first }
            }
            // Where nothing has ever counted versions, there is none to be too old.
            // A pre-release has run the steps of its release.
            guard let version = versions.compactMap(\.self).max(), version.reach < oldest,
                version != .zero
            else { return }
            throw MigrationError(
                .tooOld,
                "the data of \(steps.name) is at version \(version); the oldest that can be migrated is \(oldest)",
                remedy:
                    "Nothing was changed. Launch an app version that still migrates it first, then this one.",
                manager: request.manager, version: version)
        }
    }
}

extension LaunchPlan.PlacePlan {
    /// Returns true if the place has written down all that this launch has to say.
    func isWritten(_ request: LaunchRequest, isComplete: Bool) -> Bool {
        var record = record
        if isComplete { record?.finish(launch, current: request.current) }
        return state.record == record && state.hasLaunched(request.current, in: request.line)
    }

    /// Returns true if steps have conditions that may ask about what other work makes.
    func hasConditions(about other: MigrationStep) -> Bool {
        steps.closures.contains {
            $0.hasCondition && !$0.isDeferred && $0.mayAsk(about: other) && record?.isDone($0.id) == true
        }
    }

    /// True if steps with conditions count as done in this launch of which the place says nothing: nobody has asked whether they are
    /// needed again.
    var hasNewConditions: Bool {
        guard let record, launch != .freshInstall else { return false }
        return steps.closures.contains {
            $0.hasCondition && record.isDone($0.id) && !steps.isDone($0, state)
        }
    }

    /// The highest version of which work has been done here: by steps, or by a schema step of a launch that was not completed.
    ///
    /// That a part of a schema step was applied says nothing by itself: an older version of the app may have done it.
    var reached: AppVersion? {
        let schemas = zip(steps.schemaSteps, state.pending).filter { step, schema in
            state.record?.open(step.id)?.remaining != nil && schema.hasBegun(by: step.version)
        }.map(\.0.version)
        return [state.record?.reached, schemas.max()].compactMap(\.self).max()
    }

    /// The work that is pending in this place, whatever the target.
    ///
    /// - Parameter reached: the version below which a step is out of order.
    func pending(
        at index: Int, reached: @autoclosure () -> AppVersion?
    ) -> [LaunchPlan.PendingStep] {
        var pending: [LaunchPlan.PendingStep] = []
        for (step, schema) in zip(steps.schemaSteps, state.pending) where !schema.isEmpty {
            pending.append(.init(step: step, place: index, isOutOfOrder: false, schema: schema))
        }
        // A downgrade, in a place that the manager has not been to.
        guard let record else {
            return pending + steps.closures.map { .init(step: $0, place: index, isOutOfOrder: false) }
        }
        lazy var highest = reached()
        let plan = MigrationPlan(
            known: steps.closures, by: { $0.version }, floor: record.start,
            isSettled: { record[$0.id]?.isSettled == true && !reopened.contains($0.id) },
            isOwed: { record.isOwed($0.id) || reopened.contains($0.id) })
        pending.reserveCapacity(pending.count + plan.pending.count)
        for step in plan.pending {
            let isOnly = step.onFreshInstall == .only
            if isOnly, !record.isOwed(step.id) { continue }
            let isOutOfOrder = !isOnly && highest.map { step.version < $0 } ?? false
            pending.append(.init(step: step, place: index, isOutOfOrder: isOutOfOrder))
        }
        return pending
    }

    /// The closures for a change of the app's version, if this launch changes it and they have not run.
    func versionChange(_ request: LaunchRequest) -> LaunchPlan.PendingStep? {
        guard request.hasVersionChanges, request.stop == nil, let from = launch.upgradedVersion,
            from < request.current, from != .zero
        else { return nil }
        let step = MigrationStep(versionChangeTo: request.current, in: steps.id)
        guard record?[step.id]?.isSettled != true else { return nil }
        return LaunchPlan.PendingStep(step: step, place: 0, isOutOfOrder: false)
    }
}
