/// What there is to do: the kind of launch and the plan, place by place.
///
/// Computed from what the places show, and without any effect.
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
        /// The attempts that died, when they are too many to try again.
        let exhausted: MigrationRecord.Running?
    }

    let subject: Subject
    /// The store's place first.
    let findings: [Finding]
    /// What is pending, in the order in which it will run.
    let items: [Item]

    /// Who migrates, and by which rules.
    struct Subject: Sendable {
        let manager: String
        let current: AppVersion
        let build: String
        let line: String
        let oldestSupported: AppVersion?
        let maximumAttempts: Int
        /// A step whose deaths so far are not to count.
        let forgiving: AppVersion?
    }

    /// Plans.
    ///
    /// - Parameters:
    ///   - inquiries: the places, with what they show.
    ///   - known: the kinds of launch that have been told before, by place.
    ///   - target: nothing above it is pending.
    init(
        _ subject: Subject, _ inquiries: [(inquiry: PlaceInquiry, view: PlaceView)], known: [PlaceID: Launch],
        target: AppVersion, adopting: () throws -> AppVersion?
    ) throws {
        var findings: [Finding] = []
        var items: [Item] = []
        for (inquiry, view) in inquiries {
            let isStore = inquiry.place.id == inquiries[0].inquiry.place.id
            let isNewer = view.state.record?.highest.map { $0 > subject.current } ?? false
            let launch =
                // What was told before holds, unless a newer version of the app has been here meanwhile.
                try (isNewer ? nil : known[inquiry.place.id])
                ?? Launch.recognized(
                    record: view.state.record,
                    seen: view.state.seen[subject.line, default: []].map(\.version),
                    // An empty store proves nothing: the app may have kept its data elsewhere.
                    evidence: isStore ? view.evidence.ofStore : view.evidence, current: subject.current,
                    adopting: adopting)
            guard let launch else { throw MigrationError.undecided(subject, inquiry.place) }
            try Self.checkSupported(launch, subject, inquiry.place)

            let closures = inquiry.closures
            var begun = MigrationRecord.begun(
                view.state.record, by: launch, current: subject.current,
                due: DueSteps(
                    versions: Set(closures.map(\.version)),
                    runningOnFreshInstall: Set(closures.filter { $0.onFreshInstall == .run }.map(\.version))))
            if let running = begun.running, running.version == subject.forgiving {
                begun.running?.forgiven = running.attempt
            }
            findings.append(Finding(place: inquiry.place, launch: launch, stored: view.state, begun: begun))
            if case .downgrade = launch { continue }

            let plan = MigrationPlan(
                known: closures.lazy.map(\.version), floor: begun.floor, settled: begun.settled,
                owed: begun.owed, target: target)
            if !plan.pending.isEmpty {
                // Both are ascending: registration sees to it.
                var pending = plan.pending.makeIterator()
                var next = pending.next()
                let reached = view.state.record?.reached
                items.reserveCapacity(items.count + plan.pending.count)
                for step in closures where step.version == next {
                    next = pending.next()
                    items.append(
                        Item(
                            step: step, isLate: reached.map { step.version < $0 } ?? false,
                            schemaVersions: [],
                            exhausted: begun.exhausted(by: step.version, subject)))
                }
            }
            items += zip(inquiry.moves, view.pending).filter { !$1.isEmpty }.map { step, versions in
                Item(step: step, isLate: false, schemaVersions: versions, exhausted: nil)
            }
        }
        self.subject = subject
        self.findings = findings
        // Moves go first, so that a closure finds the schema of its version.
        self.items = items.sorted {
            $0.step.version == $1.step.version
                ? $0.step.isMove && !$1.step.isMove : $0.step.version < $1.step.version
        }
    }

    /// Whether everything is done and written down: then there is nothing to lock and nothing to write.
    func isSettled(_ extent: MigrationExtent) -> Bool {
        items.isEmpty
            && findings.allSatisfy { finding in
                finding.stored.record
                    == extent.ending(finding.begun, by: finding.launch, current: subject.current)
                    && finding.stored.hasSeen(subject.current, in: subject.line)
            }
    }

    private static func checkSupported(
        _ launch: Launch, _ subject: Subject, _ place: any MigrationPlace
    ) throws {
        guard let oldest = subject.oldestSupported else { return }
        switch launch {
        case .adoption(let version), .upgrade(let version):
            // Where nothing has ever counted versions, there is none to be too old.
            guard version < oldest, version != .zero else { return }
            throw MigrationError(
                .tooOld,
                "\(subject.manager): the data of \(place.name) is at version \(version); the oldest that can be migrated is \(oldest).",
                remedy:
                    "Nothing was changed. Launch a version of the app that still migrates it, and then this one.",
                manager: subject.manager, version: version)
        case .freshInstall, .relaunch, .downgrade:
            return
        }
    }
}

/// What a place is asked: by which manager, and about which moves.
struct PlaceInquiry {
    let place: any MigrationPlace
    let manager: String
    /// The moves that are due, in order, as they are registered.
    let moves: [MigrationStep]
    /// The steps that are due and are no moves.
    let closures: [MigrationStep]

    /// Looks at the place.
    ///
    /// Input and output, on any thread.
    var look: @Sendable () throws -> PlaceView {
        { [place, manager, moves = moves.compactMap(\.move)] in try place.look(manager: manager, moves: moves)
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

extension Evidence {
    fileprivate var ofStore: Evidence {
        if case .empty = self { .versionsSeen } else { self }
    }
}

extension MigrationRecord {
    fileprivate func exhausted(by version: AppVersion, _ subject: MigrationSurvey.Subject) -> Running? {
        guard let running, running.version == version, running.build == subject.build,
            running.attempt - running.forgiven >= subject.maximumAttempts
        else { return nil }
        return running
    }
}

extension MigrationStep {
    var move: (any MigrationMove)? {
        if case .move(let move) = work { move } else { nil }
    }
}

extension MigrationError {
    fileprivate static func undecided(
        _ subject: MigrationSurvey.Subject, _ place: any MigrationPlace
    ) -> MigrationError {
        MigrationError(
            .undecided,
            "\(subject.manager): \(place.name) holds tables, but neither a ledger nor a record says at which version they are.",
            remedy: """
                Tell it with the option `adopting`, for instance \
                .databaseHasTables(dbQueue, means: "1.0"). Nothing was changed.
                """,
            manager: subject.manager)
    }
}
