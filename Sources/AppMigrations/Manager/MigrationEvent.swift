/// Something that happens while a manager migrates: for logs, and for telling the user what is going on.
///
/// ```swift
/// MigrationOptions(onEvent: { event in logger.info("\(event)") })
/// ```
///
/// An `AsyncStream` of events is made by yielding them to its continuation.
public struct MigrationEvent: Sendable {
    /// The manager's name.
    public let manager: String

    /// What happens.
    public let kind: Kind

    /// What happens.
    ///
    /// New cases may be added in minor versions: switch with a default.
    public enum Kind: Sendable {
        /// The kind of launch has been told. Steps that are pending follow.
        case launchRecognized(Launch)
        /// A step begins.
        case willRun(Step)
        /// A step has ended, and is done.
        case didRun(Step, duration: Duration)
        /// A step has thrown. Nothing follows.
        case didFail(Step, any Error)
        /// Everything that was pending is done.
        case finished(MigrationReport)
    }

    /// A step or a move.
    public struct Step: Sendable, Hashable {
        /// The version that it is registered for.
        public let version: AppVersion
        /// The database that it works in; nil for a plain closure.
        public let database: String?
        /// The schema versions that it applies; nil for a closure.
        public let schemaVersions: [String]?
        /// How often it has been started, this time included.
        public let attempt: Int
        /// Its number among those that this run will do, from 1.
        public let number: Int
        /// How many this run will do.
        public let count: Int
    }
}

extension MigrationEvent: CustomStringConvertible {
    /// A line for a log: `Library: step 1.1 (2 of 5) has run in 0.012 seconds`.
    public var description: String {
        switch kind {
        case .launchRecognized(let launch): "\(manager): \(launch)"
        case .willRun(let step): "\(manager): \(step) begins"
        case .didRun(let step, let duration): "\(manager): \(step) has run in \(duration)"
        case .didFail(let step, let error): "\(manager): \(step) failed: \(error)"
        case .finished(let report):
            "\(manager): finished; steps: \(report.completed.count), moves: \(report.moves.count)"
        }
    }
}

extension MigrationEvent.Step: CustomStringConvertible {
    /// As in `step 1.1 (2 of 5)`.
    public var description: String {
        "\(schemaVersions == nil ? "step" : "move") \(version) (\(number) of \(count))"
    }
}
