import Foundation
import Testing

@Suite("README", .timed)
struct ReadmeTests {
    @Test("the first snippet equals the code of QuickStart")
    func snippet() throws {
        let readme = try text(of: "README.md")
        let sample = try text(of: "Samples/QuickStart/main.swift")
        let shown = try #require(readme.between("```swift\n", "```"), "README.md has no Swift snippet")
        let run = try #require(
            sample.between("    // snippet: begin\n", "    // snippet: end"), "QuickStart has no markers")
        #expect(shown == run.replacing(#/(?m)^ {4}/#, with: ""))
    }

    @Test("the first snippet begins before line 25")
    func position() throws {
        let lines = try text(of: "README.md").split(separator: "\n", omittingEmptySubsequences: false)
        let index = try #require(lines.firstIndex(of: "```swift"))
        #expect(index + 1 < 25)
    }

    @Test("the file has at most 1,200 words, those of tables and code included")
    func length() throws {
        let readme = try text(of: "README.md")
        #expect(readme.split(whereSeparator: \.isWhitespace).count <= 1_200)
    }

    private func text(of path: String) throws -> String {
        try String(contentsOf: packageRoot.appendingPathComponent(path), encoding: .utf8)
    }
}

extension String {
    /// Returns the text between the first occurrences of two markers.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard let start = range(of: start), let end = range(of: end, range: start.upperBound..<endIndex)
        else {
            return nil
        }
        return String(self[start.upperBound..<end.lowerBound])
    }
}
