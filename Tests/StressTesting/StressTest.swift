/// One promise of the package, and how it is tried.
public protocol StressTest: Sendable {
    /// Selects the test on the command line: a few words with hyphens.
    var name: String { get }

    /// The promise, as the documentation words it.
    var promise: String { get }

    /// Tries to break the promise.
    ///
    /// - Parameter size: how much is tried.
    /// - Returns: what has been tried, and every case in which the promise did not hold.
    /// - Throws: an error when the promise could not be tried, which says nothing about it.
    func run(_ size: StressSize) throws -> StressOutcome
}

/// How much of a stress test is run.
public enum StressSize: String, Sendable, CaseIterable {
    /// A sample that takes a few seconds, for `make test-crashes`.
    case short
    /// All of it.
    case long
}

extension StressSize {
    /// The seed of the first random case.
    ///
    /// The same in each short form. The long form tries cases that nobody has seen: a search that always tries the same ones is a
    /// test suite.
    @TaskLocal public static var firstSeed: UInt64 = 1

    /// The seeds of so many random cases.
    func seeds(short: UInt64, long: UInt64) -> Range<UInt64> {
        Self.firstSeed..<Self.firstSeed + (self == .short ? short : long)
    }
}

/// The cases that were tried, and those that failed.
public struct StressOutcome: Sendable {
    /// How many cases have been tried.
    public var tried: Int
    /// The name of a case, in the plural: "kills", "images".
    public var unit: String
    /// One text for each case in which the promise did not hold: what was done, what was found, and how to try that
    /// case alone.
    public var failures: [String]
    /// The tests that this machine could not run, and why.
    public var notes: [String]

    /// Makes an outcome; an empty one to be counted up, when all is left out.
    public init(tried: Int = 0, unit: String, failures: [String] = [], notes: [String] = []) {
        self.tried = tried
        self.unit = unit
        self.failures = failures
        self.notes = notes
    }
}
