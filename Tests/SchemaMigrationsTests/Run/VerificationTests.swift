import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

@Suite("The schema after migrating")
struct VerificationTests {
    private let migrations = [
        SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x, y); CREATE INDEX i ON a(x)"),
        SQLMigration(version: 2, name: "b", sql: "CREATE TABLE b(x); ALTER TABLE a RENAME COLUMN y TO z"),
    ]

    private func schema(_ verification: SchemaOptions.Verification) throws -> SchemaMigrator {
        try SchemaMigrator(migrations: migrations, options: SchemaOptions(verify: verification))
    }

    /// A database at version 1, which somebody has changed.
    private func changedDatabase() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try schema(.afterMigrating).migrate(queue, upTo: 1)
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
        let error = try #require(throws: SchemaMigrationError.self) {
            try schema(.afterMigrating).migrate(queue)
        }
        #expect(error.code == .differentSchema)
        #expect(error.committed == [2])
        #expect(
            error.description == """
                \(problem). The migrations are applied. Find out what else changes the schema, or which migration was \
                edited: compare a copy of the database with `app-migrations drift`.
                """)
        #expect(try queue.read(schema(.never).status).appliedVersions == [1, 2])
        // Nothing is pending, and so nothing is compared.
        #expect(try schema(.afterMigrating).migrate(queue).applied == [])
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
        schema.options.verify = .afterMigrating
        #expect(try schema.migrate(queue).applied == [3])
    }

    @Test("is a warning if that is allowed")
    func allow() throws {
        let report = try schema(.afterMigrating(onDifference: .allow)).migrate(changedDatabase())
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
            ], options: SchemaOptions(verify: .afterMigrating))
        #expect(try schema.migrate(queue, upTo: 1).applied == [1])
        #expect(try schema.migrate(queue).applied == [2, 3, 4])
    }
}
