package import Foundation

/// The time that the system grants before it suspends the process, for all runs together.
///
/// iOS, tvOS, watchOS and visionOS kill a process that is suspended while it holds a lock in a shared container. So the
/// process asks for time while a run is going on. When the time expires, the runs stop, and the process may be
/// suspended as soon as they have ended, or after a short while in any case.
///
/// The runs share one request, which keeps one of the system's few threads waiting.
package final class ExpiringActivity: Sendable {
    /// Asks the system for time, as `ProcessInfo.performExpiringActivity(withReason:using:)` does.
    ///
    /// The time lasts as long as the block, called with false. When it expires, or is refused, the block is called
    /// with true.
    package typealias Request =
        @Sendable (
            _ reason: String, _ block: @escaping @Sendable (_ isExpired: Bool) -> Void
        ) -> Void

    /// The activity of this process; tests put others in its place.
    @TaskLocal package static var current = ExpiringActivity(requestingTime: systemRequest)

    private let request: Request?
    private let patience: DispatchTimeInterval
    /// The round of runs that share the last request.
    private let round = Locked<Round?>(nil)

    /// - Parameters:
    ///   - request: asks the system for time; nil where the system suspends no process.
    ///   - patience: how long runs may take to stop once the time has expired. The system grants a few seconds.
    package init(requestingTime request: Request?, patience: DispatchTimeInterval = .seconds(2)) {
        self.request = request
        self.patience = patience
    }

    /// Keeps the process from being suspended until the returned closure is called.
    ///
    /// - Parameters:
    ///   - name: what runs; may be empty.
    ///   - stop: makes the run stop, when the time expires. Called on a thread of the system's.
    ///   - abandon: releases what a suspended process must not hold, if the run has not stopped in time.
    /// - Returns: notes that the run has ended.
    package func begin(
        _ name: String, stop: @escaping @Sendable () -> Void, abandon: @escaping @Sendable () -> Void = {}
    ) -> @Sendable () -> Void {
        guard let request else { return {} }
        let run = Round.Run(stop: stop, abandon: abandon)
        let (round, id, isNew) = round.withLock { current in
            if let round = current, let id = round.add(run) { return (round, id, false) }
            let round = Round(run)
            current = round
            return (round, 0, true)
        }
        if isNew {
            // The system refuses an empty reason with a trap.
            request("AppMigrations: \(name)") { [patience] isExpired in
                if isExpired { round.expire(patience) } else { round.waitForEnd() }
            }
        }
        return { round.remove(id) }
    }

    private static var systemRequest: Request? {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            return { ProcessInfo.processInfo.performExpiringActivity(withReason: $0, using: $1) }
        #else
            return nil
        #endif
    }
}

/// Runs that share a request for time.
private final class Round: Sendable {
    struct Run: Sendable {
        let stop: @Sendable () -> Void
        let abandon: @Sendable () -> Void
    }

    private struct State {
        var runs: [Int: Run]
        var lastID = 0
        /// True if further runs may join: none has made the round end, and its time has not expired.
        var isOpen = true
    }

    private let state: Locked<State>
    /// Left when the last run ends.
    private let group = DispatchGroup()

    /// Creates a round of one run, whose id is 0.
    init(_ run: Run) {
        state = Locked(State(runs: [0: run]))
        group.enter()
    }

    /// Adds a run, and returns its id; nil when the round is closed.
    func add(_ run: Run) -> Int? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            state.lastID += 1
            state.runs[state.lastID] = run
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        let hasEnded = state.withLock { state in
            let wasRunning = state.runs.removeValue(forKey: id) != nil
            guard wasRunning, state.runs.isEmpty else { return false }
            state.isOpen = false
            return true
        }
        if hasEnded { group.leave() }
    }

    func waitForEnd() {
        group.wait()
    }

    func expire(_ patience: DispatchTimeInterval) {
        let runs = state.withLock { state in
            state.isOpen = false
            return state.runs.values.map(\.stop)
        }
        for stop in runs { stop() }
        guard group.wait(timeout: .now() + patience) == .timedOut else { return }
        for abandon in state.withLock({ $0.runs.values.map(\.abandon) }) { abandon() }
    }
}
