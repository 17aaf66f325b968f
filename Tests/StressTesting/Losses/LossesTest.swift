import Foundation
import MigrationTools

/// A review reports each migration that loses something, and none that loses nothing.
///
/// The migrations are written by rules of their own, so that they know nothing of how the review judges.
public struct LossesTest: StressTest {
    /// Selects it on the command line.
    public let name = "losses"
    /// As Documentation/StressTests.md words it.
    public let promise = "`check` reports a migration that loses rows or values, and none that keeps them"

    /// Makes the test.
    public init() {}

    /// Tries four thousand migrations, or twenty-four: every other one loses something.
    public func run(_ size: StressSize) throws -> StressOutcome {
        size.seeds(short: 24, long: 4_000).tryEach(unit: "migrations") { seed in
            do {
                return try deviation(seed)
            } catch {
                return "seed \(seed). error: \(error)"
            }
        }
    }

    private func deviation(_ seed: UInt64) throws -> String? {
        let migration = RandomLoss(seed: seed)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "losses-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (index, file) in migration.files.enumerated() {
            try Data(file.utf8).write(to: folder.appendingPathComponent("\(index + 1)_file.sql"))
        }
        let found = try FolderReview.review(directory: folder).findings
        let rules = Set(found.map(\.rule.name))
        guard rules.isDisjoint(with: ["does-not-apply", "did-not-run", "step-limit"]) else {
            return
                "seed \(seed) did not run: \(found.map(\.reason)): \(migration.files.joined(separator: "\n"))"
        }
        guard rules.isDisjoint(with: Self.losses) == migration.loses else { return nil }
        return """
            seed \(seed): \(migration.loses ? "a miss" : "a false alarm, \(rules.sorted())"): \
            \(migration.files.joined(separator: "\n"))
            """
    }

    /// The rules about rows and values that are gone.
    private static let losses: Set<String> = [
        "drop-table", "drop-column", "lost-rows", "lost-values", "delete-without-where",
        "update-without-where",
    ]
}
