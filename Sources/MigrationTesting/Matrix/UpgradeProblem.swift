import AppMigrations
import MigrationDiagnostics
import SchemaMigrations

/// Something that is wrong after an upgrade, or that kept it from being made.
public struct UpgradeProblem: Sendable, Hashable {
    /// What is wrong, in a sentence that names the version from which the upgrade began.
    public var message: String { sentence(from: start.map { [$0] } ?? []) }

    /// What to do about it.
    public let remedy: String

    /// Where the upgrade began; nil for what concerns none.
    let start: String?
    private let opening: String
    private let ending: String

    /// A problem whose sentence is the opening, " from " and the start, and the ending.
    init(_ opening: String, from start: UpgradeReport.Start, _ ending: String = "", remedy: String) {
        self.opening = opening
        self.start = start.description
        self.ending = ending
        self.remedy = remedy
    }

    /// A problem that concerns no upgrade alone.
    init(_ message: String, remedy: String) {
        opening = message
        start = nil
        ending = ""
        self.remedy = remedy
    }

    func sentence(from starts: [String]) -> String {
        let from = starts.isEmpty ? "" : " from \(starts.asList)"
        return (opening + from + ending).asSentence
    }

    /// Whether two say the same of different versions.
    func isSame(as other: UpgradeProblem) -> Bool {
        (opening, ending, remedy) == (other.opening, other.ending, other.remedy)
    }
}
