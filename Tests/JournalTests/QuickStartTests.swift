import Testing

@Suite("QuickStart")
struct QuickStartTests {
    @Test("the snippet upgrades a library that version 1.0 left behind")
    func upgrade() async throws {
        let run = try await SampleProcess("QuickStart")
        #expect(run.output == "moving the archive\nmoving the rest, attempt 1\nupgrade(from: 1.0)\n")
        #expect(run.errors == "")
        #expect(run.status == 0)
    }
}
