public import Foundation

/// What is remembered about one manager in one place.
///
/// Stores read and write it; apps need it only when they implement a ``MigrationStore``.
public struct MigrationRecord: Sendable, Hashable {
    /// The version that the record begins with: nothing at or below it is pending.
    ///
    /// Nil after a reset.
    public var floor: AppVersion?

    /// The versions whose steps have run, or were found not to be needed.
    public var settled: Set<AppVersion>

    /// The versions whose steps must run although they are at or below the floor.
    public var owed: Set<AppVersion>

    /// The app version whose launch was completed last; nil until a first one was.
    public var completed: AppVersion?

    /// The highest app version that ever began to migrate here.
    public var highest: AppVersion?

    /// The lower app version that was launched after ``highest``, until the higher one has come back.
    public var downgradedTo: AppVersion?

    /// The step that was started last and did not return: the process died in it, or it is running now.
    public var running: Running?

    /// A step that has been started.
    public struct Running: Sendable, Hashable {
        /// The step's version.
        public var version: AppVersion
        /// How often the step has been started without coming to an end; 1 at first.
        public var attempt: Int
        /// How many of those attempts are forgiven, and do not count towards giving up.
        public var forgiven: Int
        /// The build of the app that started it, as in `2.0 (417)`.
        public var build: String
        /// When it was started.
        public var since: Date

        /// Where counting ends: far above any real count, and far below where arithmetic overflows.
        static let maximumAttempt = 1_000_000

        /// Creates a note of a step that is being started.
        public init(version: AppVersion, attempt: Int, forgiven: Int = 0, build: String, since: Date) {
            self.version = version
            self.attempt = attempt
            self.forgiven = forgiven
            self.build = build
            self.since = since
        }
    }

    /// Creates a record that begins with a version, with nothing settled above it.
    public init(floor: AppVersion?) {
        self.floor = floor
        self.settled = []
        self.owed = []
    }
}

/// The steps that are registered for one place, as far as they are due.
package struct DueSteps: Sendable {
    /// The versions that have a step.
    package var versions: Set<AppVersion>
    /// Those among them that run on a fresh install too.
    package var runningOnFreshInstall: Set<AppVersion>

    package init(versions: Set<AppVersion>, runningOnFreshInstall: Set<AppVersion> = []) {
        self.versions = versions
        self.runningOnFreshInstall = runningOnFreshInstall
    }
}

// The life of a record, as pure functions: what a launch changes before, between and after its steps.
extension MigrationRecord {
    /// The record with which a launch begins its work.
    package static func begun(
        _ record: MigrationRecord?, by launch: Launch, current: AppVersion, due: @autoclosure () -> DueSteps
    ) -> MigrationRecord {
        var begun = record ?? MigrationRecord(floor: launch.previousVersion ?? current)
        switch launch {
        case .freshInstall:
            let due = due()
            // There is no old data: what is due is not needed, but for what the app asked to run.
            begun.owed.formUnion(due.runningOnFreshInstall.subtracting(begun.settled))
            begun.settled.formUnion(due.versions.subtracting(due.runningOnFreshInstall))
            begun.completed = current
        case .downgrade(let highest):
            begun.raiseHighest(to: highest)
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
        return finished
    }

    /// Notes that a step is being started.
    ///
    /// A note about the same step means that its last attempt died.
    package mutating func start(_ version: AppVersion, build: String, at date: Date) {
        var running = Running(version: version, attempt: 1, build: build, since: date)
        if let died = self.running, died.version == version {
            running.attempt = min(died.attempt + 1, Running.maximumAttempt)
            // A new build of the app may have mended what killed the last one.
            running.forgiven = died.build == build ? died.forgiven : died.attempt
        }
        self.running = running
    }

    /// Notes that a step has come to its end, or is not needed.
    package mutating func settle(_ version: AppVersion) {
        settled.insert(version)
        owed.remove(version)
        if running?.version == version { running = nil }
    }

    /// The record, with what is known to be settled besides.
    package func keeping(settled versions: Set<AppVersion>) -> MigrationRecord {
        var record = self
        record.settled.formUnion(versions)
        record.owed.subtract(record.settled)
        return record
    }

    /// The highest version that this record knows to be done: a pending step below it is late.
    package var reached: AppVersion? {
        [settled.max(), completed].compactMap { $0 }.max()
    }

    private mutating func raiseHighest(to version: AppVersion) {
        highest = highest.map { max($0, version) } ?? version
    }
}
