/// What there is to do, as seen without writing or locking: the kind of launch and the plan, place by place.
struct MigrationSurvey {
    /// A place, as it was found.
    struct Finding {
        let place: any MigrationPlace
        let launch: Launch
        /// What the place's store held.
        let stored: StoreState
        /// The record with which this launch begins its work.
        let begun: MigrationRecord
    }

    /// A step that is pending.
    struct Item {
        let step: MigrationStep
        let isLate: Bool
        /// What the step, if it is a move, will apply.
        let schemaVersions: [String]
    }

    let current: AppVersion
    let line: String
    /// The store's place first.
    let findings: [Finding]
    /// What is pending, in the order in which it will run.
    let items: [Item]

    /// Looks at every place, and plans.
    ///
    /// - Parameters:
    ///   - steps: the steps of all places.
    ///   - known: the kinds of launch that have been told before, by place.
    ///   - target: nothing above it is pending.
    init(
        manager: String, current: AppVersion, line: String, places: [any MigrationPlace],
        steps: [MigrationStep],
        known: [PlaceID: Launch], target: AppVersion, adopting: () throws -> AppVersion?
    ) throws {
        var findings: [Finding] = []
        var items: [Item] = []
        for place in places {
            let due = steps.filter { $0.place.id == place.id && $0.version <= current.ceiling }
            let closures = due.filter { !$0.isMove }
            let moves = due.filter { $0.isMove && $0.version <= target }

            let view = try place.look(manager: manager, moves: moves.compactMap(\.move))
            let launch =
                try known[place.id]
                ?? Launch.recognized(
                    record: view.state.record, seen: view.state.seen[line, default: []].map(\.version),
                    evidence: view.evidence, current: current, adopting: adopting)
            guard let launch else { throw MigrationError.undecided(manager: manager, place: place) }

            let begun = MigrationRecord.begun(
                view.state.record, by: launch, current: current,
                due: DueSteps(
                    versions: Set(closures.map(\.version)),
                    runningOnFreshInstall: Set(closures.filter { $0.onFreshInstall == .run }.map(\.version))))
            findings.append(Finding(place: place, launch: launch, stored: view.state, begun: begun))
            if case .downgrade = launch { continue }

            let plan = MigrationPlan(
                known: closures.map(\.version), floor: begun.floor, settled: begun.settled, owed: begun.owed,
                target: target)
            let pending = Set(plan.pending)
            let reached = view.state.record?.reached
            items += closures.filter { pending.contains($0.version) }.map { step in
                Item(step: step, isLate: reached.map { step.version < $0 } ?? false, schemaVersions: [])
            }
            items += zip(moves, view.pending).filter { !$1.isEmpty }.map { step, versions in
                Item(step: step, isLate: false, schemaVersions: versions)
            }
        }
        self.current = current
        self.line = line
        self.findings = findings
        // Moves go first, so that a closure finds the schema of its version.
        self.items = items.sorted {
            ($0.step.version, $0.step.isMove ? 0 : 1) < ($1.step.version, $1.step.isMove ? 0 : 1)
        }
    }

    /// Whether everything is done and written down: then there is nothing to lock and nothing to write.
    func isSettled(_ extent: MigrationExtent) -> Bool {
        items.isEmpty
            && findings.allSatisfy { finding in
                finding.stored.record == extent.ending(finding.begun, by: finding.launch, current: current)
                    && finding.stored.hasSeen(current, in: line)
            }
    }
}

/// How far a call of `migrate` goes.
enum MigrationExtent {
    /// To the current version: the launch is completed.
    case whole
    /// Up to a version; more is to follow.
    case through(AppVersion)

    func ending(_ record: MigrationRecord, by launch: Launch, current: AppVersion) -> MigrationRecord {
        switch self {
        case .whole: record.finished(by: launch, current: current)
        case .through: record
        }
    }
}

extension MigrationStep {
    var move: (any MigrationMove)? {
        if case .move(let move) = work { move } else { nil }
    }
}

extension MigrationError {
    fileprivate static func undecided(manager: String, place: any MigrationPlace) -> MigrationError {
        MigrationError(
            .undecided,
            "\(manager): \(place.name) holds tables, but neither a ledger nor a record says at which version they are.",
            remedy: """
                Tell it with the option `adopting`, for instance \
                .databaseHasTables(dbQueue, means: "1.0"). Nothing was changed.
                """,
            manager: manager)
    }
}
