import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("An upgrade matrix detects drift", .timed)
struct DriftTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static func create(_ sql: String) -> SQLMigration {
        SQLMigration(version: 20240310120000000, name: "create_entries", sql: sql)
    }

    private static let later = SQLMigration(
        version: 20240601120000000, name: "add_tags", sql: "CREATE TABLE tag(id INTEGER PRIMARY KEY);")

    private func failure(_ matrix: UpgradeMatrix) throws -> UpgradeMatrixError {
        try #require(throws: UpgradeMatrixError.self) { try matrix.run() }
    }

    @Test(
        "between a shipped fixture and what the files create now",
        arguments: [
            (
                "CREATE TABLE entry(mood TEXT)", "CREATE TABLE entry(mood INTEGER)",
                "table `entry`: column `mood` is TEXT after upgrading from START, INTEGER in a fresh install."
            ),
            (
                "CREATE TABLE entry(mood TEXT DEFAULT 'good')", "CREATE TABLE entry(mood TEXT)",
                "table `entry`: column `mood` is TEXT DEFAULT 'good' after upgrading from START, TEXT in a fresh install."
            ),
            (
                "CREATE TABLE entry(mood TEXT)",
                "CREATE TABLE entry(mood TEXT); CREATE INDEX by_mood ON entry(mood)",
                "index `by_mood` is missing after upgrading from START."
            ),
            (
                "CREATE TABLE entry(mood TEXT)",
                "CREATE TABLE entry(mood TEXT); CREATE TRIGGER t AFTER DELETE ON entry BEGIN SELECT 1; END",
                "trigger `t` is missing after upgrading from START."
            ),
            (
                "CREATE TABLE entry(mood TEXT); CREATE VIEW moods AS SELECT mood FROM entry",
                "CREATE TABLE entry(mood TEXT)",
                "view `moods` is missing in a fresh install, and is there after upgrading from START."
            ),
        ])
    func shipped(before: String, now: String, sentence: String) throws {
        try folder.migrate([Self.create(before)], in: "1.0.sqlite")
        let schema = try SchemaMigrator(migrations: [Self.create(now), Self.later])
        let error = try failure(UpgradeMatrix(of: schema, fixtures: folder.url))
        let start = "20240310120000000 (fixture 1.0.sqlite)"
        #expect(
            error.description == """
                1 of 3 upgrades failed.
                - 20240310120000000_create_entries.sql was edited after it had been applied: found in the upgrade \
                from \(start).
                  Undo the edit, and write a new migration. If the edit was intended, accept it: app-migrations \
                accept --database 1.0.sqlite 20240310120000000
                - \(sentence.replacingOccurrences(of: "START", with: start))
                  Undo the edit of 20240310120000000_create_entries.sql, and write a new migration instead.
                """)
    }

    @Test("a rebuild that runs only for tables with rows, and loses a trigger, is reported")
    func rebuild() throws {
        let schema = try SchemaMigrator(migrations: [
            Self.create(
                """
                CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT);
                CREATE TRIGGER touched AFTER UPDATE ON entry BEGIN SELECT 1; END;
                """),
            Rebuild(),
        ])
        let error = try failure(UpgradeMatrix(of: schema))
        #expect(
            error.description == """
                1 of 2 upgrades failed.
                - trigger `touched` is missing after upgrading from 20240310120000000.
                  A migration does something else where there are rows, or objects from before (IF NOT EXISTS, a migration in \
                Swift): write a new one that makes both alike.
                """)
        #expect(try UpgradeMatrix(of: schema, filledWith: .none).run().upgrades.count == 2)
    }

    private struct Rebuild: SchemaMigration {
        let version: SchemaVersion = 20240601120000000

        func migrate(_ db: Database) throws {
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM entry") ?? 0 > 0 else { return }
            try db.execute(
                sql: """
                    CREATE TABLE entry_new(id INTEGER PRIMARY KEY, text TEXT);
                    INSERT INTO entry_new SELECT * FROM entry;
                    DROP TABLE entry;
                    ALTER TABLE entry_new RENAME TO entry;
                    """)
        }
    }

    @Test("as a note if a rebuild loses a trigger or an index for good")
    func everyRebuild() throws {
        let rebuild = """
            CREATE TABLE entry_new(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
            INSERT INTO entry_new SELECT id, coalesce(text, '') FROM entry;
            DROP TABLE entry;
            ALTER TABLE entry_new RENAME TO entry;
            """
        let schema = try SchemaMigrator(migrations: [
            Self.create(
                """
                CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT);
                CREATE TRIGGER touched AFTER UPDATE ON entry BEGIN SELECT 1; END;
                CREATE INDEX by_text ON entry(text);
                """),
            SQLMigration(version: 20240601120000000, name: "rebuild", sql: rebuild),
            SQLMigration(
                version: 20240602120000000, name: "index", sql: "CREATE INDEX by_text ON entry(text);"),
        ])
        let report = try UpgradeMatrix(of: schema).run()
        #expect(
            report.notes == [
                "20240601120000000_rebuild.sql rebuilds table `entry`, and trigger `touched` is not made again"
            ])
        #expect(report.description.hasSuffix("\n  note: \(report.notes[0])"))
    }

    @Test("the drift of an outdated snapshot is reported once")
    func staleSnapshot() throws {
        let url = folder.file("schema.sql")
        try SchemaMigrator(migrations: [Self.create("CREATE TABLE entry(mood TEXT)"), Self.later])
            .writeSnapshot(to: url)
        let schema = try SchemaMigrator(
            migrations: [Self.create("CREATE TABLE entry(mood INTEGER)"), Self.later], snapshot: url)
        let error = try failure(UpgradeMatrix(of: schema))
        #expect(
            error.description == """
                - The snapshot cannot be used: schema.sql: is not what the migrations make: table `entry`: column \
                `mood` is INTEGER after all migrations, TEXT after the snapshot.
                  Write it again with `app-migrations snapshot write`.
                """)
        #expect(error.report.upgrades.map(\.problems.count) == [0, 0])
    }
}
