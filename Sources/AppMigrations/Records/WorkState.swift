package import Foundation

/// The state of a piece of work: all that a record keeps of it.
///
/// Work of which a record says nothing is pending if it is above the version with which the record begins.
package enum WorkState: Sendable, Equatable {
    /// It has run.
    case done
    /// The place was new, so there was no old data.
    case notNeeded
    /// The app has settled it without running it.
    case skipped
    // Indirect: nearly all work of a record is settled, and needs no room for this.
    indirect case open(OpenWork)

    package var isSettled: Bool {
        switch self {
        case .done, .notNeeded, .skipped: true
        case .open: false
        }
    }

    /// The state once the process has died in the work, if it was running.
    var afterDeath: WorkState {
        guard case .open(var open) = self else { return self }
        open.die()
        return .open(open)
    }
}

/// Work that has not come to its end: it is pending, running or waiting.
package struct OpenWork: Sendable, Equatable {
    /// True if it must run although it is at or below the version with which the record begins.
    package var isOwed: Bool
    /// True if it has been settled before, and is to run again.
    package var isAgain: Bool
    /// The start that has not come to an end: the work is running now, or the process died in it.
    package var running: Start?
    /// How often the process died in it since it got further last.
    package var deaths: Int
    /// How many of these do not count towards giving up: they were in another build, or the app asked to retry.
    package var forgiven: Int
    /// The build of the app in which the process died last, as in `2.0 (417)`.
    package var build: String?
    /// For a schema step, the number of migrations that it had to apply when it was started last.
    package var remaining: Int?
    /// How often it has failed.
    package var failures: Int
    /// The build in which it failed last since it got further, and the codes of that failure, as in
    /// `2.0 (417): NSPOSIXErrorDomain 2`.
    package var lastFailure: String?
    /// How far it is, if it works in portions; a deferred step that has a position is waiting.
    package var position: StepPosition?

    package init(isOwed: Bool = false, isAgain: Bool = false) {
        (self.isOwed, self.isAgain) = (isOwed, isAgain)
        (deaths, forgiven, failures) = (0, 0, 0)
    }

    /// A schema step that has applied all its migrations.
    static var applied: OpenWork {
        var open = OpenWork()
        open.remaining = 0
        return open
    }

    package struct Start: Sendable, Equatable {
        package let build: String
        package let since: Date
        /// True if the lock of a deferred step is held while it runs, and not the one of launches.
        package let isDeferred: Bool

        package init(build: String, since: Date, isDeferred: Bool = false) {
            self.build = build
            self.since = since
            self.isDeferred = isDeferred
        }
    }

    /// True if it has been started before, and was not complete.
    var hasBegun: Bool { running != nil || deaths > 0 || failures > 0 }

    /// True if nothing is known that pending work would not have anyway.
    var isPlain: Bool { self == OpenWork() }

    /// Counting ends here: far above any real count, and far below where arithmetic overflows.
    static let maximumCount = 1_000_000
}

extension OpenWork {
    /// Notes that the work begins.
    ///
    /// - Parameter remaining: for a schema step, the number of migrations that it has to apply. If it was another one at the
    ///   last start, the work has got further since, and deaths count from zero.
    mutating func begin(_ start: Start, remaining: Int?, isRetry: Bool) {
        if remaining != self.remaining { restart() }
        self.remaining = remaining
        if isRetry { forgiven = deaths }
        running = start
    }

    /// Notes that the process died in the work, if it was running.
    mutating func die() {
        guard let running else { return }
        self.running = nil
        // A new build may have fixed what killed the last one.
        if build != running.build { forgiven = deaths }
        build = running.build
        deaths = min(deaths + 1, Self.maximumCount)
    }

    /// Notes that the work has got further, so that what dies from here on dies in a first attempt.
    package mutating func restart() {
        (deaths, forgiven, build, lastFailure) = (0, 0, nil, nil)
    }

    /// Notes that a checkpoint has saved where the work is.
    mutating func move(to cursor: String) {
        var next = position ?? StepPosition()
        next.cursor = cursor
        next.done += 1
        position = next
    }

    /// Notes that the work has ended by throwing.
    ///
    /// - Parameter failure: the build and the codes, if it failed by itself.
    mutating func stop(failure: String?) {
        running = nil
        guard let failure else { return }
        failures = min(failures + 1, Self.maximumCount)
        lastFailure = failure
    }

    /// Returns the number of deaths that count, in a build of the app.
    ///
    /// - Parameter remaining: for a schema step, the number of migrations that it has to apply now.
    func countedDeaths(in build: String, remaining: Int?) -> Int {
        build == self.build && remaining == self.remaining ? deaths - forgiven : 0
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

    /// The rows to be done in all, with those that have come since the start; nil if unknown.
    package var knownTotal: Int? { total.map { max($0, done) } }

    /// The keys of the rows that failed, and that each run retries: a literal for each column of the key.
    package var setAside: [[String]] = []

    package init() {}

    /// False before the first portion, unless a launch has found where that begins.
    package var hasCursor: Bool { cursor != nil }

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
