/// A generator of numbers that look random, and are the same for the same seed on every machine.
///
/// SplitMix64, by Guy Steele, Doug Lea and Christine Flood: "Fast splittable pseudorandom number generators", 2014.
public struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    /// Makes a generator.
    public init(seed: UInt64) { state = seed }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Whether something happens that does so that often in a hundred times.
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    /// One of several.
    mutating func pick<Element>(_ elements: some Collection<Element>) -> Element {
        guard let element = elements.randomElement(using: &self) else {
            preconditionFailure("Nothing to pick")
        }
        return element
    }
}
