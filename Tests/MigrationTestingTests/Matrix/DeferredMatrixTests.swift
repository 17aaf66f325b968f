import AppMigrations
import DatabaseBatches
import GRDB
import MigrationTesting
import SchemaMigrations
import TestTraits
import Testing

@Suite("An upgrade matrix with an app's deferred steps", .timed)
struct DeferredMatrixTests {
    private static let migrations = [
        SQLMigration(
            version: 1, name: "photos", sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, old INTEGER);"),
        SQLMigration(version: 2, name: "hashes", sql: "ALTER TABLE photo ADD COLUMN hash INTEGER DEFAULT 0;"),
        SQLMigration(version: 3, name: "no_old", sql: "ALTER TABLE photo DROP COLUMN old;"),
    ]

    /// A matrix of an app whose 2.1 hashes photos after the launch, which 3.0 finishes.
    private func matrix(
        upTo last: SchemaVersion = 3, finishing: [AppVersion] = ["2.1"],
        _ body: @escaping @Sendable (Database, DeferredRows) throws -> Void
    ) throws -> UpgradeMatrix {
        let schema = try SchemaMigrator(migrations: Self.migrations.filter { $0.version <= last })
        return UpgradeMatrix(of: schema) { database, version in
            let manager = try MigrationManager(
                currentVersion: last == 3 ? "3.0" : "2.1",
                adopting: Adoption { version == 0 ? nil : version == 3 ? "3.0" : "1.0" },
                store: .inMemory())
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: database)
            manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 2, in: database)
            manager.afterMigratingToVersion(
                "2.1", in: database, overRowsOf: "photo", fileID: "App/Migrations.swift", line: 7,
                run: body)
            if last == 3 {
                manager.whenMigratingToVersion(
                    "3.0", migrate: schema, upTo: 3, finishing: finishing, in: database)
            }
            return manager
        }
    }

    private static func hash(_ db: Database, _ rows: DeferredRows) throws {
        try db.execute(
            literal: "UPDATE photo SET hash = coalesce(hash, 0) + old % 7 WHERE \(rows.condition)")
    }

    @Test("runs them, or has a later release finish them", arguments: [2, 3] as [SchemaVersion])
    func right(last: SchemaVersion) throws {
        let report = try matrix(upTo: last, Self.hash).run()
        #expect(report.upgrades.map(\.applied) == (last == 3 ? [2, 1, 0] : [1, 0]))
        #expect(report.upgrades.allSatisfy { $0.rows == 20 })
    }

    @Test("names the steps, too, where rows are lost that no migration loses")
    func lostRows() throws {
        let error = try #require(throws: UpgradeMatrixError.self) {
            try matrix(upTo: 2) { db, rows in
                try db.execute(literal: "DELETE FROM photo WHERE id % 2 AND \(rows.condition)")
            }.run()
        }
        #expect(
            error.description.contains(
                """
                - Table `photo` has 10 rows after upgrading from 1 and 2, where 20 had been expected.
                  Fix the step or the migration that changes it, or state the change as rowCounts:.
                """), "\(error)")
    }

    @Test("runs migrations that need them nowhere else")
    func contraction() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "item", sql: "CREATE TABLE item(id INTEGER PRIMARY KEY, price REAL)"),
            SQLMigration(version: 2, name: "cents", sql: "ALTER TABLE item ADD COLUMN cents INTEGER"),
            SQLMigration(
                version: 3, name: "contract",
                sql: """
                    CREATE TABLE new_item(id INTEGER PRIMARY KEY, cents INTEGER NOT NULL);
                    INSERT INTO new_item SELECT id, cents FROM item; DROP TABLE item;
                    ALTER TABLE new_item RENAME TO item
                    """),
        ])
        let matrix = UpgradeMatrix(of: schema) { database, version in
            let manager = try MigrationManager(
                currentVersion: "3.0",
                adopting: Adoption { version == 0 ? nil : version == 3 ? "3.0" : "1.0" }, store: .inMemory())
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: database)
            manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 2, in: database)
            manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "item") { db, rows in
                try db.execute(
                    literal: "UPDATE item SET cents = ifnull(round(price * 100), 0) WHERE \(rows.condition)")
            }
            manager.whenMigratingToVersion("3.0", migrate: schema, upTo: 3, finishing: ["2.1"], in: database)
            return manager
        }
        #expect(try matrix.run().upgrades.map(\.applied) == [2, 1, 0])
    }

    private func problems(_ matrix: UpgradeMatrix) throws -> [String] {
        let error = try #require(throws: UpgradeMatrixError.self) { try matrix.run() }
        return error.description.split(separator: "\n").map(String.init)
    }

    @Test("reports one that does more than the rows that it is given")
    func wrongRows() throws {
        let matrix = try matrix(upTo: 2) { db, _ in try db.execute(sql: "UPDATE photo SET hash = hash + 1") }
        #expect(
            try problems(matrix) == [
                "2 of 2 upgrades failed.",
                """
                - Deferred steps depend on how their rows are cut into batches in the upgrade from 1 and 2: table `photo` \
                has 20 rows after batches of ten rows, 20 after batches of one, with other values.
                """,
                "  Change only the rows that the step is given.",
            ])
    }

    @Test("reports one that fails, and the row to blame")
    func failing() throws {
        let matrix = try matrix(upTo: 2) { db, rows in
            if try rows.ids(of: "photo", db).contains(13) { throw Mishap() }
            try Self.hash(db, rows)
        }
        #expect(
            try problems(matrix) == [
                "2 of 2 upgrades failed.",
                """
                - The deferred work of the upgrade from 1 and 2 fails: deferred step 2.1 (Migrations.swift:7) failed in \
                row 13 of table photo: a mishap.
                """,
                "  Fix the step that fails.",
            ])
    }

    @Test("reports a release that destroys what they read, without finishing them")
    func destroyed() throws {
        let lines = try problems(matrix(finishing: [], Self.hash))
        #expect(lines.contains { $0.contains("no such column: old") }, "\(lines)")
    }

    @Test("notes that random values cannot be compared")
    func random() throws {
        let report = try matrix(upTo: 2) { db, rows in
            try db.execute(literal: "UPDATE photo SET hash = random() WHERE \(rows.condition)")
        }.run()
        #expect(
            report.upgrades.flatMap(\.notes).contains(
                "the upgrade writes other values each time, so that batches of deferred steps were not compared"
            ))
    }
}
