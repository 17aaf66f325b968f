import Foundation

// Changing by hand what is remembered, for recovery screens and for a developer's desk.
//
// Each call takes the locks of launches and of deferred runs, and reaches the store and every registered database. Ledgers
// stay as they are: applied schema migrations stay applied.
extension MigrationManager {
    /// Settles pending work without running it.
    ///
    /// ```swift
    /// do {
    ///     try manager.migrate()
    /// } catch let error as MigrationError where error.code == .gaveUp {
    ///     guard let work = error.work else { throw error }
    ///     try manager.skip(work)
    ///     try manager.migrate()
    /// }
    /// ```
    ///
    /// For the app's recovery screen, after the error `gaveUp`. What the work would have done stays undone, and no other work
    /// is touched. A schema step cannot be skipped, since the app's code relies on its tables.
    ///
    /// - Parameter work: the work, as in ``MigrationError/work``, or from ``pending()``.
    /// - Throws: ``MigrationError``, with the code `misuse` when the work is not pending or a schema step; as ``removeRecord()`` does.
    public func skip(_ work: MigrationWork) throws {
        try withLocks {
            // A step whose condition is wrong can be skipped, and keeps no other from it.
            let plan = try plan { if $0.code != .stepFailed { throw $0 } }
            guard work.kind != .schemaStep else {
                throw MigrationError(
                    .misuse, "\(work.id.title) cannot be skipped",
                    remedy: "Retry it with migrate(retrying:): the app's code relies on its tables.",
                    work: work)
            }
            guard let pending = (plan.pending + plan.deferred).first(where: { plan.work(of: $0) == work })
            else {
                throw MigrationError(
                    .misuse, "\(work.id.title) is not pending",
                    remedy: "pending() returns the work that is.", work: work)
            }
            var journal = Journal(plan, timeout: patience)
            journal.skip(pending)
            try journal.save()
        }
    }

    /// Marks a step as not run, so that it starts over.
    ///
    /// ```swift
    /// for work in manager.work where work.version == "2.1-1" && work.kind == .step { try manager.rerun(work) }
    /// try manager.migrate()
    /// ```
    ///
    /// For a deferred step whose table or cursor has changed, or a step whose work a repair has undone. If rows in the old form
    /// may come later, from an older version of the app for instance, let the step say so itself, with `again:`: then no crash
    /// comes in between. Where there is no record, does nothing. The next ``migrate(through:retrying:)`` runs it; a deferred one, the
    /// next run after that.
    ///
    /// - Parameter work: a registered step, from ``work`` or from the history.
    /// - Throws: ``MigrationError``, with the code `misuse` when no such step is registered, or it is for fresh installs
    ///   only, or a schema step; as ``removeRecord()`` does.
    public func rerun(_ work: MigrationWork) throws {
        try withLocks {
            guard work.kind != .schemaStep else {
                throw MigrationError(
                    .misuse, "\(work.id.title) cannot be run again",
                    remedy: "A schema step applies what the ledger lacks. Pass work of the kind `.step`.",
                    work: work)
            }
            guard registration.work.contains(work),
                let index = registration.due.firstIndex(where: { $0.id == work.place }),
                let step = registration.due[index].closures.first(where: { $0.id == work.id })
            else {
                throw MigrationError(
                    .misuse, "\(work.id.title) cannot be run again",
                    remedy: "Pass a step that is registered, as `work` returns them.", work: work)
            }
            guard step.onFreshInstall != .only else {
                throw MigrationError(
                    .misuse, "\(step.titleAndSource) is for fresh installs only",
                    remedy: "Call the code of the step directly.", work: work)
            }
            try change(.rerun([work.id]), in: registration.due[index])
        }
        startOver()
    }

    /// Marks all due steps as not run, in the store and in the databases that steps are registered for, so that the next
    /// launch runs them.
    ///
    /// Steps for fresh installs only stay as they are. Does nothing where there is no record. If it throws, or the process dies
    /// in it, call it again before you call `migrate()`: it changes one place after the other.
    ///
    /// - Throws: ``MigrationError``, as ``removeRecord()`` does.
    public func rerunAllSteps() throws {
        try withLocks {
            // The store last: its closures delete files, and the databases import them.
            for place in registration.due.reversed() {
                let due = place.closures.filter { $0.onFreshInstall != .only }
                try change(.rerun(due.map(\.id)), in: place)
            }
        }
        startOver()
    }

