import AppMigrations

/// The steps of the app, by version: twenty from 1.0 to 2.0, and deferred ones with what finishes them.
enum Plan {
    enum Work: Hashable, Sendable {
        /// Writes files.
        case closure
        /// Works in the database, in the transaction that records it.
        case inside
        /// Brings the database to a schema version.
        case move(Int)
        /// Works after the launch.
        case deferred
    }

    struct Step: Sendable {
        let version: AppVersion
        let work: Work
        /// The deferred steps that it finishes.
        var finishing: [AppVersion] = []
        /// True if it does what only a fresh install needs, before every other step.
        var isForFreshInstall = false
        /// True if foreign keys are enforced while it runs.
        var enforcesKeys = false
        /// The release that inserts it, below steps that have run.
        var since: AppVersion?
    }

    static let steps: [Step] = [
        Step(version: "1.0", work: .move(1)),
        Step(version: "1.1", work: .move(2)),
        Step(version: "1.1", work: .closure),
        Step(version: "1.1-1", work: .closure),
        Step(version: "1.2", work: .inside, enforcesKeys: true),
        Step(version: "1.3", work: .move(5)),
        Step(version: "1.3", work: .closure),
        Step(version: "1.3-1", work: .inside),
        Step(version: "1.4", work: .inside),
        Step(version: "1.4-1", work: .closure, isForFreshInstall: true),
        Step(version: "1.5", work: .move(7)),
        Step(version: "1.5", work: .closure),
        Step(version: "1.6", work: .inside),
        Step(version: "1.6-1", work: .closure),
        Step(version: "1.7", work: .move(9)),
        Step(version: "1.7", work: .inside),
        Step(version: "1.8", work: .closure),
        Step(version: "1.8-1", work: .closure),
        Step(version: "1.8-2", work: .closure, since: "2.1"),
        Step(version: "1.9", work: .inside),
        Step(version: "2.0", work: .move(10)),
        Step(version: "2.0", work: .closure),
        Step(version: Deferral.rows, work: .deferred),
        Step(version: Deferral.calls, work: .deferred),
        Step(version: Deferral.items, work: .deferred),
        Step(version: "3.0", work: .inside, finishing: [Deferral.rows, Deferral.calls]),
    ]

    /// The closures that run in a scenario, in the order in which they do.
    static func closures(in scenario: Scenario) -> [Step] {
        let closures = steps.filter { step in
            step.work == .closure && (!step.isForFreshInstall || !scenario.isOldInstall)
                && step.since.map { $0 <= scenario.version } ?? true
        }
        return closures.filter(\.isForFreshInstall)
            + closures.filter { !$0.isForFreshInstall && $0.since == nil }
            + closures.filter { $0.since != nil }
    }

    /// The versions of the steps that do one kind of work.
    static func versions(_ work: Work) -> [String] {
        steps.filter { $0.work == work }.map(\.version.description)
    }

    /// How many schema migrations a database has had, at least, when a step runs.
    static func schema(before version: AppVersion) -> Int {
        steps.compactMap { step in
            if case .move(let target) = step.work, step.version <= version { target } else { nil }
        }.max() ?? 0
    }
}
