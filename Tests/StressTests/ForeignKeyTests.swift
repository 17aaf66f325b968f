import StressTesting
import Testing

@Suite("Random foreign keys")
struct ForeignKeyTests {
    @Test(
        "are judged by the values of the rows when the parent's key takes another type",
        arguments: [714, 774, 868, 1037, 1157, 1334, 1355, 1554, 1692, 1813, 2336] as [UInt64])
    func types(_ seed: UInt64) {
        #expect(ForeignKeyTest().run(seeds: seed..<seed + 1).failures == [])
    }
}
