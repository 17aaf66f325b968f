import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The schema after migrating", .timed)
struct VerificationTests {
    private let migrations = [
        SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x, y); CREATE INDEX i ON a(x)"),
        SQLMigration(version: 2, name: "b", sql: "CREATE TABLE b(x); ALTER TABLE a RENAME COLUMN y TO z"),
    ]

    private func schema(_ policy: SchemaOptions.Policy?) throws -> SchemaMigrator {
        try SchemaMigrator(migrations: migrations, options: SchemaOptions(differentSchemas: policy))
    }

    /// A database at version 1, which somebody has changed.
    private func changedDatabase() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try schema(.refuse).migrate(queue, upTo: 1)
        try queue.write {
            try $0.execute(sql: "DROP INDEX i; ALTER TABLE a ADD COLUMN w; CREATE VIEW v AS SELECT 1")
        }
        return queue
    }

    private let problem = """
        The schema is not the one that the migrations make: index `i` is missing; table `a` is different; view `v` should \
        not be there
        """

    @Test("is an error if it is not what the migrations make, and they stay")
    func refuse() throws {
        let queue = try changedDatabase()
        let error = try #require(throws: MigrationError.self) {
            try schema(.refuse).migrate(queue)
        }
        #expect(error.code == .differentSchema)
        #expect(error.committed == [2])
        #expect(
            error.description == """
                \(problem). The migrations are applied. Find out what else changes the schema, or which migration was \
                edited: compare a copy of the database with `app-migrations drift`.
                """)
        #expect(try queue.read(schema(nil).status).appliedVersions == [1, 2])
        // Nothing is pending, and so nothing is compared.
        #expect(try schema(.refuse).migrate(queue).applied == [])
    }

    @Test("includes what was there below the ledger's first version")
    func belowTheFloor() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a(x); CREATE INDEX i ON a(x); ALTER TABLE a ADD COLUMN z;
                    CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                    INSERT INTO schema_migrations VALUES (2)
                    """)
        }
        var schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x); CREATE INDEX i ON a(x)"),
            SQLMigration(version: 2, name: "b", sql: "ALTER TABLE a ADD COLUMN z"),
            SQLMigration(version: 3, name: "c", sql: "CREATE TABLE c(x)"),
        ])
        schema.options.differentSchemas = .refuse
        #expect(try schema.migrate(queue).applied == [3])
    }

    @Test("is the one that migrations make in the order in which they came")
    func late() throws {
        func migrator(_ versions: [SchemaVersion]) throws -> SchemaMigrator {
            let migrations = versions.map { version in
                SQLMigration(
                    version: version, name: "a",
                    sql: version == 1 ? "CREATE TABLE a(x)" : "ALTER TABLE a ADD COLUMN y\(version)",
                    down: "ALTER TABLE a DROP COLUMN y\(version)")
            }
            return try SchemaMigrator(
                migrations: migrations, options: SchemaOptions(differentSchemas: .refuse))
        }
        let queue = try DatabaseQueue()
        try migrator([1, 3]).migrate(queue)
        #expect(try migrator([1, 2, 3]).migrate(queue).applied == [2])
        #expect(try migrator([1, 2, 3, 4]).migrate(queue).applied == [4])

        try migrator([1, 2, 3, 4]).rollback(queue, to: 1)
        #expect(try migrator([1, 2, 4]).migrate(queue).applied == [2, 4])
        #expect(try migrator([1, 2, 3, 4]).migrate(queue).applied == [3])
    }

    @Test("is the one that migrations make, in whatever order somebody has written the ledger")
    func ledgerByHand() throws {
        let queue = try DatabaseQueue()
        let migrations = (1...3).map { version in
            SQLMigration(
                version: version, name: "a",
                sql: version == 1 ? "CREATE TABLE a(x)" : "ALTER TABLE a ADD COLUMN y\(version)")
        }
        let options = SchemaOptions(differentSchemas: .refuse)
        try SchemaMigrator(migrations: Array(migrations[..<2]), options: options).migrate(queue)
        try queue.execute("DELETE FROM schema_migrations; INSERT INTO schema_migrations VALUES (2), (1)")
        #expect(try SchemaMigrator(migrations: migrations, options: options).migrate(queue).applied == [3])
    }

    @Test("is not compared if a migration relies on rows, which stays applied")
    func failingReplay() throws {
        let queue = try DatabaseQueue()
        var schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x)"),
            CodeMigration(2, "b") { db in
                guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM a)") == true else {
                    throw DatabaseError(resultCode: .SQLITE_ERROR, message: "no row")
                }
            },
        ])
        try schema.migrate(queue, upTo: 1)
        try queue.execute("INSERT INTO a VALUES (1)")
        schema.options.differentSchemas = .refuse
        let report = try schema.migrate(queue)
        #expect(report.applied == [2])
        #expect(
            report.warnings == [
                "The schema was not compared, since a migration fails on an empty database: b: SQLite error 1: no row"
            ])
    }

    @Test("is a warning if that is allowed")
    func allow() throws {
        let report = try schema(.allow).migrate(changedDatabase())
        #expect(report.applied == [2])
        #expect(report.warnings == [problem])
    }

    @Test(
        "is compared with the app's functions and full-text tables, and with a database that started otherwise"
    )
    func same() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("twice", argumentCount: 1, pure: true) { values in
                    Int64.fromDatabaseValue(values[0]).map { $0 * 2 }
                })
        }
        let queue = try DatabaseQueue(configuration: configuration)
        let schema = try SchemaMigrator(
            migrations: migrations + [
                SQLMigration(
                    version: 3, name: "c",
                    sql:
                        "CREATE VIRTUAL TABLE search USING fts5(x); CREATE INDEX twice ON a(twice(x)); INSERT INTO search VALUES ('a')"
                ),
                CodeMigration(4, "d") { try $0.create(table: "d") { $0.autoIncrementedPrimaryKey("id") } },
            ], options: SchemaOptions(differentSchemas: .refuse))
        #expect(try schema.migrate(queue, upTo: 1).applied == [1])
        #expect(try schema.migrate(queue).applied == [2, 3, 4])
    }
}

@Suite("The schema of an adopted database", .timed)
struct AdoptionVerificationTests {
    private let queue: DatabaseQueue
    private let migrations = [
        SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x)"),
        SQLMigration(version: 2, name: "b", sql: "CREATE TABLE b(x)"),
        SQLMigration(version: 3, name: "c", sql: "CREATE TABLE c(x); DROP TABLE IF EXISTS old_version"),
    ]

    init() throws {
        queue = try DatabaseQueue()
        try queue.execute("CREATE TABLE a(x)")
    }

    private func schema(
        _ count: Int = 3, adopting version: SchemaVersion,
        _ policy: SchemaOptions.Policy? = .refuse
    ) throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: Array(migrations.prefix(count)), options: SchemaOptions(differentSchemas: policy),
            adopting: SchemaAdoption { _ in version })
    }

    private func problem(_ version: SchemaVersion, _ differences: String) -> String {
        """
        The schema is not the one that the adopted migrations make, up to \(version): \(differences)
        """
    }

    private func expectRefusal(_ schema: SchemaMigrator, _ problem: String) throws {
        let before = try queue.schema()
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .differentSchema)
        #expect(error.committed == [])
        #expect(
            error.description == """
                \(problem). Return the version of the tables from `adopting`, or write a migration that makes up the \
                difference. Nothing was changed.
                """)
        #expect(try queue.schema() == before)
        #expect(
            try queue.strings("SELECT name FROM sqlite_master WHERE name LIKE 'schema_migrations%'") == [])
    }

    @Test(
        "is refused at every launch if the version is wrong, whether migrations are pending or not",
        arguments: [2, 3])
    func wrong(count: Int) throws {
        let schema = try schema(count, adopting: 2)
        for _ in 1...2 { try expectRefusal(schema, problem(2, "table `b` is missing")) }
    }

    @Test("passes if the version is right, at this launch and the next", arguments: [1, 2, 3])
    func right(count: Int) throws {
        let schema = try schema(count, adopting: 1)
        #expect(try schema.migrate(queue).applied == Array([2, 3].prefix(count - 1)))
        #expect(try schema.migrate(queue).applied == [])
        #expect(try queue.read(AppliedMigration.fetchAll).first?.origin == .marked)
    }

    @Test("may hold what a pending migration drops")
    func additions() throws {
        try queue.execute("CREATE TABLE b(x); CREATE TABLE old_version(x)")
        try expectRefusal(schema(2, adopting: 2), problem(2, "table `old_version` should not be there"))
        #expect(try schema(3, adopting: 2).migrate(queue).applied == [3])
    }

    @Test("may hold the tables in which other tools record their migrations")
    func ledgersOfOthers() throws {
        try queue.execute(
            "CREATE TABLE grdb_migrations(identifier TEXT); CREATE TABLE schema_info(version INTEGER)")
        #expect(try schema(1, adopting: 1).migrate(queue).applied == [])
        #expect(try schema(adopting: 1).migrate(queue).applied == [2, 3])
    }

    @Test("is a warning if that is allowed")
    func allow() throws {
        let report = try schema(2, adopting: 2, .allow).migrate(queue)
        #expect(report.warnings == [problem(2, "table `b` is missing")])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("is verified before a backup is made")
    func backup() throws {
        let folder = try TemporaryFolder()
        let file = try folder.queue()
        try file.execute("CREATE TABLE a(x)")
        var schema = try schema(adopting: 2)
        let backups = folder.url.appendingPathComponent("backups")
        schema.options.backupFolder = backups
        #expect(try failure { try schema.migrate(file) }.code == .differentSchema)
        #expect(!FileManager.default.fileExists(atPath: backups.path))
    }

    @Test("is verified by a manager's schema step, before a step runs", arguments: [2, 3])
    func schemaStep(count: Int) throws {
        let app = try App()
        let database = try app.open()
        try database.execute("CREATE TABLE a(x)")
        for _ in 1...2 {
            let manager = try app.manager(
                "2.0", adopting: .databaseHasTables(database, means: "1.0"))
            manager.whenMigratingToVersion("1.0", migrate: try schema(count, adopting: 2), in: database)
            manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in log.add("step") }
            let error = try #require(throws: MigrationError.self) { try manager.migrate() }
            #expect(error.description.contains(problem(2, "table `b` is missing")), "\(error)")
        }
        #expect(app.log.lines == [])
        #expect(try database.tables().filter { !$0.hasPrefix("app_migrations") } == ["a"])
    }
}
