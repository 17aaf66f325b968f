import Foundation
import MigrationTools
import TestSupport
import TestTraits
import Testing

/// A folder of migrations, reviewed.
struct ReviewedMigrations {
    let folder: TemporaryFolder
    let review: FolderReview

    init(_ files: [String: String]) throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
        review = try FolderReview.review(directory: folder.url)
    }

    /// Reviews a file that follows another one.
    init(_ sql: String, after first: String) throws {
        try self.init(["1_a.sql": first, "2_b.sql": sql])
    }

    /// All findings: the line, the rule and the reason.
    var allFindings: [String] {
        review.findings.map { "\($0.file):\($0.line): \($0.reason) [\($0.rule.name)]" }
    }

    /// The findings, but that a rebuild is needless: so it is in many a test of other rules.
    var findings: [String] { allFindings.filter { !$0.hasSuffix("[needless-rebuild]") } }

    /// The line and the rule of each finding, but the same.
    var rules: [String] {
        review.findings.map { "\($0.line) \($0.rule.name)" }.filter { !$0.hasSuffix(" needless-rebuild") }
    }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
