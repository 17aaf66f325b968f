import AppMigrations
import Foundation
import MigrationTools
import SmallWorlds

/// Small apps with short histories keep every promise: all of them up to a weight, and a sample of larger ones.
public struct WorldsTest: StressTest {
    /// Selects it on the command line.
    public let name = "worlds"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Small apps with short histories, all of them: every value gets each step once, in order, and none is lost"

    /// Makes the test.
    public init() {}

    /// Which worlds are played.
    private struct Selection {
        /// All worlds up to this weight of app and history.
        let weight: Int
        /// The number of apps of which a sample is played besides.
        let sample: Int
        let inSQLite: Bool
    }

    /// Plays five million worlds, or a hundred thousand.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let searches =
            switch size {
            case .short:
                [
                    try search(Selection(weight: 4, sample: 900, inSQLite: false)),
                    try search(Selection(weight: 2, sample: 40, inSQLite: true)),
                ]
            case .long:
                [
                    try search(Selection(weight: 5, sample: 45_000, inSQLite: false)),
                    try search(Selection(weight: 3, sample: 2000, inSQLite: true)),
                ]
            }
        let known = try KnownWorld.all.flatMap { world in
            try [false, true].compactMap { try world.problem(inSQLite: $0) }
        }
        let failures = searches.flatMap { $0.flatMap(\.failures) }.sorted { $0.weight < $1.weight }
        // A world of each kind, without what does not matter.
        let kinds = Dictionary(grouping: failures) { $0.problem.replacing(/[0-9]+/, with: "") }
        let shown = kinds.values.map { $0[0].shrunk() }.sorted { $0.weight < $1.weight }.map(\.code)
        var pairs = FeaturePairs()
        for search in searches.joined() { pairs.add(search.pairs) }
        let notes = zip(["in memory", "in SQLite"], searches).map { place, searches in
            "\(searches.reduce(0) { $0 + $1.worlds }) worlds of \(searches.reduce(0) { $0 + $1.apps }) apps \(place)"
        }
        let missing = pairs.missing().map { "no app has both \($0[0].rawValue) and \($0[1].rawValue)" }
        return StressOutcome(
            tried: searches.joined().reduce(0) { $0 + $1.worlds }, unit: "worlds",
            failures: missing + known + shown + failures.dropFirst(shown.count).map(\.problem), notes: notes)
    }

    /// Plays worlds on all cores; always the same ones.
    private func search(_ selection: Selection) throws -> [WorldSearch] {
        let all = (1...max(1, selection.weight - 1)).flatMap { SmallApp.all(weighing: $0) }
        let (count, part) = (all.count + selection.sample, 50)
        let parts = Locked<[Int: Result<WorldSearch, any Error>]>([:])
        let failures = Locked(0)
        DispatchQueue.concurrentPerform(iterations: (count + part - 1) / part) { number in
            // The smallest of these say enough.
            guard failures.withLock({ $0 }) < 20 else { return }
            let result = Result {
                var search = WorldSearch(inSQLite: selection.inSQLite)
                for index in number * part..<min(count, number * part + part) {
                    guard index >= all.count else {
                        try search.playAll(all[index], upTo: selection.weight)
                        continue
                    }
                    var numbers = RandomNumbers(seed: UInt64(index))
                    try search.playSome(SmallApp.random(using: &numbers), &numbers)
                }
                failures.withLock { $0 += search.failures.count }
                return search
            }
            parts.withLock { $0[number] = result }
        }
        return try parts.withLock { $0 }.sorted { $0.key < $1.key }.map { try $0.value.get() }
    }
}
