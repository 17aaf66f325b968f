import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("Tables with odd names, in the tools for tests", .timed)
struct OddNameTests {
    private static let names = [
        "a\"b", "\"", "a]b", "a`b", "a'b", "two words", "e\u{301}", "\"\u{301}", "SELECT", "stra\u{df}e",
        "a.b",
    ]

    @Test("are filled, copied into fixtures, tried in dry runs and written into snapshots", arguments: names)
    func all(name: String) throws {
        let folder = try TemporaryFolder()
        let (table, child) = (SQLName(name), SQLName("\(name) child"))
        let create = """
            CREATE TABLE \(table.sql)(\(table.sql) INTEGER PRIMARY KEY, more TEXT CHECK (\(table.sql) <> 7));
            CREATE TABLE \(child.sql)(\(child.sql) INTEGER NOT NULL REFERENCES \(table.sql)(\(table.sql)));
            CREATE INDEX \(SQLName("\(name) index").sql) ON \(table.sql)(more);
            INSERT INTO \(table.sql) VALUES (1000, 'seed');
            """
        let first = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "first", sql: create)])
        let queue = try DatabaseQueue(path: folder.file("app.sqlite").path)
        try first.migrate(queue)
        #expect(try queue.write { try RowGenerator(rowsPerTable: 5).fill($0) } == [])

        let fixture = folder.file("fixture.sqlite")
        let report = try FixtureMaker().write(queue, to: fixture)
        #expect(Set(report.tables.map(\.name)) == [name, child.text])
        let copy = try DatabaseQueue(path: fixture.path)
        #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(child.sql)") } == 5)

        let both = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "first", sql: create),
            SQLMigration(version: 2, name: "second", sql: "ALTER TABLE \(table.sql) ADD COLUMN \"q\"\"q\";"),
        ])
        let rehearsal = try both.rehearse(queue)
        #expect(rehearsal.steps.map(\.version) == [2])
        #expect(rehearsal.rows.contains { $0.table == name && $0.before == 6 && $0.after == 6 })
        try both.writeSnapshot(to: folder.file("snapshot.sql"))
    }
}
