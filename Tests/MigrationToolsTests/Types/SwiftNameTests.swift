import MigrationTools
import SchemaMigrations
import TestSupport
import Testing

@Suite("Names in generated Swift", .timed)
struct SwiftNameTests {
    @Test(
        "follow the API design guidelines",
        arguments: [
            ("book_author", "BookAuthor", "bookAuthor"), ("bookID", "BookID", "bookID"),
            ("BOOK_ID", "BookId", "bookId"),
            ("URLString", "URLString", "urlString"), ("URL", "Url", "url"), ("Title", "Title", "title"),
            ("na me", "NaMe", "naMe"), ("q\"q", "QQ", "qQ"), ("2nd", "Table2nd", "column2nd"),
            ("__", "Table", "column"),
            ("\u{e9}t\u{e9}", "\u{c9}t\u{e9}", "\u{e9}t\u{e9}"), ("self", "Self", "selfColumn"),
            ("default", "Default", "default"),
        ])
    func names(name: String, type: String, property: String) {
        #expect(SwiftName.type(name) == type)
        #expect(SwiftName.property(name) == property)
    }

    @Test("give words of the language backticks, and names with a meaning a suffix")
    func clashes() throws {
        let migrator = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql: """
                    CREATE TABLE date("default" INT, "inout" INT, a_b INT, aB INT, "A b" INT);
                    CREATE TABLE mood_view(x);
                    CREATE VIEW string AS SELECT 1 AS x;
                    CREATE TABLE "date table"(x);
                    CREATE TABLE mood(x);
                    """)
        ])
        let mapping = try ColumnTypes(["mood.x": "Mood"])
        let text = try SchemaTypes(of: migrator, at: [1], name: "Schema", mapping: mapping).text
        for part in [
            "struct DateTable: OldTable, Identifiable {", "struct DateTableTable:",
            "struct StringView: OldView {",
            "struct MoodTable:", "struct MoodView:", "var `default`: Int64?", "var aB: Int64?",
            "var aB2: Int64?",
            "var aB3: Int64?", "`inout`: row.optional(\"inout\")", "default: row.optional(\"default\")",
            "container[\"a_b\"] = aB\n",
            "container[\"A b\"] = aB3\n",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test("leave out a table with a quotation mark in its name, and do not write a column with one")
    func quotationMarks() throws {
        let migrator = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a", sql: "CREATE TABLE \"q\"\"q\"(x); CREATE TABLE note(\"e\"\"e\" TEXT);")
        ])
        let text = try SchemaTypes(of: migrator, at: [1], name: "Schema", mapping: ColumnTypes()).text
        #expect(text.contains("struct Note: OldView {") && !text.contains("struct QQ"))
        #expect(text.contains("eE: row.optional(\"e\\\"e\")"))
    }

    @Test("name a version by its day, or by as much of its time as tells it from others")
    func versions() throws {
        let versions: [Int64] = [
            7, 20_240_110_090_000_000, 20_240_601_090_000_000, 20_240_601_120_000_000, 20_240_601_120_000_001,
        ]
        let migrator = try SchemaMigrator(
            migrations: versions.map { SQLMigration(version: $0, name: "a", sql: "CREATE TABLE t\($0)(x);") })
        let text = try SchemaTypes(of: migrator, at: Set(versions), name: "Schema", mapping: ColumnTypes())
            .text
        #expect(
            text.matches(of: /(?m)^    enum (\S+) \{/).map { String($0.1) } == [
                "v7", "v20240110", "v202406010900", "v20240601120000000", "v20240601120000001",
            ])
    }
}
