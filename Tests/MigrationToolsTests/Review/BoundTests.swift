import Foundation
import SchemaMigrations
import TestSupport
import Testing

@testable import MigrationTools

@Suite("A review of copies that keep a number of rows or characters", .timed)
struct BoundTests {
    private static let note = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT);"
    private static let drop = "\nDROP TABLE note;"

    private func findings(_ sql: String) throws -> [String] {
        try ReviewedMigrations(sql, after: Self.note).findings.map { $0.replacing("2_b.sql:", with: "") }
    }

    @Test(
        "finds the rows that are left out of more",
        arguments: [
            ("SELECT * FROM note ORDER BY id DESC LIMIT 1000", 1_008),
            ("SELECT * FROM note LIMIT 0, 90", 98),
            (
                "SELECT id, title, body FROM (SELECT *, row_number() OVER (ORDER BY id) AS rank FROM note) WHERE rank <= 50",
                58
            ),
            (
                """
                WITH r(id, title, body, place) AS (SELECT *, row_number() OVER (ORDER BY id) FROM note) \
                SELECT id, title, body FROM r WHERE place <= 50
                """, 58
            ),
        ])
    func rows(select: String, count: Int) throws {
        #expect(
            try findings("CREATE TABLE entry AS \(select);\(Self.drop)") == [
                "2: Table `note` is dropped: of \(count) generated rows, some are lost. [drop-table]"
            ])
        let rebuild = "CREATE TABLE n AS \(select);\(Self.drop)\nALTER TABLE n RENAME TO note;"
        #expect(
            try findings(rebuild).filter { $0.contains("[lost-rows]") } == [
                """
                1: Rebuilding table `note` loses rows: of \(count) generated rows, some are lost. Copy every row, or delete rows \
                with a DELETE that says which. [lost-rows]
                """
            ])
    }

    @Test(
        "says that it did not try as many rows as are copied",
        arguments: [
            "CREATE TABLE entry AS SELECT * FROM note LIMIT 100000",
            // A condition that reads every row for each takes too long.
            """
            CREATE TABLE entry AS SELECT * FROM note AS n WHERE 0 = (SELECT count(*) FROM note AS a, note AS b \
            WHERE a.title < b.body AND a.id + b.id = n.id + 0.5) LIMIT 1500
            """,
        ])
    func untriedRows(sql: String) throws {
        let found = try findings("\(sql);\(Self.drop)")
        let isUntried = found.contains { $0.hasPrefix("1: It copies at most ") && $0.hasSuffix("[untried]") }
        #expect(isUntried, "\(found)")
    }

    @Test(
        "finds nothing where the others are copied, too, or their table stays",
        arguments: [
            "CREATE TABLE a AS SELECT * FROM note LIMIT 100; CREATE TABLE b AS SELECT * FROM note LIMIT -1 OFFSET 100;\(drop)",
            "CREATE TABLE top AS SELECT * FROM note LIMIT 100000;",
            "CREATE TABLE a AS SELECT *, (SELECT title FROM note LIMIT 1) AS first FROM note;\(drop)",
        ])
    func allRows(sql: String) throws {
        #expect(try findings(sql) == [])
    }

    @Test(
        "finds what is cut off of a text",
        arguments: [
            (
                "UPDATE note SET body = substr(body, 1, 100);",
                """
                1: Column `body` of table `note` loses values: texts of more than 100 characters are cut. Copy the values first, \
                or change only those that are meant. [changed-values]
                """
            ),
            (
                """
                ALTER TABLE note ADD COLUMN start TEXT; UPDATE note SET start = substr(note.body, 1, 100);
                ALTER TABLE note DROP COLUMN body;
                """,
                """
                2: Column `body` of table `note` is dropped: its values are lost where `body` has more than 100 characters. \
                [drop-column]
                """
            ),
            (
                "CREATE TABLE entry AS SELECT id, title, substr(body, 1, 100) AS body FROM note;\(drop)",
                """
                2: Table `note` is dropped: the values of column `body` are lost where `body` has more than 100 characters. \
                [drop-table]
                """
            ),
        ])
    func cut(sql: String, finding: String) throws {
        #expect(try findings(sql) == [finding])
    }

    @Test(
        "finds nothing where a cut text is kept, or no longer than a date",
        arguments: [
            "ALTER TABLE note ADD COLUMN start TEXT; UPDATE note SET start = substr(body, 1, 100);",
            """
            CREATE TABLE part(note, first, rest); INSERT INTO part SELECT id, substr(body, 1, 100), substr(body, 101) FROM note;
            ALTER TABLE note DROP COLUMN body;
            """,
            """
            ALTER TABLE note ADD COLUMN day; ALTER TABLE note ADD COLUMN time;
            UPDATE note SET day = substr(body, 1, 10), time = substr(body, 11, 14); ALTER TABLE note DROP COLUMN body;
            """,
        ])
    func uncut(sql: String) throws {
        #expect(try findings(sql) == [])
    }

    @Test("compares no number with rows but one that a rank is compared with")
    func otherNumbers() throws {
        let sql = """
            CREATE TABLE entry AS SELECT *, CASE WHEN length(body) >= 2020 THEN 1 ELSE 0 END AS long FROM (
                SELECT *, row_number() OVER (PARTITION BY title ORDER BY id) AS place FROM note)
            WHERE place <= 50 OR id = 1999;
            """
        #expect(ScriptOutline(try SQLScript(Data(sql.utf8), fileName: "2_b.sql")).rowBound == nil)
        let outline = ScriptOutline(try SQLScript(Data("\(sql)\(Self.drop)".utf8), fileName: "2_b.sql"))
        #expect(outline.rowBound == 50)
    }

    @Test("finds the rows in no more than seconds where a DELETE follows", .timeLimit(.minutes(1)))
    func deletion() throws {
        let first = """
            CREATE TABLE history(id INTEGER PRIMARY KEY, url TEXT, title TEXT, seen TEXT);
            CREATE TABLE tag(id INTEGER PRIMARY KEY, history INTEGER, name TEXT);
            """
        let sql = """
            CREATE TABLE recent(id INTEGER PRIMARY KEY, url TEXT, title TEXT, seen TEXT);
            INSERT INTO recent SELECT * FROM history ORDER BY id DESC LIMIT 1000;
            DROP TABLE history; ALTER TABLE recent RENAME TO history;
            DELETE FROM tag WHERE history NOT IN (SELECT id FROM history);
            """
        let start = ContinuousClock.now
        let rules = try ReviewedMigrations(sql, after: first).rules
        #expect(rules.contains("2 lost-rows"), "\(rules)")
        #expect(ContinuousClock.now - start < .seconds(40))
    }
}
