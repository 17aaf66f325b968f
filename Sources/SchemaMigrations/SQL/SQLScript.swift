import AppMigrations
package import Foundation
package import GRDB
import MigrationDiagnostics

/// A `.sql` file that was checked for forbidden statements before it runs.
package struct SQLScript {
    /// A statement, as found by the check.
    package struct Statement {
        /// The first tokens, as many as identify the statement.
        var opening: [Token] = []
        package var range: Range<Int>
        package let line: Int

        /// The number of tokens that identify the statement: of one that only reads or writes rows, the first.
        ///
        /// There may be a million of them.
        var openingLimit: Int {
            guard let first = opening.first?.keyword else { return 1 }
            return ["INSERT", "REPLACE", "UPDATE", "DELETE", "SELECT"].contains(first) ? 1 : 12
        }

        @inline(never)
        func opens(with words: String...) -> Bool {
            opening.count >= words.count && zip(opening, words).allSatisfy { $0.keyword == $1 }
        }

        /// The opening of the statement that an `EXPLAIN` explains, or of the statement itself.
        var explained: [Token] {
            guard opens(with: "EXPLAIN") else { return opening }
            return Array(opening.dropFirst(opens(with: "EXPLAIN", "QUERY", "PLAN") ? 3 : 1))
        }
    }

    package struct Comment {
        package let text: String
        /// The line, from 1.
        package let line: Int
        /// True if the comment stands before the first statement.
        package let precedesStatements: Bool
    }

    package let fileName: String
    package let sql: String
    package let statements: [Statement]
    package let comments: [Comment]
    package let settings: SQLFileSettings
    /// A checksum that ignores white space, comments and line ends.
    package let checksum: String
    /// True if a statement may read or write the ledger.
    let namesLedger: Bool

    /// The migrations that the file stands for, if older ones were squashed into it.
    package var baseline: Baseline? { Baseline(sql) }

    /// Checks a file's contents.
    ///
    /// - Throws: `MigrationError`, with file and line.
    package init(_ data: Data, fileName: String) throws {
        try self.init(Self.text(data, fileName: fileName), fileName: fileName)
    }

    /// Returns the text of a file.
    ///
    /// - Throws: `MigrationError`, if it is not UTF-8.
    static func text(_ data: Data, fileName: String) throws -> String {
        guard let text = String(validUTF8: data) else {
            throw MigrationError(
                .invalidMigration, at: .file(fileName), "is not UTF-8 text", remedy: "Save it as UTF-8.")
        }
        return text
    }

    /// Checks statements.
    ///
    /// - Throws: `MigrationError`, with file and line.
    init(_ text: String, fileName: String) throws {
        var sql = text
        if sql.unicodeScalars.first == "\u{FEFF}" { sql.unicodeScalars.removeFirst() }
        self.fileName = fileName
        self.sql = sql

        var reader = SQLReader(bytes: Array(sql.utf8), fileName: fileName)
        try reader.read()
        statements = reader.statements
        comments = reader.comments
        checksum = reader.checksum
        namesLedger = reader.namesLedger
        settings = try SQLFileSettings(comments: reader.comments, statements: statements, fileName: fileName)
        try refuse()
    }

    /// The journal mode that the file sets; nil if it sets none.
    package var journalMode: String? {
        let pragmas = statements.lazy.compactMap(SQLFileSettings.Pragma.init)
        return pragmas.first { $0.name == "journal_mode" }?.value
    }

    /// True if the file may change settings of the connection.
    package var hasPragmas: Bool { statements.contains { $0.explained.first?.keyword == "PRAGMA" } }

    /// True if the file has savepoints of its own.
    var hasSavepoints: Bool {
        statements.contains { ["SAVEPOINT", "RELEASE", "ROLLBACK"].contains($0.opening.first?.keyword) }
    }

    /// True if the file attaches a database.
    package var attaches: Bool { statements.contains { $0.opens(with: "ATTACH") } }

    /// The line that sets the time to wait for other connections; nil if there is none.
    var busyTimeoutLine: Int? {
        statements.first { statement in
            SQLFileSettings.Pragma(statement).map { $0.name == "busy_timeout" && $0.value != nil } ?? false
        }?.line
    }

    /// The amount of work, for progress.
    var weight: Int64 { Int64(max(1, statements.count)) }

    /// The tables that the file drops.
    var droppedTables: Set<SQLName> {
        Set(
            statements.filter { $0.opens(with: "DROP", "TABLE") }.compactMap { statement in
                let hasCondition = statement.opens(with: "DROP", "TABLE", "IF", "EXISTS")
                return statement.opening.dropFirst(hasCondition ? 4 : 2).qualifiedName
            })
    }

    /// Returns a statement's tokens.
    package func tokens(of statement: Statement) -> [Token] {
        let part = Array(bytes(of: statement))
        return SQLLexer(part).map { token in
            Token(token.kind, String(decoding: part[token.range], as: UTF8.self))
        }
    }

    /// A part of a statement.
    package struct Token {
        /// The token read as a keyword or symbol: a bare word in upper case.
        package let keyword: String
        /// True if the token is a bare word.
        package let isWord: Bool
        private let text: String

        package init(_ kind: SQLLexer.Kind, _ text: String) {
            self.text = text
            isWord = kind == .word
            keyword = isWord ? text.uppercasedASCII : text
        }

        /// The token read as a name.
        package var name: SQLName { SQLName(token: text) }
    }

    // MARK: Refusals

    private func refuse() throws {
        try refuseBothDirections()
        if settings.redefines { try refuseInRedefinition() }
        switch settings.transaction {
        case .wrapped:
            for statement in statements { try refuseInTransaction(statement) }
        case .none:
            guard statements.count <= 1 else {
                throw refusal(
                    "a file without a transaction holds more than one statement", at: statements[1],
                    remedy: "Put each statement in a file of its own: a crash could leave one of two undone.")
            }
            for statement in statements { try refuseWithoutTransaction(statement) }
        }
    }

    /// The pragmas that concern the connection and cannot be put back (pragma.html).
    ///
    /// Their values cannot be read, cannot be raised again, or stand for a callback of the app's. `temp_store` fails in a
    /// transaction if the connection has had temporary tables, such as those of a look for old orphans.
    private static let lastingPragmas: Set<SQLName> = [
        "case_sensitive_like", "data_store_directory", "hard_heap_limit", "max_page_count",
        "temp_store", "temp_store_directory", "wal_autocheckpoint",
    ]

    private func refuseLastingPragma(_ statement: Statement) throws {
        guard let pragma = SQLFileSettings.Pragma(statement), pragma.value != nil,
            Self.lastingPragmas.contains(pragma.name)
        else { return }
        throw refusal(
            "PRAGMA \(pragma.name.folded) cannot be put back after the file", at: statement,
            remedy: "Set it where the app opens the database.")
    }

    /// Refuses what could not run again, if the process dies before the file is recorded, or another connection is in the way.
    private func refuseWithoutTransaction(_ statement: Statement) throws {
        try refuseLastingPragma(statement)
        let word = statement.explained.first?.keyword ?? "EXPLAIN"
        switch word {
        case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "DETACH":
            throw refusal(
                "\(word) is not allowed in a file without a transaction", at: statement,
                remedy: "Remove it: one file cannot end what another began.")
        case "VACUUM" where statement.opening.contains { $0.keyword == "INTO" }:
            throw refusal(
                "VACUUM INTO cannot run again, because its file exists then", at: statement,
                remedy: "Do that in a step of the manager.")
        case "PRAGMA": try refuseModeWithoutJournal(statement)
        case "VACUUM", "ANALYZE", "REINDEX": break
        default:
            throw refusal(
                "\(word) is not allowed in a file without a transaction", at: statement,
                remedy:
                    "Remove transaction=none from its header: the statement and its record are committed together."
            )
        }
    }

    private func refuseModeWithoutJournal(_ statement: Statement) throws {
        // SQLite takes the beginning of a mode's name for the mode (pragma.c).
        guard let pragma = SQLFileSettings.Pragma(statement), pragma.name == "journal_mode",
            let mode = pragma.value, !mode.isEmpty, ["OFF", "MEMORY"].contains(where: { $0.hasPrefix(mode) })
        else { return }
        // pragma.html, journal_mode: a ROLLBACK, or a crash, then leaves the database half-changed, or damaged.
        throw refusal(
            "PRAGMA journal_mode = \(mode) keeps no journal that survives a crash", at: statement,
            remedy: "Remove it: a later migration could be left half-applied.")
    }

    private func refuseInRedefinition() throws {
        for statement in statements where statement.redefinedTable == nil {
            // The name of what it creates or changes belongs to the kind of statement in two words.
            let words = statement.opening.prefix { $0.isWord }.prefix(2).map(\.keyword).joined(separator: " ")
            throw refusal(
                "\(words) is not allowed in a file that redefines tables", at: statement,
                remedy: """
                    Put it in another file: one that begins with `-- migrations: redefine` holds nothing but the CREATE TABLE \
                    statements of tables that exist.
                    """)
        }
        guard settings.transaction == .none, let first = statements.first else { return }
        throw refusal(
            "a file that redefines tables asks for no transaction", at: first,
            remedy:
                "Remove transaction=none from its header: the definition and its record are committed together."
        )
    }

    private func refuseInTransaction(_ statement: Statement) throws {
        let ownFile = "Put it in a file of its own that begins with `-- migrations: transaction=none`."
        try refuseLastingPragma(statement)
        let opening = statement.explained
        switch opening.first?.keyword {
        case "ROLLBACK" where opening.contains { $0.isWord && $0.keyword == "TO" }:
            // lang_savepoint.html: it goes back to a savepoint of the file, and ends no transaction.
            break
        case "BEGIN", "COMMIT", "END", "ROLLBACK":
            throw refusal(
                "\(opening[0].keyword) is not allowed in a file that runs in a transaction", at: statement,
                remedy: "Remove it: the file and its record are committed together.")
        case "VACUUM":
            throw refusal(
                "VACUUM cannot run in a transaction", at: statement, remedy: ownFile)
        case "PRAGMA":
            let name = SQLFileSettings.Pragma(statement)?.name ?? ""
            if ["journal_mode", "synchronous"].contains(name) {
                throw refusal(
                    "PRAGMA \(name.folded) cannot be changed in a transaction", at: statement,
                    remedy: "Set it where the app opens the database.")
            }
            if name == "wal_checkpoint" {
                throw refusal(
                    "PRAGMA wal_checkpoint cannot run in a transaction", at: statement, remedy: ownFile)
            }
        default:
            break
        }
    }

    @inline(never)
    private func refusal(_ problem: String, at statement: Statement, remedy: String) -> MigrationError {
        MigrationError(
            .invalidMigration, at: .file(fileName, line: statement.line), problem, remedy: remedy
        ).about(.refusedStatement)
    }

    // MARK: Running

    /// Runs the statements, one after the other.
    ///
    /// - Parameters:
    ///   - fix: the remedy when a statement is to blame for its failure.
    ///   - afterEach: is called after each statement.
    /// - Throws: `MigrationError`, with the line and the statement that failed.
    func run(
        _ db: Database, fixing fix: String = MigrationError.fixMigration, afterEach: () throws -> Void
    ) throws {
        @inline(never)
        func failure(_ error: any Error, in statement: Statement?) -> any Error {
            guard let error = db.explained(error) as? DatabaseError else { return error }
            var failure = MigrationError(
                .stepFailed, at: .file(fileName, line: statement?.line ?? 1), error,
                remedy: db.remedy(for: error, fixing: fix))
            failure.statement = statement.map { text(of: $0) }
            return failure
        }
        if settings.redefines { return try redefine(db, afterEach: afterEach) }
        let cursor = try db.allStatements(sql: sql)
        var offset = 0
        while true {
            let next: GRDB.Statement?
            do {
                next = try cursor.next()
            } catch {
                throw failure(error, in: statements.first { $0.range.lowerBound >= offset })
            }
            guard let next else { return }
            offset += next.sourceText.utf8.count
            do {
                try next.execute()
            } catch {
                throw failure(error, in: statements.last { $0.range.lowerBound < offset })
            }
            try afterEach()
        }
    }

    /// Runs the statements of a file that is no migration.
    ///
    /// - Parameter fix: the remedy when a statement is to blame for its failure.
    package func run(_ db: Database, fixing fix: String) throws {
        try run(db, fixing: fix) {}
    }

    @inline(never)
    func text(of statement: Statement) -> String {
        let text = wholeText(of: statement)
        return text.count > 200 ? text.prefix(200) + "…" : text
    }

    /// Returns a statement as it is written.
    package func wholeText(of statement: Statement) -> String {
        String(decoding: bytes(of: statement), as: UTF8.self)
    }

    private func bytes(of statement: Statement) -> Substring.UTF8View {
        let bytes = sql.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: statement.range.lowerBound)
        return bytes[start..<bytes.index(start, offsetBy: statement.range.count)]
    }
}

extension ArraySlice<SQLScript.Token> {
    /// The name at this position, without its schema's name.
    package var qualifiedName: SQLName? {
        let names = Array(prefix(3))
        return names.count == 3 && names[1].keyword == "." ? names[2].name : names.first?.name
    }
}

extension String {
    /// The text with its ASCII letters in upper case, as SQLite reads keywords.
    package var uppercasedASCII: String {
        guard utf8.contains(where: { (0x61...0x7a).contains($0) }) else { return self }
        return String(unsafeUninitializedCapacity: utf8.count) { buffer in
            for (index, byte) in utf8.enumerated() {
                buffer[index] = (0x61...0x7a).contains(byte) ? byte & ~0x20 : byte
            }
            return utf8.count
        }
    }
}
