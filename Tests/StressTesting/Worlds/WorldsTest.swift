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

    /// Why no app has two features together.
    private static let reasons: [Set<Feature>: String] = [
        [.imports, .deferredClosure]: "what changes the files that are imported would have to be in each copy"
    ]

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

    /// Plays ten million worlds, the larger half of them random and deep, or twenty thousand.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let searches =
            switch size {
            case .short:
                [
                    try search(Selection(weight: 3, sample: 130, inSQLite: false)),
                    try search(Selection(weight: 2, sample: 8, inSQLite: true)),
                ]
            case .long:
                [
                    try search(Selection(weight: 5, sample: 72_000, inSQLite: false)),
                    try search(Selection(weight: 3, sample: 130, inSQLite: true)),
                ]
            }
        let known = try KnownWorld.all.flatMap { world in
            try [false, true].compactMap { try world.problem(inSQLite: $0) }
        }
        // A world of each kind, without what does not matter.
        let kinds = searches.flatMap(\.kinds.values).sorted { $0.lightest.weight < $1.lightest.weight }
        let shown = kinds.prefix(20).map { kind in
            "\(kind.lightest.shrunk().code)\n\(kind.count) such worlds"
        }
        var pairs = FeaturePairs()
        for search in searches { pairs.add(search.pairs) }
        var notes = zip(["in memory", "in SQLite"], searches).map { place, search in
            "\(search.worlds) worlds of \(search.apps) apps \(place), \(search.kinds.values.reduce(0) { $0 + $1.count }) wrong"
        }
        let missing = pairs.missing(except: Self.reasons).map {
            "no app has both \($0[0].rawValue) and \($0[1].rawValue)"
        }
        notes.append("stress --\(size) --seed \(StressSize.firstSeed) worlds repeats this")
        // Of other seeds, a short form need not have every pair.
        let isChosen = size == .long || StressSize.firstSeed == 1
        return StressOutcome(
            tried: searches.reduce(0) { $0 + $1.worlds }, unit: "worlds",
            failures: (isChosen ? missing : []) + known + shown, notes: notes + (isChosen ? [] : missing))
    }

    /// Calls a body with each number, on more threads than there are cores: asynchronous calls wait for another thread, and
    /// would leave the cores idle.
    private func onManyThreads(iterations: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let numbers = Locked((0..<iterations).makeIterator())
        let group = DispatchGroup()
        for _ in 0..<3 * ProcessInfo.processInfo.activeProcessorCount {
            group.enter()
            Thread.detachNewThread {
                while let number = numbers.withLock({ $0.next() }) { body(number) }
                group.leave()
            }
        }
        group.wait()
    }

    /// Plays worlds on all cores: all small ones, and of larger ones those of the seeds.
    private func search(_ selection: Selection) throws -> WorldSearch {
        let all = (1...max(1, selection.weight - 1)).flatMap { SmallApp.all(weighing: $0) }
        let (count, part) = (all.count + selection.sample, 50)
        let firstSeed = StressSize.firstSeed
        let found = Locked<Result<WorldSearch, any Error>>(
            .success(WorldSearch(inSQLite: selection.inSQLite)))
        onManyThreads(iterations: (count + part - 1) / part) { number in
            let result = Result {
                var search = WorldSearch(inSQLite: selection.inSQLite)
                for index in number * part..<min(count, number * part + part) {
                    guard index >= all.count else {
                        try search.playAll(all[index], upTo: selection.weight)
                        continue
                    }
                    var numbers = RandomNumbers(seed: firstSeed + UInt64(index))
                    try search.playSome(SmallApp.random(using: &numbers), &numbers)
                }
                return search
            }
            found.withLock { found in
                found = Result {
                    var sum = try found.get()
                    sum.add(try result.get())
                    return sum
                }
            }
        }
        return try found.withLock { try $0.get() }
    }

    /// Plays a sample in memory, and returns a world of each kind that is wrong; for looking closer.
    package static func sample(_ seeds: Range<UInt64>, inSQLite: Bool = false) throws -> (
        worlds: Int, wrong: [String]
    ) {
        var search = WorldSearch(inSQLite: inSQLite)
        for seed in seeds {
            var numbers = RandomNumbers(seed: seed)
            try search.playSome(SmallApp.random(using: &numbers), &numbers)
        }
        let kinds = search.kinds.values.sorted { $0.count > $1.count }
        return (search.worlds, kinds.map { "\($0.count) such worlds: \($0.lightest.shrunk().code)" })
    }
}
