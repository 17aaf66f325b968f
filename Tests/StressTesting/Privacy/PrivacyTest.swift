import MigrationTesting

/// Makes fixtures of databases whose texts come from all of Unicode.
public struct PrivacyTest: StressTest {
    /// Selects it on the command line.
    public let name = "privacy"
    /// As the README words it.
    public let promise =
        "A fixture is made of texts from all of Unicode: no four successive letters or digits of them are in it"

    /// Makes the test.
    public init() {}

    /// Tries a million values, or three thousand.
    public func run(_ size: StressSize) throws -> StressOutcome {
        var outcome = StressOutcome(unit: "values")
        var seed: UInt64 = 1
        while outcome.tried < (size == .short ? 3_000 : 1_000_000), outcome.failures.count < 20 {
            var trial = try PrivacyTrial(seed: seed)
            try trial.run()
            outcome.tried += trial.values
            outcome.failures += trial.leaks.map { "seed \(seed): \($0)" }
            seed += 1
        }
        return outcome
    }
}
