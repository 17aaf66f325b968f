import GRDB
import SchemaMigrations
import Testing

@testable import MigrationTools

@Suite("The outline of a column", .timed)
struct ColumnOutlineTests {
    private func table(_ sql: String) throws -> TableOutline {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: sql) }
        let schema = try queue.read(SchemaDescription.init)
        return TableOutline(try #require(schema.objects.first), names: schema.names)
    }

    @Test(
        "is read from the SQL of its table",
        arguments: [
            ("x", "", nil, false, []),
            ("x VARCHAR(10) NOT NULL DEFAULT -1", "VARCHAR(10)", "-1", true, []),
            ("x TEXT CONSTRAINT \"a b\" NOT NULL DEFAULT 'it''s'", "TEXT", "'it''s'", true, []),
            ("x TEXT DEFAULT plain UNIQUE", "TEXT", "'plain'", false, ["UNIQUE"]),
            ("x INT DEFAULT (1 + 2) CHECK (x NOT NULL)", "INT", "(1 + 2)", false, ["CHECK"]),
            ("x INT REFERENCES t ON DELETE SET NULL NOT DEFERRABLE", "INT", nil, false, ["REFERENCES"]),
            ("x INT DEFAULT NULL", "INT", nil, false, []),
            ("x REAL DEFAULT 1.5 COLLATE NOCASE", "REAL", "1.5", false, ["COLLATE"]),
        ] as [(String, String, String?, Bool, [String])])
    func read(sql: String, type: String, value: String?, isNotNull: Bool, words: [String]) throws {
        let column = try #require(table("CREATE TABLE t(\(sql), y)").columns.first)
        #expect(column.name == "x")
        #expect(column.type == type)
        #expect(column.defaultValue == value)
        #expect(column.isNotNull == isNotNull)
        for word in words { #expect(column.words.contains(word)) }
        for word in ["UNIQUE", "CHECK", "REFERENCES"] where !words.contains(word) {
            #expect(!column.words.contains(word))
        }
    }

    @Test("tells generated columns, keys and options")
    func tables() throws {
        let table = try table(
            "CREATE TABLE t(a INT, b INT GENERATED ALWAYS AS (a) STORED, c AS (a), PRIMARY KEY (a), CHECK (b > 0)) WITHOUT ROWID"
        )
        #expect(table.columns.map(\.generation) == [nil, .stored, .virtual])
        #expect(table.primaryKey == ["a"])
        #expect(table.rowIDAlias == nil)
        #expect(!table.hasRowID)
        #expect(table.uses("b"))
        #expect(!table.uses("c"))
        #expect(try self.table("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)").rowIDAlias == "id")
        // The type is no use of the column of that name.
        #expect(try !self.table("CREATE TABLE t(a TEXT, text TEXT)").uses("text"))
    }

    @Test(
        "is written with quotes only where SQLite needs them",
        arguments: [
            ("note", "note"), ("order", "\"order\""), ("a b", "\"a b\""), ("1a", "\"1a\""), ("é", "\"é\""),
            ("", "\"\""),
        ])
    func plain(name: String, sql: String) {
        #expect(SQLName(name).plain == sql)
    }
}
