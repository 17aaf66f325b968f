import Foundation
import StressTesting
import Testing

@Suite("Crash and fault tests, in short form", .timed)
struct StressTests {
    @Test("have unique names", arguments: allStressTests.map(\.name))
    func names(_ name: String) {
        #expect(allStressTests.count { $0.name == name } == 1)
    }

    @Test("state their promises as the documentation does", arguments: allStressTests.map(\.promise))
    func readme(promise: String) throws {
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Documentation/StressTests.md")
        #expect(try String(contentsOf: readme, encoding: .utf8).contains("| \(promise) |"))
    }

    @Test("launch apps that have every pair of features, or a reason not to")
    func pairs() throws {
        #expect(try WorkloadRuns.missingPairs() == [])
    }

    @Test("find no broken promise", arguments: allStressTests.map(\.name))
    func promises(_ name: String) throws {
        let test = try #require(allStressTests.first { $0.name == name })
        let outcome = try test.run(.short)
        #expect(outcome.tried > 0)
        #expect(outcome.failures == [])
        for note in outcome.notes { print("\(name): \(note)") }
    }

    @Test(
        "let older builds write where only rows keep a migration from being applied",
        arguments: [356, 854, 921, 3507, 3774, 5033] as [UInt64])
    func compatible(seed: UInt64) {
        #expect(CompatibleTest().run(seeds: seed..<seed + 1).failures == [])
    }

    @Test("undo migrations of tables that SQLite lets no one fill", arguments: [77, 637, 733] as [UInt64])
    func undo(seed: UInt64) {
        #expect(UndoTest().run(seeds: seed..<seed + 1).failures == [])
    }
}
