import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("The SQL lexer", .timed)
struct SQLLexerTests {
    private func tokens(_ sql: String) -> [String] {
        let bytes = Array(sql.utf8)
        return SQLLexer(bytes).map { token in
            "\(token.kind) \(String(decoding: bytes[token.range], as: UTF8.self))"
        }
    }

    @Test(
        "splits SQL into tokens as SQLite does",
        arguments: [
            ("", []),
            (" \t\r\n\u{0c}", []),
            ("SELECT 1;", ["word SELECT", "word 1", "semicolon ;"]),
            ("a.b*2", ["word a", "symbol .", "word b", "symbol *", "word 2"]),
            ("'it''s; --'", ["string 'it''s; --'"]),
            ("x'0A' X'ff' xy", ["string x'0A'", "string X'ff'", "word xy"]),
            (#""a""b;" `c``;` [d;"]"#, [#"quotedName "a""b;""#, "quotedName `c``;`", #"quotedName [d;"]"#]),
            (
                "? ?12 :a @b $c #d",
                [
                    "parameter ?", "parameter ?12", "parameter :a", "parameter @b", "parameter $c",
                    "parameter #d",
                ]
            ),
            (": $ @", ["symbol :", "symbol $", "symbol @"]),
            ("a x'0", ["word a", "unterminated x'0"]),
            ("a$b _x é", ["word a$b", "word _x", "word é"]),
            ("a-- b;\nc", ["word a", "word c"]),
            ("a/* b; ' */c", ["word a", "word c"]),
            ("/*/ a */ b", ["word b"]),
            (
                "a - - b / * c",
                ["word a", "symbol -", "symbol -", "word b", "symbol /", "symbol *", "word c"]
            ),
            ("-- to the end", []),
            ("a'b", ["word a", "unterminated 'b"]),
            (#""a"#, [#"unterminated "a"#]),
            ("[a", ["unterminated [a"]),
            ("a /* b", ["word a", "unterminated /* b"]),
            ("/*/", ["unterminated /*/"]),
            ("a\u{FEFF}b;\u{FEFF}BEGIN", ["word a\u{FEFF}b", "semicolon ;", "word BEGIN"]),
        ])
    func splits(sql: String, expected: [String]) {
        #expect(tokens(sql) == expected)
    }

    @Test("finds the comments")
    func comments() {
        let sql = "/* a */ b -- c\n;--d"
        let bytes = Array(sql.utf8)
        var lexer = SQLLexer(bytes)
        while lexer.next() != nil {}
        #expect(
            lexer.comments.map { String(decoding: bytes[$0], as: UTF8.self) } == ["/* a */", "-- c", "--d"])
    }
}
