import Foundation

/// Carries out what a survey has found.
///
/// Decides nothing.
final class MigrationRun {
    private let manager: String
    private let build: String
    private let survey: MigrationSurvey
    private let extent: MigrationExtent
    private var ledgers: [PlaceID: Bookkeeping] = [:]
    private(set) var report: MigrationReport

    /// What is remembered in a place, and how much of it the place has written.
    private struct Bookkeeping {
        let finding: MigrationSurvey.Finding
        var record: MigrationRecord
        var written: MigrationRecord?
        var hasSeenCurrent: Bool
    }

    init(
        manager: String, build: String, survey: MigrationSurvey, extent: MigrationExtent,
        report: MigrationReport
    ) {
        self.manager = manager
        self.build = build
        self.survey = survey
        self.extent = extent
        self.report = report
        for finding in survey.findings {
            ledgers[finding.place.id] = Bookkeeping(
                finding: finding, record: finding.begun, written: finding.stored.record,
                hasSeenCurrent: finding.stored.hasSeen(survey.current, in: survey.line))
        }
    }

    /// Runs every pending step, oldest first.
    func run() throws -> MigrationReport {
        for item in survey.items {
            let started = try start(item)
            do {
                try perform(item.step, started.context)
            } catch {
                throw failed(item.step, started, error)
            }
        }
        return try finish()
    }

    /// A step that is running.
    private struct Started {
        let context: MigrationContext
        /// What the record said of a running step before: it died, if anything is said.
        let before: MigrationRecord.Running?
    }

    /// Writes down that a step is being started, together with the settlement of the steps before.
    private func start(_ item: MigrationSurvey.Item) throws -> Started {
        let step = item.step
        let before = ledgers[step.place.id]?.record.running
        if !step.isMove {
            ledgers[step.place.id]?.record.start(step.version, build: build, at: Date())
        }
        try write()
        let finding = ledgers[step.place.id]?.finding
        let context = MigrationContext(
            manager: manager, from: finding?.launch.previousVersion, to: survey.current,
            version: step.version,
            attempt: ledgers[step.place.id]?.record.running?.attempt ?? 1, isLate: item.isLate)
        return Started(context: context, before: before)
    }

    private func perform(_ step: MigrationStep, _ context: MigrationContext) throws {
        switch step.work {
        case .closure(let body):
            try body(context)
            ledgers[step.place.id]?.record.settle(step.version)
            report.completed.append(step.version)
        case .transaction(let work):
            try work.perform(context, settlement: Settlement(manager: manager, version: step.version))
            ledgers[step.place.id]?.record.settle(step.version)
            // The transaction has written it already.
            ledgers[step.place.id]?.written?.settle(step.version)
            report.completed.append(step.version)
        case .move(let move):
            let applied = try move.perform(context)
            report.moves.append(
                CompletedMove(version: step.version, database: step.place.name, applied: applied))
        }
    }

    private func failed(_ step: MigrationStep, _ started: Started, _ error: any Error) -> MigrationError {
        // A step that throws has not died in the middle of its work.
        ledgers[step.place.id]?.record.running = started.before
        // The step's own error matters more than that this could not be written, which costs an attempt.
        try? write()
        let attempt = started.context.attempt
        return MigrationError(
            step.isMove ? .moveFailed : .stepFailed,
            "\(manager): \(step.title) (\(step.source)) failed\(attempt > 1 ? " in attempt \(attempt)" : ""): \(error)",
            remedy: "What ran before it is done; the next launch goes on with it.",
            manager: manager, version: step.version, attempt: attempt, underlyingError: error)
    }

    private func finish() throws -> MigrationReport {
        for (id, entry) in ledgers {
            ledgers[id]?.record = extent.ending(
                entry.record, by: entry.finding.launch, current: survey.current)
        }
        try write()
        return report
    }

    /// Writes what is not written yet, in every place.
    private func write() throws {
        for finding in survey.findings {
            guard let entry = ledgers[finding.place.id] else { continue }
            guard entry.record != entry.written || !entry.hasSeenCurrent else { continue }
            try finding.place.store.update(manager) { state in
                state.record = entry.record
                // A version that was adopted counts as seen: other managers of the store came from it too.
                state.see(
                    [finding.launch.previousVersion, survey.current].compactMap { $0 }, in: survey.line,
                    at: Date())
            }
            ledgers[finding.place.id]?.written = entry.record
            ledgers[finding.place.id]?.hasSeenCurrent = true
        }
    }
}
