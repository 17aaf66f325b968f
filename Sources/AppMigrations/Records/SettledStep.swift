public import Foundation

/// A step that was settled: it has run, or it was not needed.
///
/// ```swift
/// for step in try manager.history() where step.outcome == .ran {
///     print(step.version, step.date)
/// }
/// ```
public struct SettledStep: Sendable, Equatable {
    /// How a step came to be settled.
    public enum Outcome: String, Sendable, Codable {
        /// The step has run.
        case ran
        /// The install was new, so there was no old data.
        case notNeeded
        /// The app called ``MigrationManager/skip(_:)``.
        case skipped
    }

    /// The work that was settled.
    public let work: MigrationWork
    /// The name of the manager whose step it was.
    package var manager: String { work.manager }
    /// The version that the step is registered for.
    public var version: AppVersion { work.version }
    /// How the step came to be settled.
    public let outcome: Outcome
    /// When the step was settled.
    public let date: Date
    /// How long the work took, without the commit of a step in a database; nil if the step did not run.
    public let duration: Duration?
    /// The app version that settled the step.
    public let appVersion: AppVersion

    package init(
        _ work: MigrationWork, outcome: Outcome, date: Date, duration: Duration? = nil,
        appVersion: AppVersion
    ) {
        self.work = work
        self.outcome = outcome
        self.date = date
        self.duration = duration
        self.appVersion = appVersion
    }
}

// A line of a history, as stores keep it.
extension SettledStep: Codable {
    private enum CodingKeys: String, CodingKey {
        case manager, version, kind, outcome, date, seconds, app
    }

    /// Decodes a step that ``encode(to:)`` has encoded.
    ///
    /// - Parameter decoder: the decoder, of any format.
    /// - Throws: `DecodingError`, also for an outcome that a newer version of the package has added.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let kind = try container.decodeIfPresent(String.self, forKey: .kind) ?? WorkID.Kind.step.rawValue
        guard let kind = WorkID.Kind(rawValue: kind) else {
            throw DecodingError.dataCorruptedError(
                forKey: .kind, in: container, debugDescription: "\(kind) is no kind of work")
        }
        self.init(
            MigrationWork(
                WorkID(try container.decode(AppVersion.self, forKey: .version), kind),
                of: try container.decode(String.self, forKey: .manager), in: .store, database: nil),
            outcome: try container.decode(Outcome.self, forKey: .outcome),
            date: try Date(try container.decode(String.self, forKey: .date), strategy: Self.dateStyle),
            // Duration traps on numbers that it cannot hold.
            duration: try container.decodeIfPresent(Double.self, forKey: .seconds).flatMap {
                abs($0) < 1e12 ? .seconds($0) : nil
            },
            appVersion: try container.decode(AppVersion.self, forKey: .app))
    }

    /// Encodes the step, its date in ISO 8601 and its duration in seconds.
    ///
    /// - Parameter encoder: the encoder, of any format.
    /// - Throws: the error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(manager, forKey: .manager)
        try container.encode(version, forKey: .version)
        if work.id.kind != .step { try container.encode(work.id.kind.rawValue, forKey: .kind) }
        try container.encode(outcome, forKey: .outcome)
        try container.encode(date.recordable.formatted(Self.dateStyle), forKey: .date)
        try container.encodeIfPresent(duration?.inSeconds, forKey: .seconds)
        try container.encode(appVersion, forKey: .app)
    }

    /// To the millisecond, so that steps of one launch keep their order.
    private static let dateStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Returns the step with the place in whose history it was found.
    func found(in place: PlaceID, database: String?) -> SettledStep {
        SettledStep(
            MigrationWork(work.id, of: manager, in: place, database: database), outcome: outcome, date: date,
            duration: duration, appVersion: appVersion)
    }

    /// Returns true if a manager has settled the step.
    package func belongs(to manager: String) -> Bool { ManagerName(self.manager) == ManagerName(manager) }

    /// The step as a line of JSON.
    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Parses a line of JSON; nil for one that is cut off, or that a newer version of the package wrote.
    package init?(json: Data) {
        guard let step = try? JSONDecoder().decode(SettledStep.self, from: json) else { return nil }
        self = step
    }
}

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
