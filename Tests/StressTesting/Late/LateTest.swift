/// Rows and files in the old form arrive at any time, and the next launch brings them into the new one.
public struct LateTest: StressTest {
    /// Selects it on the command line.
    public let name = "late"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Rows and files in the old form arrive from older releases, backups and elsewhere: none is left after the next launch, none is lost, and no row is changed twice"

    /// Makes the test.
    public init() {}

    /// Tries twenty thousand installs, or sixty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        try run(seeds: size.seeds(short: 60, long: 20_000))
    }

    /// Tries an install for each seed.
    public func run(seeds: Range<UInt64>) throws -> StressOutcome { try seeds.tryEach(LateInstall.self) }
}
