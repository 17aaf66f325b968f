import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import Testing

@Suite("A column that the app stores in its own way", .timed)
struct ColumnCodingTests {
    /// The type of a column, values that it reads and writes unchanged, and values that it refuses, as SQL.
    static let codings: [(type: String, good: [String], bad: [String])] = [
        ("Mood", ["'happy'", "'sad'"], ["'angry'", "1"]),
        ("Rank", ["1", "2"], ["3", "'one'"]),
        ("json([String])", ["'[\"a\",\"b\"]'", "'[]'"], ["'[1]'", "x'5b5d'"]),
        (
            "Date", ["'2024-01-10 09:00:00.123'", "'2024-01-10 00:00:00.000'"],
            ["'2024-01-10'", "1704877200", "'soon'"]
        ),
        ("Date(yyyy-MM-dd)", ["'2024-01-10'", "'1969-12-31'"], ["'2024-1-10'", "'2024-01-10 09:00:00'"]),
        ("Date(secondsSince1970)", ["1704877200", "1704877200.25", "-1"], ["'1704877200'"]),
        ("Date(millisecondsSince1970)", ["1704877200123", "0"], ["x'00'"]),
        ("Date(secondsSince2001)", ["726570000", "726570000.5"], ["'x'"]),
        (
            "UUID", ["x'000102030405060708090a0b0c0d0e0f'"],
            ["'00010203-0405-0607-0809-0A0B0C0D0E0F'", "x'00'"]
        ),
        (
            "UUID(uppercase)", ["'00010203-0405-0607-0809-0A0B0C0D0E0F'"],
            ["'00010203-0405-0607-0809-0a0b0c0d0e0f'"]
        ),
        (
            "UUID(lowercase)", ["'00010203-0405-0607-0809-0a0b0c0d0e0f'"],
            ["'00010203-0405-0607-0809-0A0B0C0D0E0F'"]
        ),
        ("Bool", ["0", "1"], ["2", "'true'"]),
        ("Int64", ["9223372036854775807"], ["0.5", "'1'"]),
        ("Double", ["0.1", "-2.5"], ["9007199254740993"]),
        ("String", ["''", "'\u{e9}'"], ["1", "x'61'"]),
        ("Data", ["x''", "x'00'"], ["'a'"]),
        ("DatabaseValue", ["1", "0.5", "'a'", "x'00'"], []),
    ]

    @Test("is read and written unchanged, or refused by table, key and column")
    func codings() async throws {
        let names = Self.codings.indices.map { "column_\($0)" }
        // A column without a type keeps every value as it is.
        let tables = names.map { "CREATE TABLE t_\($0)(id INTEGER PRIMARY KEY, must NOT NULL, may);" }
        let migrator = try SchemaMigrator(
            migrations: [SQLMigration(version: 1, name: "a", sql: tables.joined(separator: "\n"))])
        var mapping = ColumnTypes()
        for (name, coding) in zip(names, Self.codings) {
            try mapping.add("t_\(name).must", coding.type)
            try mapping.add("t_\(name).may", coding.type)
        }
        let folder = try TemporaryFolder()
        let types = try SchemaTypes(of: migrator, at: [1], name: "Schema", mapping: mapping)
        let program = try await TypesProgram(
            [.init(name: "Schema", text: types.text)],
            with: "enum Mood: String { case happy, sad }\nenum Rank: Int { case first = 1, second }\n",
            in: folder)
        let inserts = zip(names, Self.codings).map { name, coding in
            coding.good.map { "INSERT INTO t_\(name)(must, may) VALUES (\($0), \($0)), (\($0), NULL);" }
                .joined()
        }.joined()
        let good = try Self.database(migrator, inserts, folder.file("good.sqlite"))
        let count = Self.codings.reduce(0) { $0 + $1.good.count * 2 }
        #expect(try await program.roundTrip("Schema", "v1", good) == "\(count)\n")
        #expect(try Self.unreadable(good, mapping) == [])

        for (name, coding) in zip(names, Self.codings) {
            for value in coding.bad + ["NULL"] where coding.type != "DatabaseValue" {
                let column = value == "NULL" ? "must" : "may"
                let file = folder.file("bad.sqlite")
                try? FileManager.default.removeItem(at: file)
                let other = value == "NULL" ? "NULL" : coding.good[0]
                // The constraint is not what is tested.
                let sql = """
                    DROP TABLE t_\(name);
                    CREATE TABLE t_\(name)(id INTEGER PRIMARY KEY, must, may);
                    INSERT INTO t_\(name) VALUES (17, \(other), \(value));
                    """
                let error = try await #require(throws: TypesProgram.NotCompiled.self) {
                    try await program.roundTrip("Schema", "v1", Self.database(migrator, sql, file))
                }
                #expect(
                    error.description.hasPrefix("Table t_\(name), row id = 17: column \(column) "),
                    "\(coding.type) \(value): \(error)")
            }
        }
    }

    private static func database(_ migrator: SchemaMigrator, _ sql: String, _ file: URL) throws -> URL {
        let queue = try DatabaseQueue(path: file.path)
        try migrator.migrate(queue)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        return file
    }

    private static func unreadable(_ file: URL, _ mapping: ColumnTypes) throws -> [UnreadableRows] {
        try DatabaseQueue(path: file.path).read { db in
            try UnreadableRows.find(db, TypedSchema(db, version: "1", mapping: mapping))
        }
    }
}
