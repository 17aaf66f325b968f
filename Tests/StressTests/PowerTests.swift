import Testing

@testable import StressTesting

@Suite("The trial of power cuts")
struct PowerTests {
    @Test("finds that syncs were left out", arguments: ["folders", "syncs"])
    func findsOmissions(_ omission: String) throws {
        let outcome = try PowerTest.leavingOut(omission)
        #expect(outcome.failures.contains { $0.contains("lost: reported") })
    }
}
