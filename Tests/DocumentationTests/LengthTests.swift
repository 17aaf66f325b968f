import Foundation
import TestTraits
import Testing

@Suite("The length of the documentation", .timed)
struct LengthTests {
    @Test("is at most 900 words in the README, those of tables and code included")
    func readme() throws {
        #expect(try Self.words(of: "README.md") <= 900)
    }

    @Test("is at most 22,000 words in all articles")
    func articles() throws {
        // Scripts/with-sqlite.sh makes a link of the folder.
        let sources = Self.package.appendingPathComponent("Sources").resolvingSymlinksInPath()
        let articles = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
        #expect(articles.count > 30, "the articles were not found")
        #expect(try articles.map { try Self.words(of: "Sources/\($0)") }.reduce(0, +) <= 22_000)
    }

    /// The number of words of a file, as `wc -w` counts them.
    private static func words(of path: String) throws -> Int {
        let text = try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
        return text.split(whereSeparator: \.isWhitespace).count
    }

    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
