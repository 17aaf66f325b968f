import SchemaMigrations

/// A form of SQL that older versions of SQLite lack.
///
/// The list begins above SQLite 3.39, the oldest that the package supports. It follows SQLite's release history
/// (changes.html), and a test compares it with the SQLite that runs it.
package struct SQLiteFeature: Sendable {
    /// The form, as a sentence names it.
    package let name: String
    /// The minor version of SQLite 3 that brought it.
    package let minor: Int
    /// Statements that use it; an older SQLite refuses one of them, or the last one returns null.
    package let example: String

    private let isUsed: @Sendable (ScriptOutline.Statement) -> Bool

    private init(
        _ minor: Int, _ name: String, _ example: String,
        isUsed: @escaping @Sendable (ScriptOutline.Statement) -> Bool
    ) {
        self.name = name
        self.minor = minor
        self.example = example
        self.isUsed = isUsed
    }

    /// Returns a finding for each form in a file that users' SQLite may lack.
    ///
    /// - Parameter oldest: the oldest SQLite of the users; nil to find only what few systems have.
    static func findings(in outline: ScriptOutline, oldest: SQLiteVersion?) -> [ReviewFinding] {
        let newer = all.filter { $0.minor > oldest?.minor ?? recentMinor - 1 }
        return outline.statements.flatMap { statement in
            newer.filter { $0.isUsed(statement) }.map { feature in
                let need = "\(feature.name) needs SQLite 3.\(feature.minor)"
                let (rule, problem): (ReviewRule, String) =
                    if let oldest {
                        (.newerSQLite, "\(need), and --oldest is \(oldest).")
                    } else {
                        (.recentSQLite, "\(need), of 2026.")
                    }
                return ReviewFinding(
                    file: outline.script.fileName, line: statement.line, rule: rule,
                    reason: "\(problem) \(rule.remedy)")
            }
        }
    }

    /// The first minor version of SQLite 3 that few systems have.
    private static let recentMinor = 53

    /// Every form.
    package static let all = alterations + functions + dates + fullText + others

    // MARK: ALTER TABLE (lang_altertable.html)

    private static let alterations = [
        SQLiteFeature(
            53, "ALTER TABLE … ALTER COLUMN", "CREATE TABLE t(a); ALTER TABLE t ALTER COLUMN a SET NOT NULL"
        ) { $0.alters("ALTER") },
        SQLiteFeature(
            53, "ALTER TABLE … DROP CONSTRAINT",
            "CREATE TABLE t(a, CONSTRAINT c CHECK (a > 1)); ALTER TABLE t DROP CONSTRAINT c"
        ) { $0.alters("DROP", "CONSTRAINT") },
        SQLiteFeature(
            53, "ALTER TABLE … ADD CONSTRAINT",
            "CREATE TABLE t(a); ALTER TABLE t ADD CONSTRAINT c CHECK (a > 1)"
        ) { $0.alters("ADD", "CONSTRAINT") || $0.alters("ADD", "CHECK") },
    ]

    // MARK: Functions (lang_corefunc.html, lang_aggfunc.html, lang_datefunc.html, json1.html)

    private static let functions =
        [
            function(41, "unhex", "'41'"), function(42, "json_error_position", "'{}'"),
            function(43, "timediff", "'2024-01-01', '2023-01-01'"), function(43, "octet_length", "'a'"),
            function(44, "concat", "'a', 'b'"), function(44, "concat_ws", "',', 'a', 'b'"),
            function(44, "string_agg", "'a', ','"), function(45, "jsonb", "'{}'"),
            function(45, "jsonb_array", "1"), function(45, "jsonb_extract", "'[[1]]', '$[0]'"),
            function(45, "jsonb_insert", "'{}', '$.a', 1"), function(45, "jsonb_object", "'a', 1"),
            function(45, "jsonb_patch", "'{}', '{}'"), function(45, "jsonb_remove", "'[1]', '$[0]'"),
            function(45, "jsonb_replace", "'[1]', '$[0]', 2"), function(45, "jsonb_set", "'{}', '$.a', 1"),
            function(45, "jsonb_group_array", "1"), function(45, "jsonb_group_object", "'a', 1"),
            function(46, "json_pretty", "'{}'"), function(48, "if", "1, 2, 3"), function(50, "unistr", "'a'"),
            function(50, "unistr_quote", "'a'"), table(51, "jsonb_each"), table(51, "jsonb_tree"),
            function(53, "json_array_insert", "'[1]', '$[0]', 2"),
            function(53, "jsonb_array_insert", "'[1]', '$[0]', 2"),
        ] + [
            SQLiteFeature(48, "iif() with other than three arguments", "SELECT iif(1, 2)") { statement in
                statement.calls(of: ["iif"]).contains { $0.arguments != 3 }
            },
            SQLiteFeature(
                44, "ORDER BY in an aggregate function",
                "SELECT group_concat(a ORDER BY a) FROM (SELECT 1 AS a)"
            ) { statement in statement.calls(of: nil).contains(where: \.isOrdered) },
        ]

    private static func function(_ minor: Int, _ name: SQLName, _ arguments: String) -> SQLiteFeature {
        SQLiteFeature(minor, "\(name)()", "SELECT \(name)(\(arguments))") { !$0.calls(of: [name]).isEmpty }
    }

    private static func table(_ minor: Int, _ name: SQLName) -> SQLiteFeature {
        SQLiteFeature(minor, "\(name)()", "SELECT key FROM \(name)('[1]') WHERE key = 0") {
            !$0.calls(of: [name]).isEmpty
        }
    }

    // MARK: Dates (lang_datefunc.html)

    private static let dateFunctions: Set<SQLName> = [
        "date", "time", "datetime", "julianday", "unixepoch", "strftime",
    ]

    private static let dates = [
        modifier(42, "subsec", "SELECT datetime('2024-01-01', 'subsec')"),
        modifier(42, "subsecond", "SELECT datetime('2024-01-01', 'subsecond')"),
        modifier(46, "ceiling", "SELECT date('2024-01-31', '+1 month', 'ceiling')"),
        modifier(46, "floor", "SELECT date('2024-01-31', '+1 month', 'floor')"),
        formats(44, "eFIklpPRTu"), formats(46, "GgUV"),
    ]

    private static func modifier(_ minor: Int, _ name: SQLName, _ example: String) -> SQLiteFeature {
        SQLiteFeature(minor, "The date modifier '\(name)'", example) { statement in
            statement.calls(of: dateFunctions).contains { $0.texts.contains(name) }
        }
    }

    private static func formats(_ minor: Int, _ letters: String) -> SQLiteFeature {
        let formats = letters.map { "%\($0)" }
        return SQLiteFeature(
            minor, "\(formats.joined(separator: " ")) of strftime()",
            "SELECT strftime('\(formats.joined(separator: " "))', '2024-01-01')"
        ) { statement in
            statement.calls(of: ["strftime"]).contains { call in
                formats.contains { call.texts.first?.text.contains($0) == true }
            }
        }
    }

    // MARK: Full-text search (fts5.html)

    private static let fullText = [
        SQLiteFeature(
            42, "The FTS5 command 'secure-delete'",
            "CREATE VIRTUAL TABLE t USING fts5(a); INSERT INTO t(t, rank) VALUES ('secure-delete', 1)"
        ) { $0.tokens.opens(with: "INSERT") && $0.tokens.contains { $0.keyword == "'secure-delete'" } },
        option(43, "contentless_delete", "a, content='', contentless_delete=1"),
        option(45, "tokendata", "a, tokendata=1"), option(47, "locale", "a, locale=1"),
    ]

    private static func option(_ minor: Int, _ name: SQLName, _ arguments: String) -> SQLiteFeature {
        SQLiteFeature(
            minor, "The FTS5 option \(name)", "CREATE VIRTUAL TABLE t USING fts5(\(arguments))"
        ) { statement in
            statement.tokens.opens(with: "CREATE", "VIRTUAL")
                && zip(statement.tokens, statement.tokens.dropFirst()).contains {
                    $0.name == name && $1.keyword == "="
                }
        }
    }

    // MARK: Others

    private static let others = [
        // lang_expr.html, 3
        SQLiteFeature(46, "_ between the digits of a number", "SELECT 1_000") { statement in
            statement.tokens.contains { token in
                token.isWord && token.keyword.utf8.first.map { (0x30...0x39).contains($0) } == true
                    && token.keyword.contains("_")
            }
        },
        // lang_createtrigger.html, 6
        SQLiteFeature(
            47, "RAISE() with an expression",
            "CREATE TABLE t(a); CREATE TRIGGER r BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'a' || new.a); END"
        ) { statement in
            // RAISE(ABORT, 'text') has three tokens in its parentheses.
            statement.calls(of: ["raise"]).contains { $0.tokens.count > 3 }
        },
        // lang_reindex.html
        SQLiteFeature(53, "REINDEX EXPRESSIONS", "REINDEX EXPRESSIONS") {
            $0.tokens.opens(with: "REINDEX", "EXPRESSIONS") && $0.tokens.count == 2
        },
    ]
}

