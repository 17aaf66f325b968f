import Foundation

/// Carries out what a survey has found, piece by piece: the order of work and writing down, and what is
/// remembered in between.
///
/// It is asked for the next piece, and told how that ended; whoever asks, the synchronous or the asynchronous
/// launch, only carries it out.
final class MigrationRun {
    /// A piece of work.
    enum Piece {
        /// Input and output, on any thread. Answers what a move has done.
        case blocking(@Sendable () throws -> MoveOutcome?)
        /// The app's code, where `migrate` was called.
        case here(() throws -> Void)
        /// The app's code, which may be suspended.
        case asynchronous(@Sendable () async throws -> Void)
    }

    private enum Phase {
        /// Writes down what has happened so far, and that the item is being started.
        case prepare(Int)
        case perform(Int, MigrationContext)
        case tellChange(Int)
        case finish
        /// Writes down what has happened so far, and throws.
        case abandon(any Error)
        case done
    }

    /// What is remembered in a place, and how much of it the place has written.
    private struct Bookkeeping {
        let finding: MigrationSurvey.Finding
        var record: MigrationRecord
        var written: MigrationRecord?
        var hasSeenCurrent: Bool
        var history: [SettledStep] = []
    }

    private let survey: MigrationSurvey
    private let extent: MigrationExtent
    private let changes: [VersionChange]
    private let progress: Progress
    private let interruption: Interruption
    private let tell: (MigrationEvent.Kind) -> Void
    private var books: [PlaceID: Bookkeeping] = [:]
    private var phase: Phase
    private var started = ContinuousClock.now
    /// What the record said of a running step before this one was started.
    private var runningBefore: MigrationRecord.Running?
    /// Whether the step that is running has got further than in earlier attempts.
    private let hasCheckpoint = Locked(false)
    private(set) var report: MigrationReport

    init(
        survey: MigrationSurvey, extent: MigrationExtent, changes: [VersionChange], progress: Progress,
        interruption: Interruption, report: MigrationReport, tell: @escaping (MigrationEvent.Kind) -> Void
    ) {
        self.survey = survey
        self.extent = extent
        self.changes = if case .whole = extent { changes } else { [] }
        self.progress = progress
        self.interruption = interruption
        self.report = report
        self.tell = tell
        phase = survey.items.isEmpty ? .tellChange(0) : .prepare(0)
        for finding in survey.findings {
            var book = Bookkeeping(
                finding: finding, record: finding.begun, written: finding.stored.record,
                hasSeenCurrent: finding.stored.hasSeen(survey.subject.current, in: survey.subject.line))
            let notNeeded = finding.begun.settled.subtracting(finding.stored.record?.settled ?? [])
            book.history = notNeeded.sorted().map { settlement(of: $0).step(.notNeeded) }
            books[finding.place.id] = book
        }
        progress.totalUnitCount = max(1, survey.items.reduce(0) { $0 + $1.weight })
        progress.completedUnitCount = 0
    }

    // MARK: The next piece

    /// What is to be done next; nil when all is done.
    ///
    /// - Throws: when the run is at an end before all is done.
    func next() throws -> Piece? {
        switch phase {
        case .prepare(let index):
            if let error = reasonToStop(before: survey.items[index]) {
                phase = .abandon(error)
                return try next()
            }
            start(survey.items[index])
            return writing(last: survey.items[index].step.place.id)
        case .perform(let index, let context):
            return perform(survey.items[index].step, context)
        case .tellChange(let index):
            guard index < changes.count, let from = report.launch.changedFrom,
                from != survey.subject.current
            else {
                phase = .finish
                return try next()
            }
            let to = survey.subject.current
            return .here { [change = changes[index]] in try change(from, to) }
        case .finish:
            for (id, book) in books {
                books[id]?.record = extent.ending(
                    book.record, by: book.finding.launch, current: survey.subject.current)
            }
            return writing()
        case .abandon:
            return writing()
        case .done:
            return nil
        }
    }

