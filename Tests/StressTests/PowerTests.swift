import Testing

@testable import StressTesting

@Suite("Power cuts")
struct PowerTests {
    @Test("lose reported work when syncs are missing", arguments: ["folders", "syncs"])
    func findsOmissions(_ omission: String) throws {
        let outcome = try PowerTest.leavingOut(omission)
        #expect(outcome.failures.contains { $0.contains("lost: reported") })
    }
}
