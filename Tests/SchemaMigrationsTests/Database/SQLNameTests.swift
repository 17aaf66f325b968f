import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("SQLName", .timed)
struct SQLNameTests {
    static let names = [
        "a", "two words", "a\"b", "\"", "\"\"", "a]b", "[a]", "a`b", "'", "a''b", "stra\u{df}e", "\u{149}",
        "\u{c9}",
        "\"\u{301}", "\u{301}", "e\u{301}", "\u{1f468}\u{200d}\u{1f469}", "SELECT", ".", "a.b", "a;b", "--a",
        "/*",
    ]

    @Test("compares as SQLite does")
    func comparison() throws {
        let others = [
            "A", "B", "STRASSE", "stra\u{df}E", "\u{2bc}N", "\u{e9}", "\u{131}", "\u{212a}", "k", "a\"B",
        ]
        let queue = try DatabaseQueue()
        for first in Self.names + others {
            for second in Self.names + others {
                // A second table of the same name is refused.
                let areSame = try queue.inDatabase { db in
                    try db.execute(sql: "CREATE TEMP TABLE \(SQLName(first).sql)(a)")
                    defer { try? db.execute(sql: "DROP TABLE \(SQLName(first).sql)") }
                    do {
                        try db.execute(sql: "CREATE TEMP TABLE \(SQLName(second).sql)(a)")
                        try db.execute(sql: "DROP TABLE \(SQLName(second).sql)")
                        return false
                    } catch {
                        return true
                    }
                }
                #expect((SQLName(first) == SQLName(second)) == areSame, "\(first) and \(second)")
                if areSame { #expect(Set([SQLName(first), SQLName(second)]).count == 1) }
            }
        }
    }

    @Test("quotes names so that SQLite reads them back", arguments: names)
    func quoting(name: String) throws {
        let name = SQLName(name)
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE \(name.inMain)(\(name.sql), other)")
            let found = try SQLName.fetchAll(db, sql: "SELECT name FROM sqlite_master")
            #expect(found.map { Array($0.text.utf8) } == [Array(name.text.utf8)])
            let columns = try SQLName.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, 'main')", arguments: [name])
            #expect(columns.map { Array($0.text.utf8) } == [name.text, "other"].map { Array($0.utf8) })
            #expect([name, "other"].sql == "\(name.sql), \"other\"")
        }
    }

    @Test(
        "reads a quoted name as SQLite does",
        arguments: [
            "a", "\"a\"", "`a`", "[a]", "'a'", "\"a\"\"b\"", "`a``b`", "[a\"b]", "[a[b]", "'a''b'",
            "\"\"\"\"",
            "\"a''b\"", "\"\u{301}a\"", "\"a\u{301}\"", "\"\"\"\"\"\"",
        ])
    func unquoting(token: String) throws {
        let created = try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE \(token)(a)")
            return try String.fetchOne(db, sql: "SELECT name FROM sqlite_master") ?? ""
        }
        #expect(Array(SQLName(token: token).text.utf8) == Array(created.utf8))
    }
}
