import Foundation
import MigrationTools
import TestSupport
import TestTraits
import Testing

/// A folder of migrations, reviewed.
struct ReviewedMigrations {
    let folder: TemporaryFolder
    let review: MigrationReview

    init(_ files: [String: String]) throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
        review = try MigrationReview(directory: folder.url)
    }

    /// Reviews a file that follows another one.
    init(_ sql: String, after first: String) throws {
        try self.init(["1_a.sql": first, "2_b.sql": sql])
    }

    /// The findings: the line, the rule and the reason.
    var findings: [String] {
        review.findings.map { "\($0.file):\($0.line): \($0.reason) [\($0.rule.name)]" }
    }

    /// The line and the rule of each finding.
    var rules: [String] { review.findings.map { "\($0.line) \($0.rule.name)" } }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
