import Foundation
import TestTraits
import Testing

@Suite("The length of the documentation", .timed)
struct LengthTests {
    @Test("is at most 900 words in the README, those of tables and code included")
    func readme() throws {
        #expect(try Self.words(of: "README.md") <= 900)
    }

    /// The number of words of a file, as `wc -w` counts them.
    private static func words(of path: String) throws -> Int {
        let text = try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
        return text.split(whereSeparator: \.isWhitespace).count
    }

    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
