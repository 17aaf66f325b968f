import AppMigrations
import Foundation
import TestSupport

/// Databases that move keep every promise by value, whatever stands at their two paths, and whatever happens then.
public struct PlacesTest: StressTest {
    /// Selects it on the command line.
    public let name = "places"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "A database moves, beside anything: no row that was seen is replaced by an older one, none disappears, and no launch is refused once it has moved"

    /// Makes the test.
    public init() {}

    /// Plays all worlds of two paths up to three events, or a part of them.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let folder = try TemporaryFolder.inMemory()
        let starts = PlaceStart.allCases.flatMap { new in PlaceStart.allCases.map { (new, $0) } }
        let results = Locked<[Result<(Int, [String]), any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: starts.count) { index in
            let result = Result {
                var search = PlaceSearch(folder: folder.file("\(index)"), size: size)
                let world = try PlaceWorld(
                    starts[index].0, starts[index].1, in: folder.file("\(index)/start"))
                try search.playAll(world, left: 3)
                try FileManager.default.removeItem(at: folder.file("\(index)"))
                return (search.worlds, search.failures)
            }
            results.withLock { $0.append(result) }
        }
        let found = try results.withLock { $0 }.map { try $0.get() }
        return StressOutcome(
            tried: found.reduce(0) { $0 + $1.0 }, unit: "worlds",
            failures: found.flatMap(\.1).sorted { $0.count < $1.count })
    }
}

/// Plays events as a tree: every continuation begins with the folder that the events before have left.
private struct PlaceSearch {
    let folder: URL
    let size: StressSize
    private(set) var worlds = 0
    private(set) var failures: [String] = []

    init(folder: URL, size: StressSize) { (self.folder, self.size) = (folder, size) }

    mutating func playAll(_ world: PlaceWorld, left: Int) throws {
        for (number, event) in PlaceEvent.all.enumerated() {
            // The short form plays every first event, a twenty-ninth of the second ones, and a launch after those.
            if size == .short, left == 2, (number + worlds) % 29 != 0 { continue }
            // A third event shows what two have left.
            if size == .short, left == 1, event != .open { continue }
            var next = try world.copied(to: folder.appendingPathComponent("\(worlds)"))
            defer { try? FileManager.default.removeItem(at: next.folder) }
            worlds += 1
            let (problem, isOther) = try next.play(event)
            if let problem {
                failures.append("\(next.title): \(problem)")
            } else if isOther, left > 1 {
                try playAll(next, left: left - 1)
            }
        }
    }
}
