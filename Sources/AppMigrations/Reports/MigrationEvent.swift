/// Something that happens while a manager migrates, for logs and for screens that show progress.
///
/// ```swift
/// MigrationOptions(onEvent: { event in logger.info("\(event)") })
/// ```
///
/// For an `AsyncStream` of events, yield them to its continuation.
public struct MigrationEvent: Sendable {
    /// The manager's name.
    public let manager: String

    /// The kind of the event.
    public let kind: Kind

    /// The kind of an event.
    ///
    /// New cases may be added in minor versions: switch with a default.
    public indirect enum Kind: Sendable {
        /// The kind of launch is known. The pending steps follow.
        case launchRecognized(Launch)
        /// A step begins.
        case willRun(Step)
        /// A step is complete.
        case didRun(Step, duration: Duration)
        /// A step has thrown, or could not run. In a launch, nothing follows.
        case didFail(Step, any Error)
        /// A batch of a deferred step is complete: rows done, of those that there were at the start.
        case didRunBatch(Step, done: Int, of: Int?)
        /// Deferred steps run in a database whose connection has GRDB's default `busyMode`. While a batch runs, writes by
        /// connections that are set up in the same way fail with `SQLITE_BUSY`: set a timeout on each of them.
        case lacksBusyTimeout(database: String)
        /// Every pending step is complete.
        case finished(MigrationReport)
    }

    /// A step or a schema step.
    public struct Step: Sendable, Equatable {
        /// The step, or the schema step.
        public let work: MigrationWork
        /// The version that it is registered for.
        package var version: AppVersion { work.version }
        /// The database that it works in; nil for a plain closure.
        package var database: String? { work.database }
        /// The schema versions that it applies; nil for a closure.
        public let schemaVersions: [String]?
        /// One more than the number of times that the process has died in it since it last got further.
        public let attempt: Int
        /// Its number among the steps that this run will do, from 1.
        public let number: Int
        /// The number of steps that this run will do.
        public let count: Int
        /// The name that messages use.
        let title: String
    }
}

extension MigrationEvent: CustomStringConvertible {
    /// A line for a log: `Library: step 1.1 (2 of 5) finished in 0.012 seconds`.
    public var description: String {
        switch kind {
        case .launchRecognized(let launch): "\(manager): \(launch)"
        case .willRun(let step): "\(manager): \(step) begins"
        case .didRun(let step, let duration): "\(manager): \(step) finished in \(duration)"
        case .didFail(let step, let error): "\(manager): \(step) \(error.verb): \(error.quotation)"
        case .didRunBatch(let step, let done, let total):
            "\(manager): \(step) has done \(done)\(total.map { " of \($0)" } ?? "")"
        case .lacksBusyTimeout(let database):
            "\(manager): other connections to \(database) may fail with SQLITE_BUSY while deferred steps run: set `busyMode` in the configuration of each to .timeout(5)"
        case .finished(let report):
            "\(manager): finished; steps: \(report.completed.count), schema steps: \(report.schemaSteps.count)"
        }
    }
}

extension MigrationEvent {
    /// The work that is being done, for a person, as in `Updating Library: 3 of 12`; nil unless a step is running.
    public var localizedDescription: String? {
        switch kind {
        case .willRun(let step), .didRun(let step, _), .didRunBatch(let step, _, _):
            PersonText.text("progress.step", step.number, step.count, subject: manager)
        default: nil
        }
    }

    /// How far a deferred step is, as in `1,200 of 30,000 rows`; nil if unknown.
    public var localizedAdditionalDescription: String? {
        guard case .didRunBatch(_, let done, let total?) = kind else { return nil }
        return PersonText.text("progress.rows", done, total)
    }
}

extension MigrationEvent.Step: CustomStringConvertible {
    /// As in `step 1.1 (2 of 5)`.
    public var description: String {
        "\(title) (\(number) of \(count))"
    }
}