/// A call of a function in a statement.
private struct FunctionCall {
    /// The tokens between the parentheses.
    let tokens: ArraySlice<SQLScript.Token>
    /// The tokens that are not in further parentheses.
    private let outer: [SQLScript.Token]

    init(_ tokens: ArraySlice<SQLScript.Token>) {
        self.tokens = tokens
        outer = Array(tokens).outside
    }

    /// The number of arguments.
    var arguments: Int { tokens.isEmpty ? 0 : outer.count { $0.keyword == "," } + 1 }

    /// The text literals.
    var texts: [SQLName] { outer.filter { $0.keyword.hasPrefix("'") }.map(\.name) }

    /// True if the arguments are sorted.
    var isOrdered: Bool {
        guard let first = outer.first,
            !["SELECT", "WITH", "VALUES", "PARTITION", "ORDER"].contains(first.keyword)
        else { return false }
        return zip(outer, outer.dropFirst()).contains { $0.isWord("ORDER") && $1.isWord("BY") }
    }
}

extension ScriptOutline.Statement {
    /// Returns whether the statement alters a table, and goes on with these words.
    fileprivate func alters(_ words: String...) -> Bool {
        guard let change = alteration?.change.prefix(words.count) else { return false }
        return change.map(\.keyword) == words && change.allSatisfy(\.isWord)
    }

