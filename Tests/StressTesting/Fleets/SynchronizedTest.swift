import MigrationTesting
import MigrationTools

/// Fleets of generated apps tell right apps from wrong ones.
public struct SynchronizedTest: StressTest {
    /// Selects it on the command line.
    public let name = "synchronized"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Devices of several releases exchange rows: a simulated fleet finds each app that loses some, and blames no other"
    /// The number of stories in which an app that is wrong is found out.
    private static let stories = 200

    /// Makes the test.
    public init() {}

    /// Tries a thousand apps, or six.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 6, long: 1_000))
    }

    /// Tries an app for each seed: each second one is wrong.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        seeds.tryEach(unit: "apps") { seed in
            let wrong = SynchronizedApp.Addition.wrong
            let mistake = seed % 2 == 0 ? wrong[Int(seed / 2) % wrong.count] : nil
            do {
                let fleet = SynchronizedApp(seed: seed, wrong: mistake).fleet
                let found = try fleet.failure(
                    seed: seed, count: mistake == nil ? 5 : Self.stories, isShort: false)
                switch (mistake, found) {
                case (nil, let found?): return "seed \(seed): a right app is blamed: \(found)"
                case (let mistake?, nil): return "seed \(seed): not found: \(mistake)"
                default: return nil
                }
            } catch {
                return "seed \(seed): \(error)"
            }
        }
    }
}
