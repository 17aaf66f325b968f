public import SchemaMigrations

/// What an ``UpgradeMatrix`` has tried, as a table that can be printed.
public struct UpgradeReport: Sendable {
    /// From where a database was upgraded.
    public struct Start: Sendable, Hashable, CustomStringConvertible {
        /// How the old database came about.
        public enum Origin: Sendable, Hashable {
            /// By running the migrations up to the version.
            case replay
            /// From the snapshot of this name, as a fresh install did when that was shipped.
            case snapshot(String)
            /// From the file of this name.
            case fixture(String)
        }

        /// The version of the old database; nil for a file that does not say.
        public let version: SchemaVersion?
        /// How the old database came about.
        public let origin: Origin

        /// The version, and the file.
        public var description: String {
            let version = version.map { "\($0)" } ?? "an unknown version"
            return origin.words == "replay" ? version : "\(version) (\(origin.words))"
        }
    }

    /// One upgrade.
    public struct Upgrade: Sendable {
        /// From where.
        public let start: Start
        /// The name of the version's migration.
        public let name: String
        /// How many rows there were before, in all tables.
        public internal(set) var rows = 0
        /// How many migrations were applied.
        public internal(set) var applied = 0
        /// How long that took, in seconds.
        public internal(set) var seconds = 0.0
        /// What is wrong.
        public internal(set) var problems: [UpgradeProblem] = []
        /// What the upgrade proves less for, such as a table that got no rows: a sentence each.
        public internal(set) var notes: [String] = []
    }

    /// The upgrades, in order.
    public internal(set) var upgrades: [Upgrade] = []

    /// What is wrong whatever the version, such as a snapshot that is out of date.
    public internal(set) var generalProblems: [UpgradeProblem] = []

    /// What may be wrong with the migrations, such as a trigger that a rebuild of its table has lost: a sentence each.
    public internal(set) var notes: [String] = []

    /// Everything that is wrong.
    public var problems: [UpgradeProblem] { generalProblems + upgrades.flatMap(\.problems) }
}

extension UpgradeReport.Start.Origin {
    /// As tables and messages call it.
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
                upgrade.applied.counting("migration"), upgrade.seconds.asDuration)
        }
        let failed = upgrades.count { !$0.problems.isEmpty }
        let heading =
            failed == 0
            ? "\(upgrades.count.counting("upgrade")), each ends where a fresh install does"
            : "\(upgrades.count.counting("upgrade")), \(failed) failed"
        return ([heading] + table.lines() + notes.map { "  note: \($0)" } + noteLines).joined(separator: "\n")
    }

    /// The notes, each once, with the versions that it is about.
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