    /// Removes the record, from the store and from the databases that steps are registered for, because the manager's data is
    /// gone: the person has logged out, or has had everything erased.
    ///
    /// The next launch is a fresh install for this manager. To run all steps again on the data that is there, call
    /// ``rerunAllSteps()``.
    ///
    /// Waits on this thread while a run of a manager of this name goes on: stop `runDeferred` first, or call this in the background.
    ///
    /// - Throws: ``MigrationError``, with the code `locked` when the run goes on for longer than the manager waits, and
    ///   `notYetMigrated` under ``MigrationOptions/Role/waitsForApp``; when a store cannot be read or written.
    public func removeRecord() throws {
        try withLocks {
            for place in registration.due {
                try place.store.change(name, waitingUpTo: patience) { state in
                    try state.removeRecord(of: name, at: Date())
                }
            }
        }
        startOver()
    }

    /// Replaces damaged records, and continues from a version.
    ///
    /// For the app's recovery screen, after the error `damagedStore` or `unreadableStore`. It also replaces records
    /// that a newer version of the package wrote in a format of its own, for which the app should first ask for an update, and
    /// those that were lost when their database was salvaged. Each damaged record is replaced in its own place,
    /// the store or a database; those that can be read stay as they are. The damaged contents are set aside under a dated name,
    /// with everything in them, so the other managers in the same line continue from the same version. Managers in other
    /// lines continue from what databases of their own know, or from what `adopting` says; otherwise they throw
    /// `damagedStore` until they call this as well.
    ///
    /// Where a record was lost when its database was salvaged, the manager begins at the version, or at one that it has
    /// completed elsewhere, if that is higher. Other managers of its line begin there only if nothing else is known of them.
    ///
    /// Steps above the version will run, a pre-release counting as its release. So will deferred closures at or below it, except
    /// those for fresh installs alone: they may have been waiting. Deferred steps in databases at or below it count as done,
    /// since no row must be changed twice: for one that was waiting, call `migrate(through: version)`, then ``rerun(_:)``, and
    /// then `migrate()`.
    ///
    /// - Parameter version: the version that the data is at, not above the current one.
    /// - Throws: ``MigrationError``, with the code `misuse` if no record is damaged, or the version is above the current one,
    ///   and `tooOld` if the manager would begin below `oldestSupported`; when nothing could be set aside or written; as
    ///   ``removeRecord()`` does.
    public func replaceRecord(assuming version: AppVersion) throws {
        try withLocks {
            // Otherwise no step runs up to that version, without an error.
            guard version <= currentVersion.ceiling else {
                throw MigrationError(
                    .misuse, "cannot assume \(version), above the current version \(currentVersion)",
                    remedy: """
                        Pass the current version or one below it. If the data is of a newer version, update the app first.
                        """,
                    manager: name, version: version)
            }
            // A pre-release has run the steps of its release.
            let version = version.reach
            let request = try request(through: nil, retrying: nil)
            // Before anything is written.
            let states = try registration.due.map { try readableState(in: $0) }
            let beginnings = beginnings(states, assuming: version, request)
            guard beginnings.contains(where: { $0 != nil }) else {
                throw MigrationError(
                    .misuse, "no record is damaged",
                    remedy: "Call migrate(). To run steps again, call rerunAllSteps().", manager: name)
            }
            // Once it was recorded, no launch could go on from there, and no other version could be assumed.
            if let oldest = options.oldestSupported, !beginnings.compactMap(\.self).allSatisfy(isSupported) {
                throw MigrationError(
                    .tooOld, "cannot assume \(version), below \(oldest), the oldest that can be migrated",
                    remedy: "Pass a later version. Older data needs an app version that still migrates it.",
                    manager: name, version: version)
            }
            for (index, place) in registration.due.enumerated() {
                guard let beginning = beginnings[index] else { continue }
                try replaceRecord(
                    in: place, states[index], request, assuming: version, beginningAt: beginning)
            }
        }
        startOver()
    }

