package import Foundation

/// Everything remembered about one manager in one place.
package struct MigrationRecord: Sendable, Equatable {
    /// The version that the record begins with: nothing at or below it is pending.
    ///
    /// Nil after ``MigrationManager/rerunAllSteps()``.
    package var floor: AppVersion?

    /// The versions whose steps have run, or were not needed.
    package var settled: SortedSet<AppVersion> = []

    /// The versions whose steps must run although they are at or below the floor.
    package var owed: SortedSet<AppVersion> = []

    /// Work that has been started and has not come to an end: it is running now, or the process died in it.
    package var attempts: [Work: Attempt] = [:]

    /// How often steps have failed, by version.
    package var failures: [AppVersion: Int] = [:]

    /// The versions of best-effort steps that have failed too often to be tried again.
    ///
    /// They are not settled: if a later release depends on such a step, and it is best-effort no longer, it is pending.
    package var givenUp: SortedSet<AppVersion> = []

    /// How far steps are that work in portions, by version.
    package var positions: [AppVersion: StepPosition] = [:]

    /// The app version whose launch was completed last; nil until one was.
    package var completed: AppVersion?

    /// The highest app version that ever began to migrate here.
    package var highest: AppVersion?

    /// The lower app version that was launched after ``highest``, until the higher one has come back.
    package var downgradedTo: AppVersion?

    /// Creates a record that begins with a version, with nothing settled above it.
    package init(floor: AppVersion?) {
        self.floor = floor
    }

    /// Counting ends here: far above any real count, and far below where arithmetic overflows.
    static let maximumCount = 1_000_000
}

extension MigrationRecord {
    /// Work that can be started, and in which the process can die.
    package struct Work: Sendable, Hashable {
        package enum Kind: String, Sendable { case step, move, versionChange }

        package let kind: Kind
        package let version: AppVersion

        package init(_ version: AppVersion, _ kind: Kind = .step) {
            self.kind = kind
            self.version = version
        }
    }

    /// The attempts at work that the process has died in, and the one that is running.
    package struct Attempt: Sendable, Equatable {
        /// The number of times that the work was started without coming to an end; 1 at first.
        package var number: Int
        /// How many of those do not count towards giving up: they died in another build, or the app asked to retry.
        package var forgiven = 0
        /// True if a later run has found that the last one of them died.
        var hasDied = false
        /// For a move, the number of migrations that it still had to apply.
        package var remaining: Int?
        /// The build of the app that started it, as in `2.0 (417)`.
        package var build: String
        package var since: Date

        package init(number: Int = 1, remaining: Int? = nil, build: String, since: Date) {
            self.number = number
            self.remaining = remaining
            self.build = build
            self.since = since
        }

        /// The number of attempts that died without getting any further, and that count.
        var deaths: Int { number - forgiven }

        /// Notes that the work has got further, so that what dies from here on dies in a first attempt.
        package mutating func restart() {
            number = 1
            forgiven = 0
        }
    }

    /// Returns the attempts that died in work, if they are as many as to give up on it.
    ///
    /// - Parameter hasDied: whether the last run died, so that an attempt found in the record died in it.
    func exhausted(
        _ work: Work, remaining: Int?, by request: LaunchRequest, hasDied: Bool
    ) -> Attempt? {
        guard let died = deadAttempt(at: work, remaining: remaining, hasDied), died.build == request.build,
            died.deaths >= request.maximumAttempts, work.version != request.retrying
        else { return nil }
        return died
    }

    /// Returns the attempts at work that died.
    ///
    /// A run that ended without dying could not always write down that it stopped: the database may have been locked, or
    /// full. Its attempt is none of those.
    private func deadAttempt(at work: Work, remaining: Int?, _ hasDied: Bool) -> Attempt? {
        guard var attempt = attempts[work], attempt.remaining == remaining else { return nil }
        if !hasDied, !attempt.hasDied { attempt.number -= 1 }
        attempt.forgiven = min(attempt.forgiven, attempt.number)
        return attempt.number > 0 ? attempt : nil
    }

    /// Notes that work is being started.
    ///
    /// - Parameter hasDied: whether the last run died, so that an attempt found in the record died in it.
    mutating func start(_ work: Work, remaining: Int?, by request: LaunchRequest, hasDied: Bool) {
        // Another process has done the step meanwhile.
        guard work.kind != .step || !settled.contains(work.version) else { return }
        var attempt = Attempt(remaining: remaining, build: request.build, since: request.date)
        if let died = deadAttempt(at: work, remaining: remaining, hasDied) {
            attempt.number = min(died.number + 1, Self.maximumCount)
            // A new build of the app may have fixed what killed the last one.
            let isForgiven = died.build != request.build || work.version == request.retrying
            attempt.forgiven = isForgiven ? died.number : died.forgiven
        }
        attempts[work] = attempt
    }

    /// Notes that the last attempt at work died, for the runs after this one.
    mutating func confirmDeath(in work: Work) { attempts[work]?.hasDied = true }

