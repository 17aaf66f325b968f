package import Foundation

/// Everything remembered about one manager in one place.
package struct MigrationRecord: Sendable, Hashable {
    /// The version that the record begins with: nothing at or below it is pending.
    ///
    /// Nil after a reset.
    package var floor: AppVersion?

    /// The versions whose steps have run, or were not needed.
    package var settled: SortedSet<AppVersion> = []

    /// The versions whose steps must run although they are at or below the floor.
    package var owed: SortedSet<AppVersion> = []

    /// How often best-effort steps have thrown, by version.
    package var failures: [AppVersion: Int] = [:]

    /// How far deferred steps are, by version.
    package var deferred: [AppVersion: DeferredState] = [:]

    /// The app version whose launch was completed last; nil until one was.
    package var completed: AppVersion?

    /// The highest app version that ever began to migrate here.
    package var highest: AppVersion?

    /// The lower app version that was launched after ``highest``, until the higher one has come back.
    package var downgradedTo: AppVersion?

    /// The version that was completed before the first of the downgrades that ``downgradedTo`` speaks of.
    package var downgradedFrom: AppVersion?

    /// The work that was started last and did not return: the process died in it, or it is running now.
    package var running: Running?

    /// Work that can be started, and can kill the process.
    package enum Work: String, Sendable, Hashable {
        case step, move, versionChange, batch
    }

    /// Work that has been started.
    package struct Running: Sendable, Hashable {
        package var work: Work
        package var version: AppVersion
        /// For a move, the number of migrations that it still had to apply; for a batch, the rows done before it.
        package var remaining: Int?
        /// The number of times that the step has been started without coming to an end; 1 at first.
        package var attempt: Int
        /// How many of those attempts are forgiven, and do not count towards giving up.
        package var forgiven: Int
        /// The build of the app that started it, as in `2.0 (417)`.
        package var build: String
        package var since: Date

        /// Counting ends here: far above any real count, and far below where arithmetic overflows.
        static let maximumAttempt = 1_000_000

        package init(
            _ work: Work = .step, version: AppVersion, remaining: Int? = nil, attempt: Int, forgiven: Int = 0,
            build: String, since: Date
        ) {
            self.work = work
            self.version = version
            self.remaining = remaining
            self.attempt = attempt
            self.forgiven = forgiven
            self.build = build
            self.since = since
        }

        func isSameWork(as other: Running) -> Bool { work == other.work && version == other.version }

        /// Whether this is an earlier attempt at the same work, which has got no further.
        func isAttempt(at other: Running) -> Bool { isSameWork(as: other) && remaining == other.remaining }

        /// Whether the attempts that died are too many to try the same work again in the same build.
        func exhausts(_ work: Running, maximumAttempts: Int) -> Bool {
            isAttempt(at: work) && build == work.build && attempt - forgiven >= maximumAttempts
        }

        /// The work as it starts where a record still says that something is running: then that has died.
        func after(_ died: Running?) -> Running {
            guard let died, died.isAttempt(at: self) else { return self }
            var running = self
            running.attempt = min(died.attempt + 1, Self.maximumAttempt)
            // A new build of the app may have fixed what killed the last one.
            running.forgiven = died.build == build ? died.forgiven : died.attempt
            return running
        }
    }

    /// Creates a record that begins with a version, with nothing settled above it.
    package init(floor: AppVersion?) {
        self.floor = floor
    }
}

// The life of a record, as pure functions: what a launch changes before, between and after its steps.
extension MigrationRecord {
    /// The kind of launch that follows on this record.
    package func launch(current: AppVersion) -> Launch {
        if let highest, highest > current { return .downgrade(from: highest) }
        // Nothing was ever completed: an adoption that was cut short goes on.
        guard let completed else { return .adoption(from: floor ?? .zero) }
        return completed < current ? .upgrade(from: completed) : .relaunch
    }

    /// The record with which a launch begins its work.
    ///
    /// - Parameters:
    ///   - record: the record found; nil where there was none.
    ///   - due: the steps of this place that are due, asked for on a fresh install only.
    package static func begun(
        _ record: MigrationRecord?, by launch: Launch, current: AppVersion, due: @autoclosure () -> DueSteps
    ) -> MigrationRecord {
        var begun = record ?? MigrationRecord(floor: launch.previousVersion ?? current)
        switch launch {
        case .freshInstall:
            let due = due()
            // There is no old data: what is due is not needed, except what the app asked to run.
            begun.owed.formUnion(due.runningOnFreshInstall.subtracting(begun.settled))
            begun.settled.formUnion(due.versions.subtracting(due.runningOnFreshInstall))
            begun.completed = current
        case .downgrade(let highest):
            begun.raiseHighest(to: highest)
            if begun.downgradedTo == nil { begun.downgradedFrom = begun.completed }
            begun.completed = current
            begun.downgradedTo = current
        case .adoption, .upgrade, .relaunch:
            break
        }
        begun.raiseHighest(to: current)
        return begun
    }

    /// The record after everything that was due has been done.
    package func finished(by launch: Launch, current: AppVersion) -> MigrationRecord {
        if case .downgrade = launch { return self }
        var finished = self
        finished.completed = current
        finished.downgradedTo = nil
        finished.downgradedFrom = nil
        return finished
    }

    /// Notes that work is being started.
    ///
    /// If the record says that the same work is running already, its last attempt died.
    mutating func start(_ work: Running) {
        running = work.after(running)
    }

    /// Notes that a step has come to its end, or is not needed.
    package mutating func settle(_ version: AppVersion) {
        settled.insert(version)
        owed.remove(version)
        failures[version] = nil
        deferred[version] = nil
        if running?.work == .step, running?.version == version { running = nil }
    }

    /// The record, with what only others write: versions settled in transactions, and how far deferred steps are.
    package func keeping(_ known: MigrationRecord?) -> MigrationRecord {
        var record = self
        record.settled.formUnion(known?.settled ?? [])
        record.owed.subtract(record.settled)
        record.failures = record.failures.filter { !record.settled.contains($0.key) }
        record.deferred.merge(known?.deferred ?? [:]) { $1 }
        record.deferred = record.deferred.filter { !record.settled.contains($0.key) }
        return record
    }

    /// The highest version that this record knows to be done: a pending step below it is out of order.
    package var reached: AppVersion? {
        [settled.last, completed].compactMap { $0 }.max()
    }

    /// The version that the data is at, where a launch takes it for that of an earlier one.
    ///
    /// A lower version of the app that was launched for a while has not made the data older.
    func dataVersion(of launch: Launch) -> AppVersion? {
        launch.upgradedVersion.map { max($0, downgradedFrom ?? $0) }
    }

    private mutating func raiseHighest(to version: AppVersion) {
        highest = highest.map { max($0, version) } ?? version
    }
}