    /// Words before a name in parentheses that is no function: a table or an index with its columns.
    private static let beforeNames: Set<String> = [
        "TABLE", "INTO", "INDEX", "ON", "REFERENCES", "VIEW", "EXISTS", "WITH", "RECURSIVE", ".",
    ]

    /// Words before parentheses that call no function.
    private static let noFunctions: Set<String> = [
        "OVER", "AS", "IN", "EXISTS", "FROM", "JOIN", "GROUP", "WINDOW",
    ]

    /// Returns the calls of functions of these names, or of all functions.
    fileprivate func calls(of names: Set<SQLName>?) -> [FunctionCall] {
        tokens.indices.dropLast().compactMap { index in
            let token = tokens[index]
            guard tokens[index + 1].keyword == "(", names?.contains(token.name) ?? token.isWord,
                !token.keyword.hasPrefix("'"), !Self.noFunctions.contains(token.keyword),
                index == 0 || !Self.beforeNames.contains(tokens[index - 1].keyword)
            else { return nil }
            var depth = 0
            let end = tokens[(index + 1)...].firstIndex { token in
                if token.keyword == "(" { depth += 1 }
                if token.keyword == ")" { depth -= 1 }
                return depth == 0
            }
            return end.map { FunctionCall(tokens[(index + 2)..<$0]) }
        }
    }
}
