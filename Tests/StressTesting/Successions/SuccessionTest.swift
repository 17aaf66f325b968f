/// Managers that are split off, renamed or first called late begin where the install did, whatever the clock says.
public struct SuccessionTest: StressTest {
    /// Selects it on the command line.
    public let name = "successions"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Managers are split off, renamed and first called late, and clocks jump: exactly the steps above the version of the install run"

    /// Makes the test.
    public init() {}

    /// Installs in which an older release once ran steps again that had come to another manager; in the last two, that release
    /// was the first to call the manager by its former name.
    private static let known: [UInt64] = [1101, 4121, 777_813, 101_396_199_839, 101_396_200_067]

    /// Tries a hundred thousand installs, or a hundred and fifty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        var outcome = try run(seeds: size.seeds(short: 150, long: 100_000))
        for seed in Self.known {
            let other = try run(seeds: seed..<seed + 1)
            outcome.tried += other.tried
            outcome.failures += other.failures
        }
        return outcome
    }

    /// Tries an install for each seed.
    public func run(seeds: Range<UInt64>) throws -> StressOutcome {
        try seeds.tryEach(SuccessionInstall.self)
    }
}
