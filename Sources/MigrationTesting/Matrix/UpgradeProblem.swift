package import MigrationDiagnostics
import MigrationTools
import SchemaMigrations
import TextOutput

/// A problem that an upgrade has, or that prevents it.
public struct UpgradeProblem: Sendable, Hashable {
    /// The problem, in a sentence that names the version from which the upgrade began.
    public var message: String { diagnostic.message }

    /// The remedy, in a sentence.
    public let remedy: String

    /// The start of the upgrade; nil for a problem that concerns no single upgrade.
    let start: String?

    /// The finding, with a gap for the versions from which upgrades began.
    private let finding: Finding

    private enum Finding: Hashable {
        /// The opening, " from " and the versions, and the ending.
        case text(opening: String, ending: String)
        /// A difference between the upgraded schema and that of a fresh install.
        case difference(SchemaDifference.Change)
    }

    /// Creates a problem whose sentence is the opening, " from " and the start, and the ending.
    init(_ opening: String, from start: UpgradeReport.Start, _ ending: String = "", remedy: String) {
        finding = .text(opening: opening, ending: ending)
        self.start = start.description
        self.remedy = remedy
    }

    /// Creates a problem with an error as its cause, which also gives the remedy.
    init(_ opening: String, from start: UpgradeReport.Start, _ ending: String, because cause: Diagnostic) {
        self.init(opening, from: start, "\(ending): \(cause.clause)", remedy: cause.remedy)
    }

    /// A difference between the upgraded schema and that of a fresh install.
    init(_ difference: SchemaDifference.Change, from start: UpgradeReport.Start, remedy: String) {
        finding = .difference(difference)
        self.start = start.description
        self.remedy = remedy
    }

    /// Creates a problem that concerns no single upgrade.
    init(_ problem: String, remedy: String) {
        finding = .text(opening: problem, ending: "")
        start = nil
        self.remedy = remedy
    }

    /// Creates a problem that concerns no single upgrade, with an error as its cause, which also gives the
    /// remedy.
    init(_ problem: String, because cause: Diagnostic) {
        self.init("\(problem): \(cause.clause)", remedy: cause.remedy)
    }

    /// The problem and the remedy.
    package var diagnostic: Diagnostic { diagnostic(from: start.map { [$0] } ?? []) }

    /// Returns the problem of several upgrades that began at these versions, with the remedy.
    func diagnostic(from starts: [String]) -> Diagnostic {
        let from = starts.isEmpty ? "" : " from \(starts.asList)"
        let problem =
            switch finding {
            case .text(let opening, let ending):
                opening + from + ending
            case .difference(let change) where change.after == nil:
                "\(change.subject) is missing in a fresh install, and is there after upgrading\(from)"
            case .difference(let change):
                change.sentence(here: "after upgrading\(from)", there: "in a fresh install")
            }
        return Diagnostic(problem, remedy: remedy)
    }

    /// Returns whether two problems differ at most in the version.
    func isSame(as other: UpgradeProblem) -> Bool {
        (finding, remedy) == (other.finding, other.remedy)
    }
}
