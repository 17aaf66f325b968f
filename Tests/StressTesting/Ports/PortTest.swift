import AppMigrations
import Foundation
import MigrationTesting
import MigrationTools
import TestSupport

/// Stand-ins of five real apps are upgraded from each old release, and killed on the way.
public struct PortTest: StressTest {
    /// Selects it on the command line.
    public let name = "ports"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Five apps that keep their GRDB migrator, ladder, accounts, two databases or opaque files are upgraded from each old release, disturbed and killed: nothing is lost, skipped or done twice"

    /// Makes the test.
    public init() {}

    private static let all: [any Port.Type] = [
        PlayerPort.self, ChatPort.self, MessengerPort.self, LadderPort.self, FilesPort.self,
    ]

    /// Upgrades four thousand installs of each app, or twelve.
    public func run(_ size: StressSize) throws -> StressOutcome {
        try run(seeds: size.seeds(short: 60, long: 20_000))
    }

    /// Upgrades an install for each seed.
    public func run(seeds: Range<UInt64>) throws -> StressOutcome {
        let folder = try TemporaryFolder.inMemory()
        return seeds.tryEach(unit: "installs") { seed in
            let home = folder.file("\(seed)")
            defer { try? FileManager.default.removeItem(at: home) }
            var story: [String] = []
            do {
                try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
                let port = Self.all[Int(seed % UInt64(Self.all.count))]
                return try Self.live(port, seed, in: home, &story).map {
                    "seed \(seed), \(port.name): \($0), after \(story)"
                }
            } catch {
                return "seed \(seed): \(error), after \(story)"
            }
        }
    }

    private static func live(_ type: any Port.Type, _ seed: UInt64, in folder: URL, _ story: inout [String])
        throws -> String?
    {
        var random = RandomNumbers(seed: seed, subject: "ports")
        let port = try type.init(in: folder)
        // A new install, or one of an old release.
        let release = Int.random(in: -1..<type.releases - 1, using: &random)
        if release >= 0 { try port.use(release: release) }
        story.append(release < 0 ? "a new install" : "release \(release)")
        try upgrade(port, &random, &story)
        if let problem = try port.problem(from: release < 0 ? nil : release) { return problem }
        guard release >= 0, .random(using: &random) else { return nil }
        story.append("a disturbance")
        try port.disturb()
        try upgrade(port, &random, &story)
        return try port.problem(from: release)
    }

    /// Launches the last release, killed a few times, to its end, and once more.
    private static func upgrade(_ port: any Port, _ random: inout RandomNumbers, _ story: inout [String])
        throws
    {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let moment = Int.random(in: 1...40, using: &random)
            let process = SimulatedProcess(dying: .moment(moment))
            story.append("killed at \(moment)")
            do {
                _ = try launch(port, process)
            } catch  where process.isDead {}
        }
        _ = try launch(port, SimulatedProcess())
        let count = try launch(port, SimulatedProcess())
        if count > 0 { throw Repeated(count: count) }
    }

    private static func launch(_ port: any Port, _ process: SimulatedProcess) throws -> Int {
        try Environment.$current.withValue(Environment.changed { $0.observer = process }) {
            try port.launch(process)
        }
    }

    private struct Repeated: Error, CustomStringConvertible {
        let count: Int
        var description: String { "a launch with nothing to do has done \(count) pieces of work" }
    }
}
