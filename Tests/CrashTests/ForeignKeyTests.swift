import StressTesting
import Testing

@Suite("Random foreign keys", .timed)
struct ForeignKeyTests {
    @Test(
        "are judged by the values of the rows, as the parent's key has them now",
        arguments: [714, 774, 868, 1037, 1157, 1334, 1355, 1554, 1692, 1813, 2336, 2524] as [UInt64])
    func values(_ seed: UInt64) {
        #expect(ForeignKeyTest().run(seeds: seed..<seed + 1).failures == [])
    }
}
