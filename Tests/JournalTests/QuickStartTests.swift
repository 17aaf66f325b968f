import Testing

@Suite("QuickStart", .timed)
struct QuickStartTests {
    @Test("begins with the first code of the README, and prints the output there")
    func readme() async throws {
        let readme = try text(of: "README.md")
        let code = try #require(readme.blocks("swift").first)
        #expect(try text(of: "Samples/QuickStart/main.swift").hasPrefix("\(code)\n// Ana"))
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
