/// Stand-ins of five real apps are upgraded from each old release, and killed on the way.
public struct PortTest: StressTest {
    /// Selects it on the command line.
    public let name = "ports"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Five apps that keep their GRDB migrator, ladder, accounts, two databases or opaque files are upgraded from each old release, disturbed and killed: nothing is lost, skipped or done twice"

    /// Makes the test.
    public init() {}

    /// Upgrades four thousand installs of each app, or twelve.
    public func run(_ size: StressSize) throws -> StressOutcome {
        try run(seeds: size.seeds(short: 60, long: 20_000))
    }

    /// Upgrades an install for each seed.
    public func run(seeds: Range<UInt64>) throws -> StressOutcome { try seeds.tryEach(PortInstall.self) }
}
