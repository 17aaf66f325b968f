import Testing

@Suite("QuickStart", .timed)
struct QuickStartTests {
    @Test("is the first program of the README, whose output it prints")
    func readme() async throws {
        let readme = try text(of: "README.md")
        #expect(readme.blocks("swift").first == (try text(of: "Samples/QuickStart/main.swift")))
        let run = try await SampleProcess("QuickStart")
        #expect(readme.blocks("").first == run.output)
        #expect(run.errors == "")
        #expect(run.status == 0)
    }

    @Test("begins before line 25 of the README")
    func position() throws {
        let lines = try text(of: "README.md").split(separator: "\n", omittingEmptySubsequences: false)
        let index = try #require(lines.firstIndex(of: "```swift"))
        #expect(index + 1 < 25)
    }
}
