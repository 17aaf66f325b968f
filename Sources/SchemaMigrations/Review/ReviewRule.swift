/// What a review of migrations looks for.
package enum ReviewRule: String, CaseIterable, Sendable {
    case malformedName = "malformed-name"
    case doubleVersion = "double-version"
    case futureVersion = "future-version"
    case unreadableFile = "unreadable-file"
    case refusedStatement = "refused-statement"
    case dropTable = "drop-table"
    case dropColumn = "drop-column"
    case deleteWithoutWhere = "delete-without-where"
    case rebuildForeignKeys = "rebuild-foreign-keys"
    case noStatement = "no-statement"
    case missingDown = "missing-down"
    case doesNotApply = "does-not-apply"
    case downDoesNotApply = "down-does-not-apply"
    case edited = "edited"
    case unknownVersion = "unknown-version"
    case lateVersion = "late-version"
    case unknownRule = "unknown-rule"

    /// How much a finding weighs.
    package enum Severity: String, Sendable {
        /// The migrations should not be shipped as they are.
        case error
        /// Something to think about.
        case warning
    }

    /// How much a finding of this rule weighs.
    package var severity: Severity {
        switch self {
        case .noStatement, .missingDown, .unknownVersion, .lateVersion, .unknownRule: .warning
        default: .error
        }
    }

    /// What is found, in a few words.
    package var summary: String {
        switch self {
        case .malformedName: "a file's name is not that of a migration"
        case .doubleVersion: "two files have one version"
        case .futureVersion: "a version is a date in the future"
        case .unreadableFile: "a file is not text, is empty, or breaks off"
        case .refusedStatement: "a statement cannot run in a migration's transaction"
        case .dropTable: "a table is dropped, and its rows with it"
        case .dropColumn: "a column is dropped, and what is in it"
        case .deleteWithoutWhere: "every row of a table is deleted"
        case .rebuildForeignKeys: "rebuilding a table breaks those that refer to it"
        case .noStatement: "a file holds nothing but comments"
        case .missingDown: "there is no way back, where older ones have one"
        case .doesNotApply: "the migrations do not run on an empty database"
        case .downDoesNotApply: "the ways back do not run after that"
        case .edited: "a file was edited after it had been applied"
        case .unknownVersion: "the database has had a migration that has no file"
        case .lateVersion: "a migration is older than what the database has had"
        case .unknownRule: "a comment allows what is no rule"
        }
    }
}

/// Something that a review has found.
package struct ReviewFinding: Sendable, Hashable {
    /// The file's name.
    package let file: String
    /// The line, from 1.
    package let line: Int
    /// What was looked for.
    package let rule: ReviewRule
    /// What is wrong with it, and what to do.
    package let reason: String
}
