/// What accounts lose of their own, they get again, and what they share is nobody else's.
public struct AccountsTest: StressTest {
    /// Selects it on the command line.
    public let name = "accounts"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Accounts with a store each share a database, and lose stores, records and databases: every row gets each step once, in order, and none is lost"

    /// Makes the test.
    public init() {}

    /// An install in which what was said of one account's lost records was once taken for said of the other's.
    private static let known: UInt64 = 121

    /// Tries twenty thousand installs, or a hundred.
    public func run(_ size: StressSize) throws -> StressOutcome {
        var outcome = try run(seeds: Self.known..<Self.known + 1)
        let others = try run(seeds: size.seeds(short: 100, long: 20_000))
        outcome.tried += others.tried
        outcome.failures += others.failures
        return outcome
    }

    /// Tries an install for each seed.
    public func run(seeds: Range<UInt64>) throws -> StressOutcome {
        try seeds.tryEach(AccountsInstall.self)
    }
}
