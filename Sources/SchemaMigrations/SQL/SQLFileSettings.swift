import AppMigrations
import GRDB
import MigrationDiagnostics

/// The settings with which a file asks to run.
///
/// A comment before the first statement sets them:
///
///     -- migrations: foreign-keys=deferred|immediate|unchecked
///     -- migrations: transaction=none
///     -- migrations: compatible
///     -- migrations: redefine
///
/// A `PRAGMA foreign_keys` as the very first statement chooses between deferred and immediate. SQLite would
/// ignore it in the file's transaction (pragma.html), so the migrator reads it before the transaction begins.
/// Elsewhere it has no effect, which is an error only in a file that asks for immediate foreign keys.
package struct SQLFileSettings: Equatable, Sendable {
    package enum Transaction: Hashable, Sendable {
        /// The file runs in a transaction, together with its record.
        case wrapped
        /// The file's one statement runs by itself; its record is written after it.
        case none
    }

    package private(set) var foreignKeys = ForeignKeys.deferred
    /// The lines with a `PRAGMA foreign_keys` that is left out, because the file runs without enforcement anyway.
    package private(set) var ignoredPragmas: [Int] = []
    package private(set) var transaction = Transaction.wrapped
    /// True if apps that do not know the migration can use the database after it.
    package private(set) var isCompatible = false
    /// True if the file holds the definitions that tables should have, in place of statements that run.
    package private(set) var redefines = false

    init(comments: [SQLScript.Comment], statements: [SQLScript.Statement], fileName: String) throws {
        if let value = statements.first?.valueForForeignKeys {
            // As SQLite reads it (pragma.c): a number that is not 0, or one of three words.
            let isOn =
                value.utf8.contains { (0x31...0x39).contains($0) } || ["ON", "YES", "TRUE"].contains(value)
            foreignKeys = isOn ? .immediate : .deferred
        }
        for comment in comments { try read(comment, fileName: fileName) }

        let ignored = statements.dropFirst().filter { $0.valueForForeignKeys != nil }
        guard foreignKeys == .immediate else {
            ignoredPragmas = ignored.map(\.line)
            return
        }
        guard let first = ignored.first, first.range != statements.last?.range else { return }
        throw MigrationError(
            .invalidMigration, at: .file(fileName, line: first.line),
            "PRAGMA foreign_keys does nothing in the middle of a transaction",
            remedy: "Put it at the very start of the file, or split the file there."
        ).about(.refusedStatement)
    }

    private mutating func read(_ comment: SQLScript.Comment, fileName: String) throws {
        guard comment.text.hasPrefix("--") else { return }
        let text = comment.text.dropFirst(2).filter { !$0.isWhitespace }
        guard text.hasPrefix("migrations:") else { return }

        func refusal(_ problem: String, _ remedy: String) -> MigrationError {
            MigrationError(
                .invalidMigration, at: .file(fileName, line: comment.line), problem, remedy: remedy
            ).about(.refusedStatement)
        }
        guard comment.precedesStatements else {
            throw refusal(
                "a migrations: comment stands after a statement", "Put it at the start of the file.")
        }
        for setting in text.dropFirst("migrations:".count).split(
            separator: ",", omittingEmptySubsequences: false)
        {
            switch setting {
            case "foreign-keys=deferred": foreignKeys = .deferred
            case "foreign-keys=immediate": foreignKeys = .immediate
            case "foreign-keys=unchecked": foreignKeys = .unchecked
            case "transaction=none": transaction = .none
            case "compatible": isCompatible = true
            case "redefine": redefines = true
            default:
                throw refusal(
                    "\"\(setting)\" is not a setting of a migration",
                    """
                    Write foreign-keys=deferred, foreign-keys=immediate, foreign-keys=unchecked, transaction=none, \
                    compatible or redefine; several with commas between them.
                    """)
            }
        }
    }

    /// A `PRAGMA` statement, by its opening words: `PRAGMA [schema.]name [= value | (value)]`.
    struct Pragma {
        let name: SQLName
        /// The value to set, in upper case and without quotes; nil if the pragma is a query.
        let value: String?

        /// Reads a statement, also one behind `EXPLAIN`, since SQLite changes settings when it compiles them.
        ///
        /// Returns nil for other statements.
        init?(_ statement: SQLScript.Statement) {
            guard statement.explained.first?.keyword == "PRAGMA" else { return nil }
            var words = Array(statement.explained.dropFirst())
            if words.count > 1, words[1].keyword == "." { words.removeFirst(2) }
            name = words.first?.name ?? ""
            guard words.count > 2, ["=", "("].contains(words[1].keyword) else {
                value = nil
                return
            }
            let token = words[2].keyword == "+" && words.count > 3 ? words[3] : words[2]
            value = token.name.text.uppercasedASCII
        }
    }
}

extension SQLScript.Statement {
    /// The value of a `PRAGMA foreign_keys` that sets one.
    fileprivate var valueForForeignKeys: String? {
        guard let pragma = SQLFileSettings.Pragma(self), pragma.name == "foreign_keys" else { return nil }
        return pragma.value
    }
}
