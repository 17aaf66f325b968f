import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("An upgrade matrix", .timed)
struct UpgradeMatrixTests {
    private static let migrations = [
        SQLMigration(
            version: 1, name: "create_entries", sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT);"),
        SQLMigration(
            version: 2, name: "add_tags",
            sql: """
                CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                CREATE TABLE entry_tag(
                    entry INTEGER NOT NULL REFERENCES entry(id), tag INTEGER NOT NULL REFERENCES tag(id),
                    PRIMARY KEY (entry, tag)) WITHOUT ROWID;
                """),
        SQLMigration(
            version: 3, name: "add_moods",
            sql: "ALTER TABLE entry ADD COLUMN mood TEXT CHECK (mood IN ('happy', 'sad'));"),
    ]

    @Test("upgrades generated rows from every version, and prints a table")
    func table() throws {
        let report = try UpgradeMatrix(of: SchemaMigrator(migrations: Self.migrations)).run()
        #expect(
            report.description.withoutTimes == """
                3 upgrades, each ends where a fresh install does
                  ✓  1  create_entries  replay  20 rows  2 migrations TIME
                  ✓  2  add_tags        replay  60 rows   1 migration TIME
                  ✓  3  add_moods       replay  60 rows  0 migrations TIME
                """)
        #expect(report.problems == [])
    }

    @Test("starts from the shipped versions, with the rows that the test writes")
    func chosen() throws {
        let matrix = UpgradeMatrix(
            of: try SchemaMigrator(migrations: Self.migrations), from: [2],
            filledWith: .rows { db, version in
                try db.execute(sql: "INSERT INTO entry(text) VALUES ('from \(version)')")
            })
        let report = try matrix.run()
        #expect(report.upgrades.map(\.start.version) == [2])
        #expect(report.upgrades.map(\.rows) == [1])
    }

    @Test("adopts a fixture that has no ledger")
    func adoption() throws {
        let folder = try TemporaryFolder()
        try folder.execute("CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT)", in: "0.9.sqlite")
        let schema = try SchemaMigrator(
            migrations: Self.migrations, adopting: SchemaAdoption { _ in 1 })
        let report = try UpgradeMatrix(of: schema, fixtures: folder.url).run()
        #expect(report.upgrades.last?.start.description == "an unknown version (fixture 0.9.sqlite)")
        #expect(report.upgrades.last?.applied == 2)
    }

    @Test("also starts from the snapshot, as a device that was new then")
    func snapshot() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("schema.sql")
        try SchemaMigrator(migrations: Array(Self.migrations.prefix(2))).writeSnapshot(to: url)
        let schema = try SchemaMigrator(migrations: Self.migrations, snapshot: url)
        let report = try UpgradeMatrix(of: schema).run()
        #expect(report.upgrades.map(\.start.description) == ["1", "2", "3", "2 (snapshot schema.sql)"])
        #expect(report.upgrades.last?.rows == 60)
    }

    // MARK: Rows

    private static let drops = [
        SQLMigration(
            version: 1, name: "a", sql: "CREATE TABLE a(x TEXT); CREATE TABLE b(x TEXT); CREATE TABLE c(x);"),
        SQLMigration(
            version: 2, name: "b",
            sql: "DROP TABLE a; ALTER TABLE b RENAME TO d; DELETE FROM c WHERE rowid < 6;"),
    ]

    @Test("reports the migration that loses rows, and how to state that this is intended")
    func lostRows() throws {
        let schema = try SchemaMigrator(migrations: Self.drops)
        let error = try #require(throws: UpgradeMatrixError.self) { try UpgradeMatrix(of: schema).run() }
        #expect(
            error.description == """
                1 of 2 upgrades failed.
                - 2_b.sql removes table `a`, which had 20 rows, in the upgrade from 1.
                  Fix it, or, if it is intended, state it: rowCounts: .unchanged(except: [.renamed("a", to: "d", by: \
                2)])
                - 2_b.sql removes table `b`, which had 20 rows, in the upgrade from 1.
                  Fix it, or, if it is intended, state it: rowCounts: .unchanged(except: [.renamed("b", to: "d", by: \
                2)])
                - 2_b.sql leaves 15 rows in table `c`, which had 20 rows, in the upgrade from 1.
                  Fix it, or, if it is intended, state it: rowCounts: .unchanged(except: [.changed("c", by: 2) { $0 \
                - 5 }])
                """)
    }

    @Test("reports rows that a migration loses beside a stated change, and what to state after that")
    func lostBesideStated() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT);"),
            SQLMigration(
                version: 2, name: "b", sql: "ALTER TABLE note RENAME TO memo; DELETE FROM memo WHERE id % 2;"),
        ])
        let renamed = RowCounts.Change.renamed("note", to: "memo", by: 2)
        let error = try #require(throws: UpgradeMatrixError.self) {
            try UpgradeMatrix(of: schema, rowCounts: .unchanged(except: [renamed])).run()
        }
        #expect(
            error.description == """
                1 of 2 upgrades failed.
                - 2_b.sql leaves 10 rows in table `memo`, where 20 rows had been expected, in the upgrade from 1.
                  Fix it, or, if it is intended, state it: rowCounts: .unchanged(except: […, .changed("memo", by: 2) \
                { $0 - 10 }])
                """)
        let counts = RowCounts.unchanged(except: [renamed, .changed("memo", by: 2) { $0 - 10 }])
        #expect(try UpgradeMatrix(of: schema, rowCounts: counts).run().problems == [])
    }

    @Test("accepts stated changes of row counts")
    func statedRows() throws {
        let counts = RowCounts.unchanged(except: [
            .dropped("a", by: 2), .renamed("b", to: "d", by: 2), .changed("c", by: 2) { $0 - 5 },
        ])
        let report = try UpgradeMatrix(of: SchemaMigrator(migrations: Self.drops), rowCounts: counts).run()
        #expect(report.upgrades.count == 2)
    }

    @Test("tells tables apart, and counts their rows, by names as SQLite compares them")
    func namesOfTables() throws {
        // Swift takes both for one text.
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql:
                    "CREATE TABLE \(composed)(x TEXT); CREATE TABLE \(decomposed)(x TEXT); CREATE TABLE Note(x);"
            ),
            SQLMigration(
                version: 2, name: "b",
                sql: "DELETE FROM \(composed); ALTER TABLE Note RENAME TO n; ALTER TABLE n RENAME TO NOTE;"),
            SQLMigration(version: 3, name: "c", sql: "DELETE FROM note;"),
        ])
        let counts = RowCounts.unchanged(except: [.emptied("nOTE", by: 3), .emptied(composed, by: 2)])
        #expect(try UpgradeMatrix(of: schema, rowCounts: counts).run().upgrades.count == 3)
        let other = RowCounts.unchanged(except: [.emptied("nOTE", by: 3), .emptied(decomposed, by: 2)])
        let error = try #require(throws: UpgradeMatrixError.self) {
            try UpgradeMatrix(of: schema, rowCounts: other).run()
        }
        #expect(
            error.description.utf8.contains(
                "2_b.sql leaves 0 rows in table `\(composed)`, which had 20 rows, in the upgrade from 1".utf8)
        )
    }

    @Test("adds up the rows of merged tables, and ignores uncounted ones")
    func mergedRows() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql: "CREATE TABLE a(x TEXT); CREATE TABLE b(x TEXT); CREATE TABLE c(x);"),
            SQLMigration(
                version: 2, name: "b",
                sql: "INSERT INTO a SELECT x FROM b; DROP TABLE b; DELETE FROM c WHERE x IS NULL;"),
            SQLMigration(version: 3, name: "c", sql: "DELETE FROM a;"),
        ])
        let counts = RowCounts.unchanged(except: [
            .emptied("a", by: 3), .merged(["a", "b"], into: "a", by: 2), .uncounted("c", by: 2),
        ])
        #expect(try UpgradeMatrix(of: schema, rowCounts: counts).run().upgrades.count == 3)
        let tooMany = RowCounts.unchanged(except: [
            .changed("a", by: 3) { _ in 7 }, .merged(["a", "b"], into: "a", by: 2), .uncounted("c", by: 2),
        ])
        let error = try #require(throws: UpgradeMatrixError.self) {
            try UpgradeMatrix(of: schema, rowCounts: tooMany).run()
        }
        #expect(
            error.description.contains(
                "3_c.sql leaves 0 rows in table `a`, where 7 rows had been expected, in the upgrade from 1 and 2."
            ))
    }
}

extension String {
    /// The text with `TIME` for each duration, and the blanks before it.
    var withoutTimes: String { replacing(#/ +\d+\.\d+ m?s/#, with: " TIME") }
}

extension TemporaryFolder {
    /// Feeds a database in the folder with SQL.
    func execute(_ sql: String, in name: String) throws {
        let queue = try DatabaseQueue(path: file(name).path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Makes a database in the folder by migrations.
    func migrate(_ migrations: [any SchemaMigration], in name: String, upTo version: SchemaVersion? = nil)
        throws
    {
        try SchemaMigrator(migrations: migrations).migrate(path: file(name).path, upTo: version)
    }
}
