import Foundation
import TestTraits
import Testing

/// Pairs of public features, each with the test in which both take part, or why they cannot meet.
@Suite("The table of pairs", .timed)
struct PairsTests {
    private static let features = [
        "step", "database step", "schema step", "DatabaseMigrator", "migration in Swift", "deferred rows",
        "deferred cursor", "deferred closure", "finishing", "again", "onFreshInstall", "adopting",
        "ledger adopting", "split", "waiting role", "skip", "rerun", "replaceRecord", "dying", "postponed",
        "downgrade", "newer database", "redefine", "snapshot", "baseline", "backup", "moving", "salvaging",
        "review", "matrix",
    ]
    private let pairs: [(pair: String, answer: String)]
    private let tests: URL

    init() throws {
        // Scripts/with-sqlite.sh makes a link of the folder.
        tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .resolvingSymlinksInPath()
        pairs = try String(contentsOf: tests.appendingPathComponent("Pairs.txt"), encoding: .utf8)
            .split(separator: "\n").map { line in
                let cells = line.components(separatedBy: " | ")
                return ("\(cells[0]) | \(cells[1])", cells.dropFirst(2).joined(separator: " | "))
            }
    }

    @Test("has a row for each two features")
    func completeness() {
        let all = Self.features.indices.flatMap { index in
            Self.features[(index + 1)...].map { "\(Self.features[index]) | \($0)" }
        }
        #expect(pairs.map(\.pair) == all)
    }

    @Test("names tests that exist")
    func names() throws {
        var texts: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: tests.path)
        where path.hasSuffix(".swift") {
            let url = tests.appendingPathComponent(path)
            texts[url.deletingPathExtension().lastPathComponent, default: ""] +=
                try String(contentsOf: url, encoding: .utf8)
        }
        let stress = texts.filter { $0.key.hasSuffix("Test") }.values.joined()
        let unknown = pairs.filter { pair in
            let parts = pair.answer.components(separatedBy: ": ")
            let rest = parts.dropFirst().joined(separator: ": ")
            switch parts[0] {
            case "no": return rest.split(separator: " ").count > 5
            case "stress":
                return !stress.contains("name = \"\(rest)\"") && !stress.contains("name: \"\(rest)\"")
            default: return texts[parts[0]].map { !$0.contains("\"\(rest)\"") } ?? true
            }
        }
        #expect(unknown.map { "\($0.pair) | \($0.answer)" } == [])
    }
}
