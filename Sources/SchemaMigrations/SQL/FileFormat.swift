import GRDB

/// The settings of a database file that SQLite fixes when it creates the first table (pragma.html): `page_size`,
/// `auto_vacuum` and `encoding`.
///
/// A transaction that creates a ledger is too late for them. So the run applies those with which the first file of
/// a new database begins before its first transaction, and warns about all that have no effect. A manager has written its
/// record by then.
struct FileFormat {
    /// A `PRAGMA` that sets one of them.
    private struct Setting {
        let name: SQLName
        let sql: String
        let line: Int
        /// True if only such statements come before it.
        let isFirst: Bool
    }

    private let title: String
    private let settings: [Setting]

    /// Finds the settings of a file.
    init(_ script: SQLScript, title: String) {
        self.title = title
        var isFirst = true
        settings = script.statements.compactMap { statement in
            guard statement.opens(with: "PRAGMA") else {
                isFirst = false
                return nil
            }
            let tokens = script.tokens(of: statement)
            let isQualified = tokens.count > 2 && tokens[2].keyword == "."
            // An attached database has a file of its own.
            if isQualified, tokens[1].name != "main" { return nil }
            let name = tokens.dropFirst(isQualified ? 3 : 1).first?.name
            guard let name, ["page_size", "auto_vacuum", "encoding"].contains(name),
                tokens.contains(where: { ["=", "("].contains($0.keyword) })
            else { return nil }
            return Setting(
                name: name, sql: script.text(of: statement), line: statement.line, isFirst: isFirst)
        }
    }

    var isEmpty: Bool { settings.isEmpty }

    /// Applies the settings with which the file begins, if the database is still empty.
    func apply(to db: Database, waitingUpTo limit: Duration) throws {
        guard !isEmpty, try waitWhileBusy(upTo: limit, { try db.pragma("main.page_count") }) == 0 else {
            return
        }
        for setting in settings where setting.isFirst { try db.execute(sql: setting.sql) }
    }

    /// Returns a warning for each setting that the database does not have.
    func warnings(_ db: Database) throws -> [String] {
        try settings.filter { setting in
            // SQLite reads values in several forms. An empty database has what it has understood.
            let expected = try DatabaseQueue().writeWithoutTransaction { empty in
                try empty.execute(sql: setting.sql)
                return try String.fetchOne(empty, sql: "PRAGMA \(setting.name.sql)")
            }
            return try String.fetchOne(db, sql: "PRAGMA main.\(setting.name.sql)") != expected
        }.map { setting in
            """
            \(title):\(setting.line): PRAGMA \(setting.name.folded) has no effect, since the database is not empty. Set it \
            where the app opens a new database
            """
        }
    }
}
