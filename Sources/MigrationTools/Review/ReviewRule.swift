/// A rule that a review of migrations checks.
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
    case outOfOrder = "out-of-order"
    case unknownRule = "unknown-rule"
    case recentSQLite = "recent-sqlite"
    case ignoredPragma = "ignored-pragma"

    /// The severity of a finding.
    package enum Severity: String, Sendable {
        /// The migrations should not be shipped as they are.
        case error
        /// The author should have a second look.
        case warning
        /// The author may want to know.
        case note
    }

    /// The severity of this rule's findings.
    package var severity: Severity {
        switch self {
        case .noStatement, .missingDown, .unknownVersion, .outOfOrder, .unknownRule, .recentSQLite: .warning
        case .ignoredPragma: .note
        default: .error
        }
    }

    /// The problem that the rule finds, in a few words.
    package var summary: String {
        switch self {
        case .malformedName: "a file name is malformed"
        case .doubleVersion: "two files have the same version"
        case .futureVersion: "a version is a date in the future"
        case .unreadableFile: "a file is empty, incomplete or not UTF-8 text"
        case .refusedStatement: "a statement cannot run in a migration's transaction"
        case .dropTable: "a table is dropped, with its rows"
        case .dropColumn: "a column is dropped, with its values"
        case .deleteWithoutWhere: "every row of a table is deleted"
        case .rebuildForeignKeys: "rebuilding a table breaks foreign keys that refer to it"
        case .noStatement: "a file holds nothing but comments"
        case .missingDown: "a migration is irreversible, but older ones are not"
        case .doesNotApply: "the migrations do not run on an empty database"
        case .downDoesNotApply: "the down migrations do not run after that"
        case .edited: "a file was edited after it was applied"
        case .unknownVersion: "an applied migration has no file"
        case .outOfOrder: "a pending migration is older than an applied one"
        case .unknownRule: "an allow: comment names an unknown rule"
        case .recentSQLite: "a statement needs SQLite 3.53, which few systems have"
        case .ignoredPragma: "a PRAGMA foreign_keys has no effect"
        }
    }
}
