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

    private let survey: MigrationSurvey
    private let extent: MigrationExtent
    private let changes: [VersionChange]
    private let progress: Progress
    private let interruption: Interruption
    private let tell: (MigrationEvent.Kind) -> Void
    private var books: RunBooks
    private var phase: Phase
    private var started = ContinuousClock.now
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
        books = RunBooks(survey)
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
            return writing(startingIn: survey.items[index].step.place.id)
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
            books.end(extent)
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
            books.noteWritten()
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
            books.noteWritten()
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
        hasCheckpoint.withLock { $0 = false }
        books.start(item.step)
    }

    private func context(of item: MigrationSurvey.Item) -> MigrationContext {
        let step = item.step
        let subject = survey.subject
        let attempt = books.attempt(of: step)
        let child = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: item.weight)
        interruption.attach(child)
        return MigrationContext(
            manager: subject.manager, from: books.launch(of: step.place)?.previousVersion,
            to: subject.current, version: step.version, attempt: attempt, isLate: item.isLate,
            progress: child,
            saveCheckpoint: saveCheckpoint(of: step, attempt: attempt))
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
        if case .move = step.work {
            report.moves.append(
                CompletedMove(
                    version: step.version, database: step.place.name, applied: outcome?.applied ?? [],
                    warnings: outcome?.warnings ?? []))
        } else {
            books.settle(step, settlement(of: step.version))
            report.completed.append(step.version)
        }
    }

    private func settlement(of version: AppVersion) -> Settlement {
        Settlement(
            manager: survey.subject.manager, version: version, appVersion: survey.subject.current,
            started: started)
    }

    private func failure(of index: Int, _ context: MigrationContext, _ error: any Error) -> any Error {
        let step = survey.items[index].step
        if hasCheckpoint.withLock({ $0 }) { books.forgive(step) }
        books.fail(step)
        // A child that is not finished would count for ever: finished, and taken back, it counts for nothing.
        context.progress.finish()
        progress.completedUnitCount -= survey.items[index].weight
        tell(.didFail(description(of: index), error))
        if let stopped = interruption.error(manager: survey.subject.manager, progress) { return stopped }
        if error is CancellationError { return error }
        let inAttempt = context.attempt > 1 ? " in attempt \(context.attempt)" : ""
        return MigrationError(
            step.isMove ? .moveFailed : .stepFailed,
            "\(survey.subject.manager): \(step.title) (\(step.source)) failed\(inAttempt)\(error.asCause)",
            remedy: "What ran before it is done; the next launch goes on with it.",
            manager: survey.subject.manager, version: step.version, attempt: context.attempt,
            underlyingError: error)
    }

    private func changeFailure(_ error: any Error) -> any Error {
        if error is CancellationError { return error }
        return MigrationError(
            .stepFailed,
            "\(survey.subject.manager): what was to run when the version changes failed\(error.asCause)",
            remedy: "The steps are done; the next launch runs it again.", manager: survey.subject.manager,
            underlyingError: error)
    }

    private func description(of index: Int) -> MigrationEvent.Step {
        let item = survey.items[index]
        let step = item.step
        return MigrationEvent.Step(
            version: step.version, database: step.place is StorePlace ? nil : step.place.name,
            schemaVersions: step.isMove ? item.schemaVersions : nil,
            attempt: books.attempt(of: step), number: index + 1,
            count: survey.items.count)
    }

    private func writing(startingIn place: PlaceID? = nil) -> Piece {
        .blocking { [write = books.writing(startingIn: place)] in
            try write()
            return nil
        }
    }
}

extension Error {
    /// The end of a message that names what this error says, if it says anything.
    fileprivate var asCause: String {
        let text = "\(self)"
        return text.isEmpty ? "" : ": \(text)"
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
