import AppMigrations
import Foundation
import MigrationTools
import SmallWorlds

/// Devices with long random histories, in real SQLite, keep the promises of small worlds.
public struct FleetTest: StressTest {
    /// Selects it on the command line.
    public let name = "fleet"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "A device is upgraded, downgraded, restored, killed: each store and database gets exactly what it lacks"
    /// The number of events in the life of a device.
    private static let longest = 14

    /// Makes the test.
    public init() {}

    /// Tries a hundred thousand devices, or sixty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 60, long: 100_000))
    }

    /// Tries a device for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let events = Locked(0)
        var outcome = seeds.tryEach(unit: "devices") { seed in
            do {
                let (count, failure) = try Self.live(seed: seed)
                events.withLock { $0 += count }
                return failure.map { "seed \(seed): \($0.code)" }
            } catch {
                return "seed \(seed): \(error)"
            }
        }
        outcome.notes.append("\(events.withLock { $0 }) events")
        return outcome
    }

    /// Lives through the history of a device.
    ///
    /// - Returns: the number of its events, and the world in which a promise did not hold.
    private static func live(seed: UInt64) throws -> (events: Int, failure: WorldSearch.Failure?) {
        var numbers = RandomNumbers(seed: seed, subject: "fleet")
        var world = try World(SmallApp.random(using: &numbers), inSQLite: true)
        while world.history.count < longest {
            let events = world.next
            let launches = events.filter(\.isLaunch)
            guard
                var event = (numbers.chance(50) && !launches.isEmpty ? launches : events).randomElement(
                    using: &numbers)
            else { break }
            if numbers.chance(30) {
                // To know which faults the event can have, it is played on a copy.
                var copy = world
                let faults = event.faults(after: try copy.play(event).outcome, in: world.app)
                if let fault = faults.randomElement(using: &numbers) { event = event.with(fault) ?? event }
            }
            if let problem = try world.play(event).problem {
                return (
                    world.history.count,
                    WorldSearch.Failure(
                        app: world.app, history: world.history, problem: problem, inSQLite: true)
                )
            }
        }
        return (world.history.count, nil)
    }
}
