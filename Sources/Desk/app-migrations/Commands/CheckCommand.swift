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
            Exits with status 1 if it finds an error. To allow a finding, write a comment on the line above the \
            statement, or before the first statement if the finding concerns the whole file: -- allow: drop-table

            ERRORS
            \(list(.error))

            WARNINGS
            \(list(.warning))

            NOTES
            \(list(.note))

            With --database, files are compared with those applied to that database. With --since, they are compared \
            with those of a branch, which others may have applied: no file of it may be edited, renamed or removed, and \
            a new file has to be newer than all of them. Without --since, that branch is the default branch of the \
            remote origin, if the repository knows it. Where the variable CI is set, it is an error if there is no \
            branch to compare with, unless you pass --no-since. It is also one if a file could not be tried \
            (untried, step-limit), unless a comment in the file or check.rules names the rule.

            Functions, collations and tokenizers that the app adds to SQLite are missing here: code.rules beside the files \
            declares stand-ins for them, and names of SQLite's that they behave like, such as

              collation: localized = NOCASE
              function: slug(1) pure = lower
              tokenizer: words

            With --oldest, a form of SQL that the named version of SQLite lacks is an error.

            EXAMPLE
              app-migrations check
              app-migrations check --directory Sources/Library/Migrations
              app-migrations check --since origin/main
              app-migrations check --oldest 3.39 --format github
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

    @Option(
        help: ArgumentHelp(
            "The oldest SQLite on which the migrations run: 3.39 or later.", valueName: "version"),
        transform: { text in
            guard let version = SQLiteVersion(text) else {
                throw ValidationError("Pass a version of SQLite from 3.39, such as 3.39 or 3.46.1.")
            }
            return version
        })
    var oldest: SQLiteVersion?

    @Option(help: "The format of the output; github is for workflows.")
    var format = CheckFormat.text

    @Flag(help: "Print JSON, as --format json does.")
    var json = false

    func validate() throws {
        if noSince, since != nil { throw ValidationError("Pass either --since or --no-since.") }
        if json, ![.text, .json].contains(format) {
            throw ValidationError("Pass either --json or --format \(format.rawValue).")
        }
    }

    func run() throws {
        let branch = try branch()
        let review: FolderReview
        do {
            review = try self.review(comparingWith: branch)
        } catch {
            // Who reads the output needs a log in any case.
            if format == .sarif, !json, let failure = Failure(error) { try printJSON(SARIFLog(failure)) }
            throw error
        }
        let comparison = comparison(with: branch)
        let report = CheckReport(
            review, comparison: comparison, isRefused: comparison == .missing && isInCI)
        try report.print(json ? .json : format, of: folder.directory)
        if report.isRefused {
            throw Failure(
                "The files were compared with no branch, so nobody would notice an edited migration.",
                remedy: "Fetch the branch and pass it, as in --since origin/main, or pass --no-since.")
        }
        if report.errors > 0 { throw ExitCode.failure }
    }

    private func review(comparingWith branch: BranchMigrations?) throws -> FolderReview {
        guard let database else {
            return try FolderReview.review(
                directory: folder.url, branch: branch, oldest: oldest, untried: untried)
        }
        return try passphrase.file(database).reading {
            try FolderReview.review(
                directory: folder.url, database: $0, branch: branch, oldest: oldest, untried: untried)
        }
    }

    private var untried: ReviewRule.Severity { isInCI ? .error : .note }

    private func comparison(with branch: BranchMigrations?) -> CheckReport.Comparison {
        if let branch { return .branch(branch.name) }
        return noSince ? .unwanted : .missing
    }

    /// True in a run of a CI service, where nobody reads what an exit status does not say.
    private var isInCI: Bool {
        !["", "0", "false"].contains(ProcessInfo.processInfo.environment["CI", default: ""].lowercased())
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
