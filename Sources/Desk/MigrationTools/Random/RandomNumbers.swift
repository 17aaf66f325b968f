import MigrationDiagnostics

/// Random numbers that are the same for the same seed (SplitMix64, Steele, Lea and Flood, 2014).
package struct RandomNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// Creates separate numbers for a subject, which do not change when other subjects use more.
    package init(seed: UInt64, subject: String) {
        // Swift's own hashes differ from one process to the next.
        state = subject.utf8.fnv1a(after: FNV1a.start ^ seed)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns true once in the given number of times, on average.
    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    mutating func pick<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &self) }
}
