import ArgumentParser
import Foundation
import MigrationTools
import SchemaMigrations
import TextOutput

/// Reviews the migrations of a folder.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the migrations as a reviewer would, and run them in memory over generated rows.",
        discussion: """
            Ends with status 1 when it finds an error. A comment on the line above a statement, or for what concerns \
            a whole file before its first statement, allows what is meant: -- allow: drop-table

            ERRORS
            \(list(.error))

            WARNINGS
            \(list(.warning))

            NOTES
            \(list(.note))

            With --database, files are compared with those applied to that database. With --since, they are compared \
            with those of a branch, which others may have applied: no file of it may be edited, renamed or removed, and \
            a new file has to be newer than all of them. Without --since, that branch is the default branch of the \
            remote origin, if the repository knows it.

            EXAMPLE
              app-migrations check
              app-migrations check --directory Sources/Library/Migrations
              app-migrations check --since origin/main
              app-migrations check --database library.sqlite --json
            """)

    @OptionGroup var folder: DirectoryOption

    @Option(
        help: ArgumentHelp("A SQLite database to compare the files with.", valueName: "file"),
        completion: .file())
    var database: String?

    @OptionGroup var passphrase: PassphraseOptions

    @Option(
        help: ArgumentHelp("A Git branch, tag or commit to compare the files with.", valueName: "ref"))
    var since: String?

    @Flag(help: "Compare the files with no branch.")
    var noSince = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if noSince, since != nil { throw ValidationError("Pass either --since or --no-since.") }
    }

    func run() throws {
        let branch = try branch()
        let review =
            if let database {
                try passphrase.file(database).reading {
                    try MigrationReview(directory: folder.url, database: $0, branch: branch)
                }
            } else {
                try MigrationReview(directory: folder.url, branch: branch)
            }
        let output = CheckOutput(review, branch: branch?.name)
        if json { try printJSON(output) } else { output.print(in: folder.directory) }
        if output.errors > 0 { throw ExitCode.failure }
    }

    /// Returns the migrations that others may have applied; nil if there is no branch to compare with.
    private func branch() throws -> BranchMigrations? {
        // The review says what is wrong with the folder.
        guard !noSince, FileKind(folder.directory) == .folder else { return nil }
        if let since {
            let repository = try GitRepository(of: folder.url)
            return try repository.migrations(on: repository.commit(since))
        }
        guard let repository = try? GitRepository(of: folder.url), let branch = try? repository.defaultBranch
        else { return nil }
        return try? repository.migrations(on: branch)
    }

    private static func list(_ severity: ReviewRule.Severity) -> String {
        ReviewRule.all.filter { $0.severity == severity }
            .map { "  \($0.name.padded(to: 23))\($0.summary)" }.joined(separator: "\n")
    }
}

/// The output of `check`.
private struct CheckOutput: Encodable {
    /// The branch with which the files were compared.
    let since: String?
    let migrations: Int
    let errors: Int
    let warnings: Int
    let notes: Int
    let findings: [Finding]

    struct Finding: Encodable {
        let file: String
        let line: Int
        let rule: String
        let severity: String
        let reason: String
    }

    init(_ review: MigrationReview, branch: String?) {
        since = branch
        migrations = review.count
        errors = review.findings.count { $0.rule.severity == .error }
        warnings = review.findings.count { $0.rule.severity == .warning }
        notes = review.findings.count { $0.rule.severity == .note }
        findings = review.findings.map {
            Finding(
                file: $0.file, line: $0.line, rule: $0.rule.name, severity: $0.rule.severity.rawValue,
                reason: $0.reason)
        }
    }

    /// Prints a line for each finding in the format of compilers, so that editors can jump to it.
    func print(in directory: String) {
        let style = Style()
        for finding in findings {
            let path = (directory as NSString).appendingPathComponent(finding.file)
            let severity =
                finding.severity == "error" ? style.bad("error:") : style.notable("\(finding.severity):")
            Swift.print(
                "\(path):\(finding.line): \(severity) \(finding.reason) \(style.faint("[\(finding.rule)]"))")
        }
        let comparison = since.map { ", and compared with \($0)" } ?? ""
        let sum = "\(migrations.counting("migration")) checked\(comparison)"
        if findings.isEmpty {
            Swift.print("\(style.good("✓")) \(sum): nothing found")
        } else {
            let counts = [errors.counting("error"), warnings.counting("warning")]
            let notes = notes == 0 ? [] : [notes.counting("note")]
            Swift.print("\(sum): \((counts + notes).joined(separator: ", "))")
        }
    }
}
