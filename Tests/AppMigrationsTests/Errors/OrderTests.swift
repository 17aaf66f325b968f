import MigrationDiagnostics
import TestTraits
import Testing

@Suite("The order of a sequence", .timed)
struct OrderTests {
    @Test("is that of the rule, and equal elements stay as they are")
    func stable() {
        let words = ["pear", "fig", "plum", "kiwi", "nut", "apple"]
        let expected = ["fig", "nut", "pear", "plum", "kiwi", "apple"]
        #expect(words.inOrder { $0.count < $1.count } == expected)
        #expect([String]().inOrder() == [])
    }

    @Test("of many elements is that of the standard library", arguments: [1, 2, 31, 32, 33, 1000])
    func many(count: Int) {
        let numbers = (0..<count).map { $0 * 7919 % 1013 }
        #expect(numbers.inOrder() == numbers.sorted())
        #expect(Set(numbers).inOrder(by: >) == Set(numbers).sorted(by: >))
    }
}
