public import Foundation

/// What has become of a manager's steps, and which app versions there were.
public struct MigrationHistory: Sendable, Hashable {
    /// Every step that was settled, in the order of time.
    public let steps: [SettledStep]

    /// The app versions that the store has seen, in the order in which they came, and since when.
    public let versions: [SeenVersion]
}

/// A step that was settled: that it has run, or is not needed.
public struct SettledStep: Sendable, Hashable {
    /// How a step came to be settled.
    public enum Outcome: String, Sendable {
        /// It has run.
        case ran
        /// The install was new: there was no old data.
        case notNeeded
        /// ``MigrationManager/skip(_:)`` was called.
        case skipped
    }

    /// The version that the step is registered for.
    public let version: AppVersion
    /// How it came to be settled.
    public let outcome: Outcome
    /// When it was settled.
    public let date: Date
    /// How long its work took, in seconds, without the commit of a step in a database; nil where it did not run.
    public let seconds: Double?
    /// The app version that settled it.
    public let appVersion: AppVersion

    /// Creates a note of a step that was settled.
    public init(
        version: AppVersion, outcome: Outcome, date: Date, seconds: Double? = nil, appVersion: AppVersion
    ) {
        self.version = version
        self.outcome = outcome
        self.date = date
        self.seconds = seconds
        self.appVersion = appVersion
    }
}

/// A store that keeps a history, apart from the records that every launch reads.
public protocol HistoryStore: MigrationStore {
    /// Every step of a manager that was settled, in the order of time.
    func history(_ manager: String) throws -> [SettledStep]
}

/// A line of a history, as it is stored.
package struct HistoryEntry: Codable {
    /// The manager whose step it was.
    package let manager: String
    let version: AppVersion
    let outcome: String
    let date: Date
    let seconds: Double?
    let app: AppVersion

    package init(_ step: SettledStep, manager: String) {
        self.manager = manager
        version = step.version
        outcome = step.outcome.rawValue
        date = step.date
        seconds = step.seconds
        app = step.appVersion
    }

    /// Nil for another manager's line, and for one that a newer version of this package wrote.
    package func step(of manager: String) -> SettledStep? {
        manager == self.manager ? step : nil
    }

    /// Nil for a line that a newer version of this package wrote.
    package var step: SettledStep? {
        guard let outcome = SettledStep.Outcome(rawValue: outcome) else { return nil }
        return SettledStep(version: version, outcome: outcome, date: date, seconds: seconds, appVersion: app)
    }

    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(Self.dateStyle))
        }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// To the millisecond, so that steps of one launch keep their order.
    private static let dateStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    package init?(json: Data) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            try Date(try decoder.singleValueContainer().decode(String.self), strategy: Self.dateStyle)
        }
        guard let entry = try? decoder.decode(HistoryEntry.self, from: json) else { return nil }
        self = entry
    }
}
