/// Makes inputs from seeds, where libFuzzer is not there to do it.
public struct Mutation {
    private let seeds: [[UInt8]]
    private let words: [[UInt8]]

    /// Takes what a target begins with.
    public init(seeds: [[UInt8]]) {
        self.seeds = seeds
        words =
            seeds.flatMap { $0.split { !(0x30...0x7A).contains($0) }.map(Array.init) } + [
                [0], [0xC3], [0xEF, 0xBB, 0xBF],
            ]
    }

    /// An input: a seed in which a few things have been changed.
    public func input(using random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = seeds.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let start = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 0...4, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes.removeSubrange(start..<end)
            case 1: bytes.insert(.random(in: 0...255, using: &random), at: start)
            case 2: bytes.insert(.random(in: 0x20...0x7E, using: &random), at: start)
            case 3: bytes.replaceSubrange(start..<end, with: words.randomElement(using: &random) ?? [])
            case 4: bytes.insert(contentsOf: bytes[start..<end], at: start)
            default:
                let other = seeds.randomElement(using: &random) ?? []
                bytes.replaceSubrange(
                    start..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
            }
        }
        return bytes
    }
}
