public import Foundation

/// The settled steps of a manager, and the app versions that its store has seen.
///
/// ```swift
/// for step in try manager.history().steps where step.outcome == .ran {
///     print(step.version, step.date)
/// }
/// ```
public struct MigrationHistory: Sendable, Hashable {
    /// Every step that was settled, oldest first.
    public let steps: [SettledStep]

    /// The app versions that the store has seen, in the order in which they came.
    public var versions: [AppVersion] { seen.map(\.version) }

    let seen: [SeenVersion]

    /// Returns when the store first saw an app version, or nil if it never has.
    public func firstSeen(_ version: AppVersion) -> Date? {
        seen.first { $0.version == version }?.first
    }
}