    /// Returns the version at which the manager will begin in each place; nil where nothing is replaced.
    private func beginnings(
        _ states: [PlaceState?], assuming version: AppVersion, _ request: LaunchRequest
    ) -> [AppVersion?] {
        states.enumerated().map { index, state in
            guard let state else { return version }
            guard state.lostRecord != nil else {
                // A manager of another line may have replaced the records, and nothing is known of this line.
                let isUnknown =
                    state.hasForgotten(options.line) && state.takenOver == nil && !state.hasRemovedRecord
                return isUnknown ? version : nil
            }
            let others = states.indices.filter { $0 != index }.compactMap { states[$0] }
            let elsewhere = Beginnings(request: request, places: others, steps: [], answer: nil)
            return max(version, others.compactMap(elsewhere.record(in:)).completed ?? .zero)
        }
    }

    /// Replaces the records of a place.
    ///
    /// - Parameter state: its records as they are; nil if one of them is damaged.
    private func replaceRecord(
        in place: PlaceSteps, _ state: PlaceState?, _ request: LaunchRequest, assuming version: AppVersion,
        beginningAt beginning: AppVersion
    ) throws {
        func mark(_ state: inout StoreState) {
            state.markAsReplacement(assuming: version, in: options.line, at: Date())
        }
        guard let state else {
            var state = StoreState()
            mark(&state)
            return try place.store.setAside(replacingWith: state)
        }
        guard state.lostRecord != nil else {
            return try place.store.change(name, waitingUpTo: patience, mark)
        }
        let lost = LostRecord(history: try place.store.history(name)).following(state.formerRecords)
        let record = lost.record(request, place.closures, assuming: version, beginningAt: beginning)
        try place.store.change(name, waitingUpTo: patience) { state in
            try state.changeRecord(of: name) { $0 = record }
            // For managers of which nothing else is known, unless none could begin there.
            if try isSupported(version) && state.assumptions[options.line] == nil { mark(&state) }
        }
    }

    private func isSupported(_ version: AppVersion) -> Bool {
        version == .zero || options.oldestSupported.map { version >= $0 } ?? true
    }

    /// Returns the records of a place, without a history; nil if one of them is damaged.
    private func readableState(in place: PlaceSteps) throws -> PlaceState? {
        do {
            let state = try StoreAccess.read.of(place.store.name) {
                try PlaceState(of: name, in: place.store.read(name), evidence: .empty, history: [])
            }
            guard state.record == nil else { return state }
            return state.following(try adopting.formers.map(place.store.formerRecord))
        } catch  where error.isAboutDamage {
            return nil
        }
    }

    private func change(_ change: RecordChange, in place: PlaceSteps) throws {
        guard try place.store.record(of: name) != nil else { return }
        try place.store.change(name, waitingUpTo: patience) { try $0.apply(change, toRecordOf: name) }
    }

    /// Forgets what was decided about this launch, after records were changed by hand.
    private func startOver() {
        memory = LaunchMemory()
    }

    private func withLocks(_ body: () throws -> Void) throws {
        try exclusively {
            guard options.role == .migrates else { throw MigrationError.neverWrites(name) }
            let lock = try RunLock.take(
                name, of: store, waitingFor: patience,
                elseAdvising: "Make this call again when it has finished.")
            defer { lock.release() }
            // Before anything that may throw: with the lock, the death would be forgotten.
            try lock.findDeaths {
                do { try registration.findDeaths(waitingUpTo: patience) } catch  where error.isAboutDamage {}
            }
            let deferred = try store.lock(LockName.deferredRun(of: name), waitingUpTo: patience) { holder in
                MigrationError(
                    .locked, "\(holder) is running deferred steps, and did not finish within \(patience)",
                    remedy: holder == .thisProcess
                        ? "End runDeferred() first: cancel its task, and wait for its end."
                        : "Make this call again when that process has finished.",
                    manager: name)
            }
            defer { deferred.release() }
            try body()
        }
    }
}

extension MigrationError {
    static func neverWrites(_ manager: String) -> MigrationError {
        MigrationError(
            .notYetMigrated, "this process waits for another one to migrate, and never writes",
            remedy: "Do it in the process that migrates, or leave out the role .waitsForApp.",
            manager: manager)
    }
}
