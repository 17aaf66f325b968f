import MigrationTesting

/// Makes fixtures of databases whose texts come from all of Unicode.
public struct PrivacyTest: StressTest {
    /// Selects it on the command line.
    public let name = "privacy"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "A fixture made from texts in all of Unicode repeats no four consecutive letters or digits of them"

    /// Makes the test.
    public init() {}

    /// Tries a million values, or fifteen hundred.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let values = UInt64(PrivacyTrial.values)
        var outcome = size.seeds(short: 1_500 / values + 1, long: 1_000_000 / values + 1).tryEach(
            unit: "values"
        ) { seed in
            do {
                var trial = try PrivacyTrial(seed: seed)
                try trial.run()
                return trial.leaks.isEmpty
                    ? nil : "seed \(seed): \(trial.leaks.joined(separator: "; "))"
            } catch {
                return "seed \(seed): \(error)"
            }
        }
        outcome.tried *= PrivacyTrial.values
        return outcome
    }
}
