import AppMigrations
import Foundation
import MigrationTools
import TestSupport

/// Damaged databases are salvaged: what is saved is compared with the original, by value, and a launch follows.
///
/// `SHELL_WITH_RECOVER` may name a shell of SQLite that has `.recover`: then the same files are given to it, and no salvage
/// may save fewer rows. `SALVAGE_SEEDS`, as in `5392` or `0-1500`, may name the databases to damage, and `SALVAGE_FILES` a
/// folder that keeps those that fail.
public struct SalvageTest: StressTest {
    /// Selects it on the command line.
    public let name = "salvage"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Salvaging a damaged database saves no row of another table, no deleted row and no row without its parent, reports what it saved, and makes a database that passes SQLite's checks"

    /// The number of databases that are damaged of each template.
    private static let trialsOfTemplate: UInt64 = 8

    /// Makes the test.
    public init() {}

    /// Damages databases in each way, and salvages them: always the same ones, or 10,000 others.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let isSmall = size == .short
        if let named = Self.namedSeeds { return try run(seeds: named, isSmall: isSmall) }
        if isSmall { return try run(seeds: 0..<UInt64(SalvageKind.all.count), isSmall: true) }
        let start = StressSize.firstSeed
        return try run(seeds: start..<start + 10_000)
    }

    /// The seeds that the environment names.
    private static var namedSeeds: Range<UInt64>? {
        let named = ProcessInfo.processInfo.environment["SALVAGE_SEEDS"] ?? ""
        let bounds = named.split(separator: "-").compactMap { UInt64($0) }
        guard let first = bounds.first, let last = bounds.last, first <= last, last < .max else { return nil }
        return first..<last + 1
    }

    /// Damages a database for each seed.
    ///
    /// - Parameter isSmall: true for small databases.
    public func run(seeds: Range<UInt64>, isSmall: Bool = false) throws -> StressOutcome {
        let folder = try TemporaryFolder.inMemory()
        let results = Locked<[Result<SalvageVerdict, any Error>]>([])
        let first = seeds.lowerBound / Self.trialsOfTemplate
        let count = (seeds.upperBound - 1) / Self.trialsOfTemplate - first + 1
        DispatchQueue.concurrentPerform(iterations: Int(count)) { index in
            let number = first + UInt64(index)
            let own = (number * Self.trialsOfTemplate)..<((number + 1) * Self.trialsOfTemplate)
            let all = Self.results(own.clamped(to: seeds), number, in: folder.file("\(number)"), isSmall)
            results.withLock { $0 += all }
        }
        let all = results.withLock { $0 }
        let verdicts = all.compactMap { try? $0.get() }.sorted { $0.seed < $1.seed }
        let errors = all.compactMap { result in
            if case .failure(let error) = result { "a trial could not be judged: \(error)" } else { nil }
        }
        let form = isSmall ? "short" : "long"
        let notes = [
            "SALVAGE_SEEDS=\(seeds.lowerBound)-\(seeds.upperBound - 1) stress --\(form) salvage repeats this"
        ]
        return StressOutcome(
            tried: all.count, unit: "databases", failures: errors + verdicts.compactMap(\.failure),
            notes: notes + SalvageNotes(verdicts: verdicts).all)
    }

    /// Damages the databases of one template.
    private static func results(
        _ seeds: Range<UInt64>, _ number: UInt64, in folder: URL, _ isSmall: Bool
    ) -> [Result<SalvageVerdict, any Error>] {
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let template = try SalvageTemplate(seed: number, in: folder, isSmall: isSmall)
            return seeds.map { seed in
                Result { try SalvageTrial(seed: seed, template, in: folder).run() }
                    .mapError { Unjudged(seed: seed, error: $0) }
            }
        } catch {
            return seeds.map { .failure(Unjudged(seed: $0, error: error)) }
        }
    }

    private struct Unjudged: Error, CustomStringConvertible {
        let seed: UInt64
        let error: any Error
        var description: String { "seed \(seed): \(error)" }
    }
}
