import Foundation
import TestTraits
import Testing

@Suite("The tables of what a change touches", .timed)
struct GuideTests {
    @Test("name files that exist")
    func files() throws {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        // Scripts/with-sqlite.sh makes a link of the folder.
        let sources = package.appendingPathComponent("Sources").resolvingSymlinksInPath()
        let there = Set(
            try FileManager.default.subpathsOfDirectory(atPath: sources.path)
                .filter { $0.hasSuffix(".swift") }
                .map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent })
        let guide = try String(
            contentsOf: package.appendingPathComponent("CONTRIBUTING.md"), encoding: .utf8)
        let section = try #require(guide.split(separator: "### What a change touches").last)
            .split(separator: "\n## ").first
        let cells = try #require(section).split(separator: "\n").filter { $0.hasPrefix("| ") }
            .compactMap { $0.split(separator: " | ").last }
        let names = cells.flatMap { $0.matches(of: /`([A-Z][A-Za-z+]+)`/).map { String($0.1) } }
        #expect(names.count > 80, "the tables were not found")
        #expect(names.filter { $0 != "Commands" && !there.contains($0) } == [])
    }
}
