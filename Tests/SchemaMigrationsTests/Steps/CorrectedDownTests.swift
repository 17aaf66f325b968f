import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A down migration that was corrected, in a manager with nothing pending", .timed)
struct CorrectedDownTests {
    private let app: App
    private let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    private func launch(
        _ version: String = "1.0", down: String, role: MigrationOptions.Role = .migrates
    ) throws -> MigrationReport {
        let manager = try app.manager(version, options: MigrationOptions(role: role))
        let migrations = [
            SQLMigration(version: 1, name: "book", sql: "CREATE TABLE book(id INTEGER PRIMARY KEY)"),
            SQLMigration(
                version: 2, name: "pages", sql: "ALTER TABLE book ADD COLUMN pages; CREATE TABLE page(x)",
                down: down),
        ]
        let schema = try SchemaMigrator(
            migrations: migrations, options: SchemaOptions(newerDatabases: .rollBack))
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: database)
        manager.whenMigratingToVersion("1.1", migrate: schema, in: database)
        return try manager.migrate()
    }

    private static let wrong = "ALTER TABLE book DROP COLUMN pages"
    private static let right = "ALTER TABLE book DROP COLUMN pages; DROP TABLE page"

    private func down() throws -> String? {
        try database.read {
            try String.fetchOne($0, sql: "SELECT down FROM schema_migrations_details WHERE version = 2")
        }
    }

    @Test("is written into the ledger by the next launch, once")
    func corrected() throws {
        _ = try launch("1.1", down: Self.wrong)
        #expect(try down() == Self.wrong)
        let report = try launch("1.1", down: Self.right)
        #expect(report.schemaSteps.map(\.schemaVersions) == [[]])
        #expect(try down() == Self.right)
        #expect(try launch("1.1", down: Self.right).schemaSteps == [])
    }

    @Test("is no reason for a process that waits to refuse the database, which it leaves as it is")
    func waits() throws {
        _ = try launch("1.1", down: Self.wrong)
        _ = try launch("1.1", down: Self.right, role: .waitsForApp)
        #expect(try down() == Self.wrong)
    }

    @Test("keeps no later step waiting in an older app, whose database has come from a newer one")
    func waitingStep() throws {
        func manager(_ version: AppVersion, _ name: String, down: String) throws -> MigrationManager {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp,
                store: .jsonFile(at: app.folder.file("\(name).json")),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            let schema = try SchemaMigrator(
                migrations: [
                    SQLMigration(version: 1, name: "book", sql: "CREATE TABLE book(id)", down: down)
                ],
                options: SchemaOptions(newerDatabases: .rollBack))
            manager.whenMigratingToVersion(
                "1.0", migrate: schema, in: try DatabaseQueue(path: app.folder.path("\(name).sqlite")))
            manager.whenMigratingToVersion("1.1") { [log = app.log] in log.add("step 1.1") }
            return manager
        }
        try manager("1.0", "here", down: "SELECT 1").migrate()
        try manager("2.0", "there", down: "DROP TABLE book").migrate()
        try FileManager.default.removeItem(at: app.folder.file("here.sqlite"))
        try FileManager.default.moveItem(
            at: app.folder.file("there.sqlite"), to: app.folder.file("here.sqlite"))
        #expect(try manager("1.1", "here", down: "SELECT 1").migrate().completed.versions == ["1.1"])
        #expect(app.log.lines == ["step 1.1"])
    }

    @Test("is not written by an older build, whose down migration may be the one with the mistake")
    func downgrade() throws {
        _ = try launch("1.2", down: Self.right)
        let report = try launch("1.1", down: Self.wrong)
        #expect(report.launch == .downgrade(from: "1.2"))
        #expect(report.schemaSteps == [])
        #expect(try down() == Self.right)
    }

    @Test("is not written by an older build that undoes what came after it")
    func undoing() throws {
        func migrator(_ count: Int, down: String) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: Array(
                    [
                        SQLMigration(version: 1, name: "book", sql: "CREATE TABLE book(id, pages)"),
                        SQLMigration(version: 2, name: "page", sql: "CREATE TABLE page(x)", down: down),
                        SQLMigration(
                            version: 3, name: "shelf", sql: "CREATE TABLE shelf(x)", down: "DROP TABLE shelf"),
                    ].prefix(count)), options: SchemaOptions(newerDatabases: .rollBack))
        }
        func launch(_ version: String, _ count: Int, down: String) throws -> MigrationReport {
            let manager = try app.manager(version)
            manager.whenMigratingToVersion(migrate: try migrator(count, down: down), in: database)
            return try manager.migrate()
        }
        _ = try launch("1.2", 3, down: "DROP TABLE page")
        let report = try launch("1.1", 2, down: "SELECT 1")
        #expect(report.schemaSteps.map(\.undone) == [["3"]])
        #expect(try down() == "DROP TABLE page")
    }

    @Test("is written with the next migration, also if that is tried a second time")
    func secondAttempt() throws {
        try database.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    CREATE TABLE shelf(id INTEGER PRIMARY KEY);
                    CREATE TABLE book(id INTEGER PRIMARY KEY, shelf INTEGER REFERENCES shelf);
                    PRAGMA foreign_keys = OFF; INSERT INTO book VALUES (1, 9); PRAGMA foreign_keys = ON;
                    """)
        }
        func migrator(_ count: Int, down: String) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: Array(
                    [
                        SQLMigration(version: 1, name: "book", sql: "SELECT 1"),
                        SQLMigration(version: 2, name: "page", sql: "CREATE TABLE page(x)", down: down),
                        SQLMigration(version: 3, name: "rename", sql: "UPDATE book SET id = 2"),
                    ].prefix(count)), adopting: SchemaAdoption { _ in 1 })
        }
        try migrator(2, down: Self.wrong).migrate(database)
        try migrator(3, down: Self.right).migrate(database)
        #expect(try down() == Self.right)
    }
}
