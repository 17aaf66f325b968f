public import Foundation

/// A step that was settled: it has run, or it was not needed.
///
/// ```swift
/// for step in try manager.history() where step.outcome == .ran {
///     print(step.work, step.date)
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
    package var version: AppVersion { work.version }
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

// A line of a history.
extension SettledStep {
    /// The line's JSON; a kind or an outcome that a newer version of the package has added does not decode.
    private struct Line: Codable {
        let manager: String
        let version: AppVersion
        /// Left out for a step.
        let kind: WorkID.Kind?
        let outcome: Outcome
        /// In ISO 8601.
        let date: String
        let seconds: Double?
        let app: AppVersion
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
        return try encoder.encode(
            Line(
                manager: manager, version: version, kind: work.id.kind == .step ? nil : work.id.kind,
                outcome: outcome, date: date.recordable.formatted(Self.dateStyle),
                seconds: duration?.inSeconds, app: appVersion))
    }

    /// Parses a line of JSON; nil for one that is cut off, or that a newer version of the package wrote.
    package init?(json: Data) {
        guard let line = try? JSONDecoder().decode(Line.self, from: json),
            let date = try? Date(line.date, strategy: Self.dateStyle)
        else { return nil }
        self.init(
            MigrationWork(
                WorkID(line.version, line.kind ?? .step), of: line.manager, in: .store, database: nil),
            outcome: line.outcome, date: date,
            duration: line.seconds.flatMap(Duration.init(recordedSeconds:)),
            appVersion: line.app)
    }
}

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// Creates a duration from what was recorded of it; nil if it can be none: `Duration` traps on numbers that it cannot hold.
    package init?(recordedSeconds seconds: Double) {
        guard abs(seconds) < 1e12 else { return nil }
        self = .seconds(seconds)
    }
}
