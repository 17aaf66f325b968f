import TextOutput

/// The upgrades that an ``UpgradeMatrix`` ran, with their problems.
///
/// Its description is a table:
///
/// ```swift
/// let report = try UpgradeMatrix(of: schema).run()
/// print(report)
/// ```
public struct UpgradeReport: Sendable {
    /// The start of an upgrade.
    public struct Start: Sendable, Hashable, CustomStringConvertible {
        /// The origin of the old database.
        public enum Origin: Sendable, Hashable {
            /// The migrations ran up to the version.
            case replay
            /// The database started from the snapshot of this name, as a fresh install did when the snapshot
            /// was shipped.
            case snapshot(String)
            /// The database is the file of this name.
            case fixture(String)
        }

        /// The version of the old database, or the identifier of GRDB's migration; nil if the file does not say.
        public let version: MigrationKey?
        /// The origin of the old database.
        public let origin: Origin

        /// The version, and the file.
        public var description: String {
            let version = version.map { "\($0)" } ?? "an unknown version"
            return origin.words == "replay" ? version : "\(version) (\(origin.words))"
        }
    }

    /// One upgrade.
    public struct Upgrade: Sendable {
        /// The start.
        public let start: Start
        /// The name of the version's migration.
        public let name: String
        /// The number of rows before, in all tables.
        public internal(set) var rows = 0
        /// The number of migrations that were applied.
        public internal(set) var applied = 0
        /// The time that the migrations took.
        public internal(set) var duration = Duration.zero
        /// The problems.
        public internal(set) var problems: [UpgradeProblem] = []
        /// The gaps in the test, such as a table without rows: a sentence each.
        public internal(set) var notes: [String] = []
    }

    /// The upgrades, in order.
    public internal(set) var upgrades: [Upgrade] = []

    /// Problems that concern no single upgrade, such as a snapshot that is out of date.
    public internal(set) var generalProblems: [UpgradeProblem] = []

    /// Possible problems of the migrations, such as a trigger that a rebuild of its table lost: a sentence each.
    public internal(set) var notes: [String] = []

    /// All problems.
    public var problems: [UpgradeProblem] { generalProblems + upgrades.flatMap(\.problems) }
}

extension UpgradeReport.Start.Origin {
    /// The name of the start in tables and messages.
    var words: String {
        switch self {
        case .replay: "replay"
        case .snapshot(let name): "snapshot \(name)"
        case .fixture(let name): "fixture \(name)"
        }
    }
}

extension UpgradeReport: CustomStringConvertible {
    /// A line for each upgrade, with its time, and the notes.
    public var description: String {
        var table = Table(.left, .right, .left, .left, .right, .right, .right)
        for upgrade in upgrades {
            table.add(
                upgrade.problems.isEmpty ? "✓" : "✗", upgrade.start.version.map { "\($0)" } ?? "-",
                upgrade.name,
                upgrade.start.origin.words, upgrade.rows.counting("row"),
                upgrade.applied.counting("migration"), upgrade.duration.asText)
        }
        let failed = upgrades.count { !$0.problems.isEmpty }
        let heading =
            failed == 0
            ? "\(upgrades.count.counting("upgrade")), each ends where a fresh install does"
            : "\(upgrades.count.counting("upgrade")), \(failed) failed"
        return ([heading] + table.lines() + notes.map { "  note: \($0)" } + noteLines).joined(separator: "\n")
    }

    /// The notes without repetitions, each with its versions.
    private var noteLines: [String] {
        var order: [String] = []
        var starts: [String: [String]] = [:]
        for upgrade in upgrades {
            for note in upgrade.notes {
                if starts[note] == nil { order.append(note) }
                starts[note, default: []].append(upgrade.start.description)
            }
        }
        return order.map { "  note: \($0) (upgrading from \(starts[$0, default: []].asList))" }
    }
}
