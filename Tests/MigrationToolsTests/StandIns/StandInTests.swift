import AppMigrations
import Foundation
import MigrationTools
import TestSupport
import TestTraits
import Testing

@Suite("Stand-ins for what an app adds to SQLite", .timed)
struct StandInTests {
    /// Files that need a collation, a function and a tokenizer of the app.
    private static let files = [
        "1_a.sql": """
        CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL COLLATE localized);
        CREATE INDEX note_title ON note(title);
        """,
        "2_b.sql": """
        ALTER TABLE note ADD COLUMN slug TEXT;
        UPDATE note SET slug = slug(title, '-');
        """,
        "3_c.sql": "CREATE VIRTUAL TABLE search USING fts5(title, tokenize = 'words 3');",
    ]

    private func findings(_ rules: String, _ files: [String: String] = files) throws -> [String] {
        try ReviewedMigrations(files.merging(["code.rules": rules]) { $1 }).findings
    }

    // MARK: Without one

    @Test("a note names what is missing, the file that needs it, and the line to write")
    func missing() throws {
        let reviewed = try ReviewedMigrations(Self.files)
        #expect(
            reviewed.findings == [
                """
                1_a.sql:1: It was not tried, because SQLite has no collation `localized`. If the app adds it, declare a \
                stand-in in code.rules: `collation: localized`. Otherwise, correct the name. [untried]
                """,
                """
                2_b.sql:1: It was not tried, because it does not run without 1_a.sql, which was not tried: No such table: \
                note (SQLite 1). [untried]
                """,
                """
                3_c.sql:1: It was not tried, because SQLite has no tokenizer `words`. If the app adds it, declare a \
                stand-in in code.rules: `tokenizer: words`. Otherwise, correct the name. [untried]
                """,
            ])
        #expect(reviewed.review.findings.allSatisfy { $0.severity == .note })
        #expect(reviewed.review.notRun == ["1_a.sql", "2_b.sql", "3_c.sql"])
    }

    @Test("a missing function is named with the number of arguments of its call")
    func missingFunction() throws {
        #expect(
            try findings("collation: localized\ntokenizer: words") == [
                """
                2_b.sql:2: It was not tried, because SQLite has no function `slug`. If the app adds it, declare a stand-in \
                in code.rules: `function: slug(2)`. Otherwise, correct the name. [untried]
                """
            ])
    }

    @Test(
        "a function that only a newer SQLite has is called that", .enabled(if: SQLiteVersion.running < "3.44")
    )
    func newerFunction() throws {
        let reviewed = try ReviewedMigrations(
            "UPDATE a SET x = concat_ws('-', x, 1);", after: "CREATE TABLE a(x);")
        #expect(
            reviewed.findings.contains {
                $0.hasSuffix(
                    """
                    It was not tried, because function `concat_ws` came with SQLite 3.44, and this tool has \
                    \(SQLiteVersion.running). If the app has a newer SQLite, declare a stand-in in code.rules: \
                    `function: concat_ws(3)`. [untried]
                    """)
            }, "\(reviewed.findings)")
    }

    @Test("a function that only a trigger calls is missed as well")
    func trigger() throws {
        let reviewed = try ReviewedMigrations(
            "INSERT INTO a VALUES (1);",
            after: "CREATE TABLE a(x); CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT slug(); END;")
        #expect(reviewed.findings.first?.contains("no function `slug`") == true, "\(reviewed.findings)")
        #expect(reviewed.rules == ["1 untried", "1 untried"])
    }

    @Test("a function that a default calls is named where it keeps rows from being generated")
    func defaultValue() throws {
        let files = [
            "1_a.sql":
                "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), x TEXT);",
            "2_b.sql": "UPDATE a SET x = NULL;",
        ]
        let missed = try findings("", files)
        #expect(missed.count == 1)
        #expect(
            missed.first?.contains(" declare a stand-in in code.rules: `function: uuid`. ") == true,
            "\(missed)")
        let tried = try findings("function: uuid", files)
        #expect(tried.first?.hasSuffix(" [update-without-where]") == true, "\(tried)")
    }

    @Test("an odd name is written in quotes")
    func oddName() throws {
        let files = ["1_a.sql": #"CREATE TABLE a(x COLLATE "my order");"#]
        #expect(try findings("", files).first?.contains(#": `collation: "my order"`. "#) == true)
        #expect(try findings(#"collation: "my order""#, files) == [])
        let operation = ["1_a.sql": "CREATE TABLE a(x CHECK (x REGEXP '.@.'));"]
        #expect(try findings("", operation).first?.contains(#": `function: "REGEXP"`. "#) == true)
        #expect(try findings("function: regexp pure", operation) == [])
        #expect(try findings(#"function: "REGEXP" pure"#, operation) == [])
    }

    // MARK: With one

    @Test("files run with stand-ins, in every trial")
    func run() throws {
        let rules = "collation: localized\nfunction: slug(2)\ntokenizer: words   # of Chinese texts\n"
        #expect(try findings(rules) == [])
        #expect(
            try findings("collation: \"localized\" = nocase\nfunction: slug = 'x'\ntokenizer: words = porter")
                == [])
    }

    @Test("a stand-in loses nothing by itself, unless it behaves like what does")
    func loss() throws {
        let files = [
            "1_a.sql": "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL);",
            "2_b.sql": "UPDATE note SET title = slug(title);",
        ]
        #expect(try findings("function: slug(1)", files) == [])
        let lossy = try findings("function: slug(1) = 'x'", files)
        #expect(lossy.count == 1)
        #expect(lossy.first?.contains("2_b.sql:1: ") == true)
        #expect(
            lossy.first?.hasSuffix(" Here, `slug` is a stand-in. [changed-values]") == true, "\(lossy)")
    }

    @Test("a condition of a stand-in holds, so that rows can be tried, unless it says otherwise")
    func condition() throws {
        let files = [
            "1_a.sql": "CREATE TABLE a(id INTEGER PRIMARY KEY, mail TEXT NOT NULL CHECK (isMail(mail)));",
            "2_b.sql": "ALTER TABLE a ADD COLUMN name TEXT NOT NULL;",
        ]
        // It fails only where there is a row.
        func rules(_ rules: String) throws -> [String] {
            try ReviewedMigrations(files.merging(["code.rules": rules]) { $1 }).rules
        }
        #expect(try rules("function: isMail(1) pure") == ["1 add-column"])
        #expect(try rules("function: isMail(1) pure = 1") == ["1 add-column"])
    }

    @Test("a function that an index holds has to be pure")
    func pure() throws {
        let files = ["1_a.sql": "CREATE TABLE a(x); CREATE INDEX i ON a(slug(x));"]
        #expect(try findings("function: slug(1) pure", files) == [])
        #expect(
            try findings("function: slug(1)", files) == [
                """
                1_a.sql:1: It was not tried, because an index, a CHECK and a generated column take only pure functions, and \
                code.rules declares function `slug` without `pure`. If it is pure in the app, write `function: slug(1) \
                pure`. [untried]
                """
            ])
    }

    @Test("another number of arguments is said")
    func argumentCount() throws {
        #expect(
            try findings("collation: localized\ntokenizer: words\nfunction: SLUG(1)") == [
                """
                2_b.sql:2: It was not tried, because code.rules declares function `slug` for another number of arguments. \
                Add the line `function: slug(2)`, or correct the call. [untried]
                """
            ])
        // SQLite's own functions are no matter of stand-ins.
        #expect(
            try findings("", ["1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "UPDATE a SET x = lower(x, 1);"])
                == ["2_b.sql:1: Wrong number of arguments to function lower() (SQLite 1). [does-not-apply]"])
    }

    @Test("SQLite's own function, collation or tokenizer is used")
    func known() throws {
        let files = [
            "1_a.sql": "CREATE TABLE a(x);",
            "2_b.sql": "INSERT INTO a VALUES (1); UPDATE a SET x = abs(x) WHERE lower('A') <> 'a';",
        ]
        #expect(
            try findings("function: lower(1) = upper\ncollation: nocase\ntokenizer: Porter", files) == [
                "code.rules:1: SQLite has a function `lower` itself, which is used. Remove the line. [known-stand-in]",
                "code.rules:2: SQLite has a collation `nocase` itself, which is used. Remove the line. [known-stand-in]",
                "code.rules:3: SQLite has a tokenizer `Porter` itself, which is used. Remove the line. [known-stand-in]",
            ])
    }

    // MARK: Mistakes

    @Test(
        "a bad line is an error with its number and a remedy",
        arguments: [
            (
                "function:", "names no function",
                "Write function: slug, function: slug(1), function: slug(1) pure, or"
            ),
            ("function: slug(x)", "`slug(x)` declares no function", "Write function: slug,"),
            (
                "function: slug(1) = nope", "SQLite has no function `nope` for 1 argument",
                "Name one that it has,"
            ),
            (
                "function: slug = lower", "SQLite has no function `lower` for any number of arguments",
                "Name one"
            ),
            ("collation: a(1)", "`a(1)` declares no collation", "Write collation: localized, or"),
            ("collation: a =", "`a =` declares no collation", "Write collation: localized, or"),
            ("collation: a = unicode", "SQLite has no collation `unicode`", "Name BINARY, NOCASE or RTRIM."),
            (
                "tokenizer: a = icu", "FTS5 has no tokenizer `icu`",
                "Name one of ascii, porter, trigram and unicode61."
            ),
            (
                "function: a(1)\nfunction: A(1) pure", "function `A` is declared in line 1 already",
                "Remove one"
            ),
        ])
    func mistakes(text: String, problem: String, remedy: String) throws {
        let folder = try TemporaryFolder()
        let lines = text.split(separator: "\n").count
        try Data(text.utf8).write(to: folder.file("code.rules"))
        let error = try #require(throws: MigrationError.self) { try CodeRules(in: folder.url) }
        #expect(error.message == "code.rules:\(lines): \(problem).")
        #expect(error.remedy.hasPrefix(remedy), "\(error.remedy)")
    }

    @Test("a mistake in the rules is found though files do not run without them")
    func mistakeAndMissing() throws {
        #expect(
            try findings("collation: localized = nope").contains(
                "code.rules:1: SQLite has no collation `nope`. Name BINARY, NOCASE or RTRIM. [generated-code]"
            ))
    }
}
