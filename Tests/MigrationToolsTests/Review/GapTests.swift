import Foundation
import MigrationTools
import TestSupport
import TestTraits
import Testing

@Suite("What a review could not try", .timed)
struct GapTests {
    private func severities(
        _ files: [String: String], untried: ReviewRule.Severity = .error
    ) throws -> [String] {
        let folder = try TemporaryFolder()
        for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
        return try FolderReview.review(directory: folder.url, untried: untried).findings.map {
            "\($0.file) \($0.rule.name) \($0.severity.rawValue)"
        }
    }

    private static let swift = [
        "1_a.sql": "CREATE TABLE a(x);", "2_b.swift": "struct B {}", "3_c.sql": "DROP TABLE a;",
        "4_d.sql": "CREATE TABLE d(x);",
    ]

    @Test("is found once for migrations in Swift and all that come after them")
    func code() throws {
        let reviewed = try ReviewedMigrations(Self.swift)
        #expect(
            reviewed.findings.first { $0.contains("[untried]") } == """
                2_b.swift:1: Only the app can run it, so neither it nor the 2 migrations after it were tried. Review it in a \
                test of the app, with MigrationReview. Then write `// allow: untried` into a line of its own. [untried]
                """)
        let last = try ReviewedMigrations(["1_a.sql": "CREATE TABLE a(x);", "2_b.swift": ""])
        #expect(last.findings.count == 1)
        #expect(
            last.findings.first?.contains("2_b.swift:1: Only the app can run it, so it was not tried. ")
                == true)
    }

    @Test("is an error where nobody reads notes, unless a file or the project names the rule")
    func allowed() throws {
        let needing = ["1_a.sql": "CREATE TABLE a(x COLLATE localized);"]
        #expect(try severities(needing) == ["1_a.sql untried error"])
        #expect(try severities(needing, untried: .note) == ["1_a.sql untried note"])
        let allowing = ["1_a.sql": "-- allow: untried\nCREATE TABLE a(x COLLATE localized);"]
        #expect(try severities(allowing) == [])
        let rules = ["check.rules": "untried: warning"]
        #expect(try severities(needing.merging(rules) { $1 }) == ["1_a.sql untried warning"])
        #expect(try severities(Self.swift).contains("2_b.swift untried error"))
        let reviewed = Self.swift.merging(["2_b.swift": "// allow: untried\nstruct B {}"]) { $1 }
        #expect(try !severities(reviewed).contains { $0.contains("untried") })
    }

    @Test(
        "is every file where the names are not in order, though the project makes light of that",
        arguments: ["3-c.sql", "2_c.sql"])
    func names(file: String) throws {
        let files = ["1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "DROP TABLE a;", file: "SELECT 1;"]
        #expect(try !severities(files).contains { $0.contains("untried") })
        for severity in ["warning", "off"] {
            let rules = "malformed-name: \(severity)\ndouble-version: \(severity)"
            let found = try severities(files.merging(["check.rules": rules]) { $1 })
            #expect(found.filter { $0.contains("untried") } == ["\(file) untried error"])
        }
    }

    @Test("is not hidden by a file that is allowed and came first")
    func dependent() throws {
        let files = [
            "1_a.sql": "-- allow: untried\nCREATE TABLE a(x COLLATE localized);",
            "2_b.sql": "ALTER TABLE a ADD COLUMN y;",
        ]
        #expect(try severities(files) == ["2_b.sql untried error"])
    }
}
