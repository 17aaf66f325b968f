import MigrationDiagnostics

/// Everything remembered about one manager in one place: where it began, the state of each piece of work, and the
/// versions whose launches it has completed.
package struct MigrationRecord: Sendable, Equatable {
    /// The version that the record begins with: no step at or below it is pending, unless it is owed.
    package var start: AppVersion?

    /// The state of each piece of work that is not just pending, or not needed because of ``start``.
    package private(set) var work: [WorkID: WorkState] = [:]

    /// The build of the app in which the record began on a new install, until its launch is complete.
    package var freshBuild: String?

    /// The app version whose launch the record began with, until a launch is complete; nil in a record of an older build.
    package var began: AppVersion?

    /// True in a database that was new when the install was not: it says nothing of what else the install had.
    package var isInOldInstall = false

    /// The app version whose launch was completed last; nil until one was.
    package var completed: AppVersion?

    /// The highest app version that ever began to migrate here.
    package var highest: AppVersion?

    /// The lower app version that was launched after ``highest``, until the higher one has come back.
    package var downgradedTo: AppVersion?

    /// In the record of a manager's store, the databases in which the manager has completed a launch.
    package var databases: [KnownDatabase] = []

    /// In the record of a database that is not the manager's store, the id of that store.
    package var store: String?

    /// False where the manager was never called, and an older app alone knows it by its name: ``highest`` is then the version in
    /// which another manager has taken over its steps.
    package var hasBegun: Bool { start != nil || completed != nil || highest == nil }

    /// Creates a record that begins with a version, with nothing settled above it.
    package init(start: AppVersion?) {
        self.start = start
    }
}

// MARK: - The life of work

extension MigrationRecord {
    package subscript(id: WorkID) -> WorkState? {
        get { work[id] }
        @inline(never) set {
            if case .open(let open) = newValue, open.isPlain { work[id] = nil } else { work[id] = newValue }
        }
    }

    /// Adds work, and returns false if it is there already.
    mutating func insert(_ id: WorkID, _ state: WorkState) -> Bool {
        work.updateValue(state, forKey: id) == nil
    }

    /// Makes room for the states of so much work.
    mutating func reserve(_ count: Int) { work.reserveCapacity(count) }

    /// Returns true if work is settled, or has never been needed here.
    func isDone(_ id: WorkID) -> Bool { work[id]?.isSettled ?? (start.map { id.version <= $0 } ?? false) }

    /// Returns true if a step has run, or was not needed, or was skipped.
    package func hasSettled(_ id: WorkID) -> Bool { work[id]?.isSettled ?? false }

    /// The open work with an id, as far as something is known of it.
    package func open(_ id: WorkID) -> OpenWork? {
        if case .open(let open) = work[id] { open } else { nil }
    }

    /// Returns true if a step must run even if it is at or below the version with which the record begins.
    package func isOwed(_ id: WorkID) -> Bool { open(id)?.isOwed ?? false }

    /// Returns where a deferred step is; nil unless a launch has prepared it.
    package func position(of id: WorkID) -> StepPosition? { open(id)?.position }

    /// Changes open work; settled work stays as it is.
    package mutating func changeOpen(_ id: WorkID, _ change: (inout OpenWork) -> Void) {
        var open: OpenWork
        switch work[id] {
        case .open(let known): open = known
        case nil: open = OpenWork()
        case .done, .notNeeded, .skipped: return
        }
        change(&open)
        self[id] = .open(open)
    }

    /// Returns the steps that work in portions and are not done, with where each of them is.
    package var positions: [(id: WorkID, work: OpenWork, position: StepPosition)] {
        work.compactMap { id, state in
            guard case .open(let open) = state, let position = open.position else { return nil }
            return (id, open, position)
        }.inOrder { ($0.id.version, $0.id) < ($1.id.version, $1.id) }
    }

    /// Returns true if work is running, or was when the process died.
    ///
    /// - Parameters:
    ///   - isDeferred: selects the work that runs under the lock of a deferred step, or that of launches.
    ///   - own: work of the caller's own run, which does not count.
    package func hasRunning(isDeferred: Bool, except own: WorkID? = nil) -> Bool {
        work.contains { id, _ in id != own && open(id)?.running?.isDeferred == isDeferred }
    }

    /// Changes the work that is running, or was when the process died, and marks it as pending.
    mutating func endRunning(
        isDeferred: Bool, except own: WorkID? = nil, _ change: (inout OpenWork) -> Void = { _ in }
    ) {
        for (id, state) in work where id != own {
            guard case .open(var open) = state, open.running?.isDeferred == isDeferred else { continue }
            change(&open)
            open.running = nil
            self[id] = .open(open)
        }
    }

    /// Notes that a step has come to its end, or is not needed.
    package mutating func settle(_ id: WorkID, as state: WorkState = .done) { work[id] = state }

    /// Takes what is known of a step's counterpart for what is known of the step.
    mutating func carryOver(_ id: WorkID) {
        guard work[id] == nil, let counterpart = id.counterpart else { return }
        work[id] = work.removeValue(forKey: counterpart)
    }

    /// Notes that a step must run, if nothing is known of it.
    mutating func owe(_ id: WorkID) { work[id] = work[id] ?? .open(OpenWork(isOwed: true)) }

}

// MARK: - Launches

extension MigrationRecord {
    /// Returns the kind of launch that follows on this record.
    package func launch(current: AppVersion, build: String) -> Launch {
        if let highest, highest > current { return .downgrade(from: highest) }
        if let downgradedTo, downgradedTo < current { return .upgrade(from: downgradedTo) }
        if let completed { return completed < current ? .upgrade(from: completed) : .relaunch }
        // Nothing was ever completed: what was cut short goes on.
        guard let freshBuild, let start else { return .adoption(from: start ?? .zero) }
        if freshBuild == build { return .freshInstall }
        return start < current ? .upgrade(from: start) : .relaunch
    }

    /// Returns true if a version above the current one has begun to migrate here.
    package func isNewer(than current: AppVersion) -> Bool { highest.map { $0 > current } ?? false }

    /// Changes the record to that with which a launch begins its work.
    mutating func begin(_ launch: Launch, current: AppVersion) {
        if completed == nil, highest == nil { began = current }
        if case .downgrade(let higher) = launch {
            raiseHighest(to: higher)
            downgradedTo = current
            // Returning is another version change; where the process has died in it, that is not forgotten.
            for (id, state) in work where id.kind == .versionChange && state.isSettled { work[id] = nil }
        }
        raiseHighest(to: current)
    }

    /// Changes the record to that with which a launch ends, once everything that was due is done.
    mutating func finish(_ launch: Launch, current: AppVersion) {
        if launch.isDowngrade { return }
        completed = current
        (freshBuild, began, downgradedTo) = (nil, nil, nil)
        for (id, state) in work {
            let isApplied = if case .open(let open) = state { open == .applied } else { false }
            // The closures for a version change run again when the version changes again.
            if id.kind == .versionChange || isApplied { work[id] = nil }
        }
    }

    /// The highest version that this record knows to be done: what was not needed, or was skipped, has not run.
    package var reached: AppVersion? {
        let done = work.lazy.filter { $0.key.isStep && $0.value == .done }.map(\.key.version)
        return [done.max(), completed].compactMap(\.self).max()
    }

    /// Notes that an app version has begun to migrate here.
    mutating func raiseHighest(to version: AppVersion) {
        if let highest, highest > version { return }
        highest = version
    }
}
