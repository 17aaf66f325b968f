import StressTesting
import Testing

@Suite("Power cuts", .timed)
struct PowerTests {
    @Test("lose reported work when syncs are missing", arguments: ["folders", "syncs"])
    func findsOmissions(_ omission: String) throws {
        let outcome = try PowerTest.leavingOut(omission)
        #expect(outcome.failures.contains { $0.contains("lost: reported") })
    }
}