    /// Goes on after a piece has ended.
    ///
    /// - Throws: when the run is at an end with it.
    func ended(_ result: Result<MoveOutcome?, any Error>) throws {
        switch phase {
        case .prepare(let index):
            _ = try result.get()
            noteWritten()
            let item = survey.items[index]
            tell(.willRun(description(of: index)))
            started = .now
            phase = .perform(index, context(of: item))
        case .perform(let index, let context):
            do {
                settle(survey.items[index], try result.get())
                context.progress.finish()
                tell(.didRun(description(of: index), duration: .now - started))
                phase = index + 1 < survey.items.count ? .prepare(index + 1) : .tellChange(0)
            } catch {
                phase = .abandon(failure(of: index, context, error))
            }
        case .tellChange(let index):
            do {
                _ = try result.get()
                phase = .tellChange(index + 1)
            } catch {
                phase = .abandon(changeFailure(error))
            }
        case .finish:
            _ = try result.get()
            noteWritten()
            progress.completedUnitCount = progress.totalUnitCount
            phase = .done
            tell(.finished(report))
        case .abandon(let error):
            // That this could not be written matters less than why the run is at an end. It may cost an attempt.
            phase = .done
            throw error
        case .done:
            break
        }
    }

    // MARK: Steps

    private func reasonToStop(before item: MigrationSurvey.Item) -> (any Error)? {
        if let error = interruption.error(manager: survey.subject.manager, progress) { return error }
        guard let died = item.exhausted else { return nil }
        let version = item.step.version
        let deaths = died.attempt - died.forgiven
        return MigrationError(
            .gaveUp,
            "\(survey.subject.manager): \(item.step.title) (\(item.step.source)) was not tried again: the process died in it \(deaths == 1 ? "once" : "\(deaths) times").",
            remedy: """
                A new build of the app will try again; so does migrate(retrying: "\(version)"), and \
                skip("\(version)") goes on without it.
                """,
            manager: survey.subject.manager, version: version, attempt: died.attempt)
    }

    private func start(_ item: MigrationSurvey.Item) {
        let id = item.step.place.id
        runningBefore = books[id]?.record.running
        hasCheckpoint.withLock { $0 = false }
        if !item.step.isMove {
            books[id]?.record.start(item.step.version, build: survey.subject.build, at: Date())
        }
    }

