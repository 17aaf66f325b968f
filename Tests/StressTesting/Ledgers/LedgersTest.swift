import AppMigrations
import Foundation
import MigrationTools
import TestSupport

/// Builds of several branches, with files merged late and squashed, leave in a database what their files plainly do.
public struct LedgersTest: StressTest {
    /// Selects it on the command line.
    public let name = "ledgers"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Builds add, merge late, squash and go back: a database has the effect of each file once, or is refused untouched"

    /// Makes the test.
    public init() {}

    /// Plays every two builds of up to three or four files and the return of the first, some with a third one, and random
    /// histories of up to five builds.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let folder = try TemporaryFolder()
        let builds = Self.builds(of: size == .long ? 4 : 3)
        let sample = size == .long ? 40_000 : 300
        let results = Locked<[Result<(Int, [String]), any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: builds.count + 8) { index in
            let result = Result {
                var numbers = RandomNumbers(seed: UInt64(index))
                var (tried, failures): (Int, [String]) = (0, [])
                func play(_ builds: [LedgerBuild]) throws {
                    var world = try LedgerWorld()
                    tried += 1
                    for build in builds {
                        guard let problem = try world.launch(build, snapshots: folder.url) else { continue }
                        failures.append("\(world.title): \(problem)")
                        return
                    }
                }
                if index < builds.count {
                    for (number, second) in builds.enumerated() {
                        // The short form begins with one of two builds only, which is the lower one in half of the pairs.
                        let beginsHere = ((index + number) % 2 == 0) == (index < number)
                        if size == .short, index != number, !beginsHere { continue }
                        // Whoever goes back comes forward again.
                        try play([builds[index], second, builds[index]])
                        guard size == .long else { continue }
                        for _ in 0..<6 { try play([builds[index], second, numbers.pick(builds)]) }
                    }
                } else {
                    for _ in 0..<sample / 8 { try play(Self.randomBuilds(&numbers)) }
                }
                return (tried, failures)
            }
            results.withLock { $0.append(result) }
        }
        let found = try results.withLock { $0 }.map { try $0.get() }
        return StressOutcome(
            tried: found.reduce(0) { $0 + $1.0 }, unit: "histories",
            failures: found.flatMap(\.1).sorted { $0.count < $1.count })
    }

    private static func file(_ version: Int64) -> LedgerFile {
        let kinds: [LedgerFile.Kind] = [.plain, .reversible, .compatible, .compatibleReversible]
        return LedgerFile(version: version, kind: kinds[Int(version - 1) % kinds.count])
    }

    /// All builds of files up to a version: each part of them, squashed at each point, with each rule.
    private static func builds(of count: Int) -> [LedgerBuild] {
        var builds: [LedgerBuild] = []
        for bits in 1..<(1 << count) {
            var files: [LedgerFile] = []
            for index in 0..<count where (bits >> index) % 2 == 1 { files.append(file(Int64(index) + 1)) }
            var points: [Int64?] = [nil]
            points += files.dropFirst().map { Optional($0.version) }
            for point in points {
                for rule in LedgerBuild.Newer.allCases {
                    builds.append(LedgerBuild(files: files, squashed: point, newer: rule))
                }
            }
            builds.append(LedgerBuild(files: files, squashed: nil, newer: .refuse, hasSnapshot: true))
        }
        return builds
    }

    /// A random history of two to five builds, of up to five files of all kinds.
    private static func randomBuilds(_ numbers: inout RandomNumbers) -> [LedgerBuild] {
        let files = (1...5).map { version in
            // The first file of a set makes the log.
            LedgerFile(
                version: Int64(version), kind: version == 1 ? .plain : numbers.pick(LedgerFile.Kind.allCases))
        }
        return (0..<numbers.pick(Array(2...5))).map { _ in
            let part = files.filter { $0.version == 1 || numbers.chance(65) }
            // Only SQL can be squashed, and a snapshot holds nothing from code.
            let plain = part.prefix { $0.kind != .code }
            let points = plain.dropFirst().map(\.version)
            let point = points.isEmpty || numbers.chance(50) ? nil : numbers.pick(points)
            return LedgerBuild(
                files: part, squashed: point, newer: numbers.pick(LedgerBuild.Newer.allCases),
                hasSnapshot: point == nil && plain.count == part.count && numbers.chance(20))
        }
    }
}
