import Foundation

// Changing by hand what is remembered, for recovery screens and for a developer's desk.
extension MigrationManager {
    /// Marks all due steps as not run, in the store and in the databases that steps and moves are registered for, so
    /// that the next launch runs them.
    ///
    /// Applied schema migrations stay applied. Does nothing where there is no record.
    ///
    /// - Throws: ``MigrationError``, when a store cannot be read or written.
    public func rerunAllSteps() throws {
        try changeRecords { record in
            guard let old = record else { return }
            var new = MigrationRecord(floor: nil)
            new.completed = old.completed
            new.highest = old.highest
            new.downgradedTo = old.downgradedTo
            record = new
        }
    }

    /// Marks a step as not run, in every place, so that it starts over.
    ///
    /// ```swift
    /// if try manager.migrate().returnedFromDowngrade {
    ///     try manager.rerunStep("2.1-1")
    ///     try manager.migrate()
    /// }
    /// ```
    ///
    /// For a step whose work an older version of the app has undone meanwhile, or a deferred step whose table or cursor has
    /// changed. Where there is no record, does nothing. The next ``migrate(through:retrying:)`` runs it; a deferred one, the
    /// next run after that.
    ///
    /// - Parameter version: the version of the step.
    /// - Throws: ``MigrationError``, when a store cannot be read or written.
    public func rerunStep(_ version: AppVersion) throws {
        try changeRecords { $0?.rerun(version) }
    }

    /// Removes the record, from the store and from the databases that steps and moves are registered for.
    ///
    /// The next launch decides from what is left: the versions that the store has seen, and `adopting`.
    ///
    /// - Throws: ``MigrationError``, when a store cannot be read or written.
    public func removeRecord() throws {
        try changeRecords { $0 = nil }
    }

    /// Settles a pending step without running it.
    ///
    /// ```swift
    /// do {
    ///     try manager.migrate()
    /// } catch let error as MigrationError where error.code == .gaveUp {
    ///     guard let version = error.version else { throw error }
    ///     try manager.skip(version)
    ///     try manager.migrate()
    /// }
    /// ```
    ///
    /// For the app's recovery screen, after the error `gaveUp`. The step's work stays undone. If the closures for a
    /// version change have crashed, skips them; the version is the current one then.
    ///
    /// - Parameter version: the version of the step, as in the error.
    /// - Throws: ``MigrationError`` with the code `invalidCall`, when no pending step has the version.
    public func skip(_ version: AppVersion) throws {
        try withRunLock {
            let plan = try plan()
            var journal = Journal(plan, registration.places, timeout: patience)
            let steps = (plan.pending + plan.deferred).filter {
                $0.step.version == version && !$0.step.isMove
            }
            for pending in steps where pending.step.kind != .versionChange { journal.skip(pending) }
            if plan.pending.allSatisfy({ $0.step.kind == .versionChange }), let change = plan.pending.first,
                plan.places[0].record.attempts[change.step.work] != nil, version == currentVersion
            {
                // Nothing but the closures for a version change is left, and the process has died in them.
                journal.skipVersionChange(change)
            } else if steps.allSatisfy({ $0.step.kind == .versionChange }) {
                throw MigrationError(
                    .invalidCall, "no step of version \(version) is pending",
                    remedy: "pendingVersions() returns those that are.", manager: name, version: version)
            }
            try journal.saving()()
        }
    }

    /// How long to wait for others.
    private var patience: Duration { options.lockTimeout ?? .seconds(5) }

    /// Replaces a damaged record, and continues from a version.
    ///
    /// For the app's recovery screen, after the error `damagedStore` or `unreadableStore`. It also replaces a record
    /// with the error `newerFormat`, for which the app should first ask for an update. The store sets the damaged
    /// contents aside under a dated name, with everything in them; its other managers in the same line continue from
    /// the same version. Managers in other lines are `undecided` until they are replaced as well, or
    /// pass `adopting`. A record that can be read is replaced for this manager alone.
    ///
    /// - Parameter version: the version that the data is at. Steps above it will run.
    /// - Throws: ``MigrationError``, when nothing could be set aside or written.
    public func replaceRecord(assuming version: AppVersion) throws {
        try withRunLock {
            for place in registration.places {
                func replace(_ state: inout StoreState) throws {
                    var record = MigrationRecord(floor: version)
                    record.completed = version
                    record.highest = version
                    try state.setRecord(record, of: name)
                    state.see([version], in: options.line, at: Date(), adopted: version)
                }
                if try isDamaged(place) {
                    var state = StoreState()
                    state.markAsReplacement(at: Date())
                    try replace(&state)
                    try place.store.setAside(replacingWith: state)
                } else if place.id == registration.storePlace.id {
                    try place.store.change(name, waitingUpTo: patience, replace)
                }
            }
        }
        startOver()
    }

    /// Returns true if a place's record cannot be read, for good.
    private func isDamaged(_ place: any MigrationPlace) throws -> Bool {
        do {
            _ = try place.store.record(of: name)
            return false
        } catch let error as MigrationError
            where [.damagedStore, .newerFormat, .unreadableStore].contains(error.code)
        {
            return true
        }
    }

    private func changeRecords(_ change: (inout MigrationRecord?) -> Void) throws {
        try withRunLock {
            for place in registration.places where try place.store.record(of: name) != nil {
                try place.store.change(name, waitingUpTo: patience) { state in
                    try state.changeRecord(of: name, change)
                }
            }
        }
        startOver()
    }

    /// Forgets what was decided about this launch, after records were changed by hand.
    private func startOver() {
        launch = LaunchMemory()
    }

    private func withRunLock(_ body: () throws -> Void) throws {
        try exclusively {
            guard options.role == .migrates else { throw MigrationError.neverWrites(name) }
            let lock = try RunLock.take(name, of: store, waitingFor: patience)
            defer { lock.release() }
            try body()
        }
    }
}

extension MigrationError {
    static func neverWrites(_ manager: String) -> MigrationError {
        MigrationError(
            .notYetMigrated, "this process waits for another one to migrate, and never writes",
            remedy: "Do it in the process that migrates, or leave out the role .waits.", manager: manager)
    }
}
