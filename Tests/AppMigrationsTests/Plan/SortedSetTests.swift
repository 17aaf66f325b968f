import Testing

@testable import AppMigrations

@Suite("SortedSet", .timed)
struct SortedSetTests {
    @Test("is in ascending order, and holds each element once")
    func order() {
        #expect(Array(SortedSet([3, 1, 2, 3, 1])) == [1, 2, 3])
        #expect(Array(SortedSet<Int>([])) == [])
    }

    @Test("keeps the first of equal elements")
    func equalElements() throws {
        let versions: SortedSet<AppVersion> = ["2.0", "1.1", "1.1.0"]
        #expect(versions.map(\.description) == ["1.1", "2.0"])
        var more = versions
        more.insert("2.0.0")
        more.formUnion(["1.1.0", "1.2"])
        #expect(more.map(\.description) == ["1.1", "1.2", "2.0"])
    }

    @Test("agrees with a set of the standard library")
    func comparison() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let start = (0..<Int.random(in: 0...8, using: &generator)).map { _ in Int.random(in: 0...9) }
            let other = (0..<Int.random(in: 0...8, using: &generator)).map { _ in Int.random(in: 0...9) }
            var (ours, theirs) = (SortedSet(start), Set(start))
            #expect((0...9).filter(ours.contains) == theirs.sorted())
            for element in other.prefix(2) {
                ours.insert(element)
                theirs.insert(element)
            }
            for element in other.suffix(2) {
                ours.remove(element)
                theirs.remove(element)
            }
            #expect(Array(ours) == theirs.sorted())
            ours.formUnion(other)
            theirs.formUnion(other)
            #expect(Array(ours) == theirs.sorted())
            #expect(Array(ours.subtracting(SortedSet(start))) == theirs.subtracting(start).sorted())
        }
    }
}
