import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport

/// Damaged databases are salvaged: what is saved is compared with the original, by value.
///
/// `SHELL_WITH_RECOVER` may name a shell of SQLite that has `.recover`: then the same files are given to it, and the notes
/// compare both. `SALVAGE_SEEDS`, as in `5392` or `0-1500`, may name the databases to damage, in place of all.
public struct SalvageTest: StressTest {
    /// Selects it on the command line.
    public let name = "salvage"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Salvaging a damaged database saves no row of another table, no deleted row and no row without its parent, reports what it saved, and makes a database that passes SQLite's checks"

    /// Makes the test.
    public init() {}

    /// Damages databases in each way, and salvages them.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let named = ProcessInfo.processInfo.environment["SALVAGE_SEEDS"] ?? ""
        let bounds = named.split(separator: "-").compactMap { UInt64($0) }
        if let first = bounds.first, let last = bounds.last, first <= last, last < .max {
            return try run(seeds: first..<last + 1)
        }
        return try run(seeds: 0..<(size == .short ? 66 : 10_000))
    }

    /// Damages a database for each seed.
    public func run(seeds: Range<UInt64>) throws -> StressOutcome {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let folder =
            try FileManager.default.isWritableFile(atPath: memory.path)
            ? TemporaryFolder(in: memory) : TemporaryFolder()
        let templates = try SalvageTemplate.makeAll(in: folder)
        let results = Locked<[Result<SalvageVerdict, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: seeds.count) { index in
            let seed = seeds.lowerBound + UInt64(index)
            let trial = SalvageTrial(seed: seed, templates, in: folder)
            let result = Result { try trial.run() }
            results.withLock { $0.append(result) }
        }
        let all = results.withLock { $0 }
        let verdicts = all.compactMap { try? $0.get() }
        let errors = all.compactMap { result in
            if case .failure(let error) = result { "a trial could not be judged: \(error)" } else { nil }
        }
        return StressOutcome(
            tried: all.count, unit: "databases", failures: errors + verdicts.compactMap(\.failure).sorted(),
            notes: SalvageVerdict.notes(verdicts))
    }
}

/// What came of one damaged database.
struct SalvageVerdict: Sendable {
    var damage: SalvageDamage
    var failure: String?
    /// The reason for which the file was left as it was; nil if it was salvaged.
    var refusal: String?
    /// The rows of the original, those that were saved unchanged, and saved ones that are not as they were.
    var rows = 0
    var right = 0
    var wrong = 0
    /// The same for `.recover`; nil if there is none.
    var recovered: Recovered?

    struct Recovered: Sendable {
        var right = 0
        var wrong = 0
        /// The children without their parent, which count as right.
        var orphaned = 0
    }

    static func notes(_ verdicts: [SalvageVerdict]) -> [String] {
        SalvageDamage.allCases.compactMap { damage in
            let all = verdicts.filter { $0.damage == damage }
            guard !all.isEmpty else { return nil }
            func sum(_ count: (SalvageVerdict) -> Int) -> Int { all.reduce(0) { $0 + count($1) } }
            var note =
                "\(damage): \(sum(\.right)) of \(sum(\.rows)) rows saved, \(sum(\.wrong)) of them changed by the damage"
            if all.contains(where: { $0.recovered != nil }) {
                note += """
                    ; .recover \(sum { $0.recovered?.right ?? 0 }), \(sum { $0.recovered?.wrong ?? 0 }) changed, \
                    \(sum { $0.recovered?.orphaned ?? 0 }) without parent
                    """
            }
            return note
                + "; \(sum { $0.refusal == nil ? 0 : 1 }) of \(all.count) refused \(Set(all.compactMap(\.refusal)).sorted())"
        }
    }
}