    /// Notes that work has ended by throwing: the process has not died in this attempt, but in those before.
    mutating func stop(_ work: Work) {
        guard var attempt = attempts[work] else { return }
        attempt.number -= 1
        attempt.forgiven = min(attempt.forgiven, attempt.number)
        attempt.hasDied = true
        attempts[work] = attempt.number > 0 ? attempt : nil
    }

    /// Counts a failure of a step, and gives up on it if its rule says so.
    mutating func fail(_ step: MigrationStep) {
        let count = min(failures[step.version] ?? 0, Self.maximumCount - 1) + 1
        failures[step.version] = count
        guard case .giveUp(let limit) = step.onError, count >= limit else { return }
        failures[step.version] = nil
        givenUp.insert(step.version)
    }

    /// Returns true if a step is best-effort and has failed too often to be tried again.
    func hasGivenUp(_ step: MigrationStep) -> Bool {
        step.onError != .stop && givenUp.contains(step.version)
    }

    /// Notes that a step is to run, whether it has run or not.
    mutating func rerun(_ version: AppVersion) {
        settled.remove(version)
        givenUp.remove(version)
        failures[version] = nil
        positions[version] = nil
        attempts[Work(version)] = nil
        if let floor, version <= floor { owed.insert(version) }
    }

    /// Notes that a step has come to its end, or is not needed.
    package mutating func settle(_ version: AppVersion) {
        settled.insert(version)
        owed.remove(version)
        givenUp.remove(version)
        failures[version] = nil
        positions[version] = nil
        attempts[Work(version)] = nil
    }
}

// What a launch changes before and after its steps.
extension MigrationRecord {
    /// Returns the kind of launch that follows on this record.
    package func launch(current: AppVersion) -> Launch {
        if let highest, highest > current { return .downgrade(from: highest) }
        if let downgradedTo, downgradedTo < current { return .upgrade(from: downgradedTo) }
        // Nothing was ever completed: an adoption that was cut short goes on.
        guard let completed else { return .adoption(from: floor ?? .zero) }
        return completed < current ? .upgrade(from: completed) : .relaunch
    }

    /// Changes the record to that with which a launch begins its work.
    ///
    /// - Parameter due: the steps of this place that are due.
    mutating func begin(_ launch: Launch, current: AppVersion, due: [MigrationStep]) {
        switch launch {
        case .freshInstall:
            // There is no old data: what is due is not needed, except what the app asked to run.
            for step in due where !settled.contains(step.version) {
                if step.onFreshInstall == .skip {
                    settled.insert(step.version)
                } else {
                    owed.insert(step.version)
                }
            }
            completed = current
        case .downgrade(let higher):
            raiseHighest(to: higher)
            downgradedTo = current
        case .adoption, .upgrade, .relaunch: break
        }
        raiseHighest(to: current)
    }

    /// Changes the record to that with which a launch ends, once everything that was due is done.
    mutating func finish(_ launch: Launch, current: AppVersion) {
        if case .downgrade = launch { return }
        completed = current
        downgradedTo = nil
    }

    /// The highest version that this record knows to be done: a pending step below it is out of order.
    package var reached: AppVersion? {
        guard let last = settled.last, let completed else { return settled.last ?? completed }
        return max(completed, last)
    }

    /// Returns the version that the data is at, where a launch takes it for that of an earlier one.
    ///
    /// A lower version of the app that was launched for a while has not made the data older.
    func dataVersion(of launch: Launch) -> AppVersion? {
        launch.upgradedVersion.flatMap { [$0, completed, floor].compactMap { $0 }.max() }
    }

    private mutating func raiseHighest(to version: AppVersion) {
        if let highest, highest > version { return }
        highest = version
    }
}

/// How far a step is that works in portions.
package struct StepPosition: Sendable, Equatable {
    /// Where the next portion begins, as JSON text; nil before the first.
    ///
    /// Kept as text, so that no store rounds its numbers.
    var cursor: String?

    /// The rows that are done; for other steps, the calls or checkpoints.
    package var done = 0

    /// The rows that there were at the start; nil if unknown.
    package var total: Int?

    /// The keys of the rows that failed, and that each run retries: a literal for each column of the key.
    package var setAside: [[String]] = []

    package init() {}

    /// Decodes the cursor; nil before the first portion.
    package func cursor<Cursor: Decodable>(as type: Cursor.Type) throws -> Cursor? {
        try cursor.map { try JSONDecoder().decode(type, from: Data($0.utf8)) }
    }

    /// Moves the cursor, and notes what has been done.
    package mutating func advance(to cursor: some Encodable, done count: Int) throws {
        self.cursor = try Self.text(of: cursor)
        done += count
    }

    /// Returns a key of a row as text: `42`, `'Rome'` or `('Rome', 2)`.
    package static func description(ofKey literals: [String]) -> String {
        literals.count == 1 ? literals[0] : "(\(literals.joined(separator: ", ")))"
    }

    /// Returns a cursor's JSON text, the same for equal cursors.
    package static func text(of cursor: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(cursor), as: UTF8.self)
    }
}