    private func context(of item: MigrationSurvey.Item) -> MigrationContext {
        let step = item.step
        let book = books[step.place.id]
        let subject = survey.subject
        let running = book?.record.running
        let child = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: item.weight)
        interruption.attach(child)
        return MigrationContext(
            manager: subject.manager, from: book?.finding.launch.previousVersion, to: subject.current,
            version: step.version, attempt: running?.attempt ?? 1, isLate: item.isLate, progress: child,
            saveCheckpoint: saveCheckpoint(of: step, attempt: running?.attempt ?? 1))
    }

    private func saveCheckpoint(of step: MigrationStep, attempt: Int) -> @Sendable () throws -> Void {
        let manager = survey.subject.manager
        if case .transaction = step.work {
            let error = MigrationError(
                .checkpointInTransaction,
                "\(manager): \(step.title) (\(step.source)) has no checkpoints, because it works in one transaction.",
                remedy:
                    "Leave checkpoint() out, or work in several transactions in a step that is not given the database.",
                manager: manager, version: step.version)
            return { throw error }
        }
        return { [store = step.place.store, hasCheckpoint] in
            try store.update(manager) { state in
                // This attempt counts from here on; those before it do not.
                state.record?.running?.forgiven = attempt - 1
            }
            hasCheckpoint.withLock { $0 = true }
        }
    }

    private func perform(_ step: MigrationStep, _ context: MigrationContext) -> Piece {
        switch step.work {
        case .closure(let body): .here { try body(context) }
        case .asynchronous(let body): .asynchronous { try await body(context) }
        case .transaction(let work):
            .blocking { [settlement = settlement(of: step.version)] in
                try work.perform(context, settlement: settlement)
                return nil
            }
        case .move(let move): .blocking { try move.perform(context) }
        }
    }

    private func settle(_ item: MigrationSurvey.Item, _ outcome: MoveOutcome?) {
        let step = item.step
        let id = step.place.id
        switch step.work {
        case .move:
            report.moves.append(
                CompletedMove(
                    version: step.version, database: step.place.name, applied: outcome?.applied ?? [],
                    warnings: outcome?.warnings ?? []))
            return
        case .transaction:
            // The transaction has written it already.
            books[id]?.written?.settle(step.version)
        case .closure, .asynchronous:
            books[id]?.history.append(settlement(of: step.version).step(.ran))
        }
        books[id]?.record.settle(step.version)
        if let died = runningBefore, died.version != step.version {
            // A later step has died before; this one, which was added since, must not make that forgotten.
            books[id]?.record.running = died
        }
        report.completed.append(step.version)
    }

    private func settlement(of version: AppVersion) -> Settlement {
        Settlement(
            manager: survey.subject.manager, version: version, appVersion: survey.subject.current,
            started: started)
    }

    private func failure(of index: Int, _ context: MigrationContext, _ error: any Error) -> any Error {
        let step = survey.items[index].step
        // A step that throws has not died in the middle of its work: what died before is all there is to count.
        // Another step that died before has not got further by this one's checkpoint.
        if runningBefore?.version == step.version, hasCheckpoint.withLock({ $0 }) {
            runningBefore?.forgiven = context.attempt - 1
        }
        books[step.place.id]?.record.running = runningBefore
        // A child that is not finished would count for ever: finished, and taken back, it counts for nothing.
        context.progress.finish()
        progress.completedUnitCount -= survey.items[index].weight
        tell(.didFail(description(of: index), error))
        if let stopped = interruption.error(manager: survey.subject.manager, progress) { return stopped }
        if error is CancellationError { return error }
        let inAttempt = context.attempt > 1 ? " in attempt \(context.attempt)" : ""
        return MigrationError(
            step.isMove ? .moveFailed : .stepFailed,
            "\(survey.subject.manager): \(step.title) (\(step.source)) failed\(inAttempt): \("\(error)".asSentence)",
            remedy: "What ran before it is done; the next launch goes on with it.",
            manager: survey.subject.manager, version: step.version, attempt: context.attempt,
            underlyingError: error)
    }

    private func changeFailure(_ error: any Error) -> any Error {
        if error is CancellationError { return error }
        return MigrationError(
            .stepFailed,
            "\(survey.subject.manager): what was to run when the version changes failed: \("\(error)".asSentence)",
            remedy: "The steps are done; the next launch runs it again.", manager: survey.subject.manager,
            underlyingError: error)
    }

    private func description(of index: Int) -> MigrationEvent.Step {
        let item = survey.items[index]
        let step = item.step
        return MigrationEvent.Step(
            version: step.version, database: step.place is StorePlace ? nil : step.place.name,
            schemaVersions: step.isMove ? item.schemaVersions : nil,
            attempt: books[step.place.id]?.record.running?.attempt ?? 1, number: index + 1,
            count: survey.items.count)
    }

    // MARK: Writing down

    /// Writes what is not written yet, in every place.
    ///
    /// - Parameter last: the place where a step is being started: when another one cannot be written, it is not
    ///   started, and must not look as if it had died.
    private func writing(last: PlaceID? = nil) -> Piece {
        let subject = survey.subject
        let ids = survey.findings.map(\.place.id)
        let unwritten = (ids.filter { $0 != last } + ids.filter { $0 == last }).compactMap { books[$0] }
            .filter { $0.record != $0.written || !$0.hasSeenCurrent }
            .map { book in
                (
                    store: book.finding.place.store, record: book.record, history: book.history,
                    // A version that was adopted counts as seen: other managers of the store came from it too.
                    seen: [book.finding.launch.previousVersion, subject.current].compactMap { $0 }
                )
            }
        return .blocking {
            for (store, record, history, seen) in unwritten {
                try store.update(subject.manager) { state in
                    // What a step has settled in its own transaction stays settled, also when this run does not
                    // know of it: two stores may share a database.
                    state.record = record.keeping(settled: state.record?.settled ?? [])
                    state.see(seen, in: subject.line, at: Date())
                    state.newHistory = history
                }
            }
            return nil
        }
    }

    private func noteWritten() {
        for (id, book) in books {
            books[id]?.written = book.record
            books[id]?.hasSeenCurrent = true
            books[id]?.history = []
        }
    }
}

/// What is to run when the app's version changes.
typealias VersionChange = (_ from: AppVersion, _ to: AppVersion) throws -> Void

extension MigrationSurvey.Item {
    /// How much of the run the item is: a migration of a schema counts as much as a step.
    fileprivate var weight: Int64 { Int64(max(1, schemaVersions.count)) }
}

extension Progress {
    /// Completes whatever is left, also where the total was never known.
    fileprivate func finish() {
        totalUnitCount = max(1, totalUnitCount)
        completedUnitCount = totalUnitCount
    }
}

extension Launch {
    /// The version that the app's data comes from, when this launch has moved it on.
    fileprivate var changedFrom: AppVersion? {
        switch self {
        case .adoption(let version), .upgrade(let version): version
        case .freshInstall, .relaunch, .downgrade: nil
        }
    }
}
