import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A migration in Swift", .timed)
struct CodeMigrationTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private struct AddMoods: SchemaMigration {
        let version: SchemaVersion = 2

        func migrate(_ db: Database) throws {
            try db.alter(table: "entry") { $0.add(column: "mood", .integer) }
        }
    }

    @Test("is named after its type, and can use GRDB's schema builder")
    func builder() throws {
        let schema = try SchemaMigrator(migrations: [
            AddMoods(),
            CodeMigration(1, "Code1") { db in try db.create(table: "entry") { $0.column("text") } },
        ])
        #expect(try schema.migrate(queue).applied == [1, 2])
        #expect(try queue.strings("SELECT name FROM pragma_table_info('entry')") == ["text", "mood"])
        #expect(
            try queue.strings("SELECT name FROM schema_migrations_details ORDER BY version") == [
                "Code1", "AddMoods",
            ])
    }

    @Test("is rolled back if it throws, and earlier migrations stay")
    func throwing() throws {
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: "CREATE TABLE a(x)"),
            CodeMigration(2, "Code2") { db in
                try db.execute(sql: "CREATE TABLE b(x)")
                throw Mishap()
            },
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                Code2: a mishap. It was rolled back. Fix it and migrate again.
                """)
        #expect(error.file == "Code2")
        #expect(error.schemaVersion == 2)
        #expect(error.committed == [1])
        #expect(error.underlyingError is Mishap)
        #expect(try queue.tables() == ["a"])
        #expect(try queue.ledger() == [1])
    }

    @Test("has failed if it drops a table that it still reads, and waits for no other connection")
    func openCursor() throws {
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2)"),
            CodeMigration(2, "Code2") { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT x FROM a")
                _ = try cursor.next()
                try withExtendedLifetime(cursor) { try db.execute(sql: "DROP TABLE a") }
            },
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(error.sqliteCode == 6)
        #expect(
            error.description == """
                Code2: SQLite error 6: database table is locked - while executing `DROP TABLE a`. A statement of this \
                connection still reads, such as that of a cursor: end it first. In a transaction, ask for no checkpoint.
                """)
        #expect(try queue.ledger() == [1])
    }

    @Test("has failed if a manager or a store that it calls fails, whatever that one's error is")
    func failingCall() throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("records.json")
        try Data("no record".utf8).write(to: url)
        let store = try MigrationStore.jsonFile(at: url)
        for call: @Sendable () throws -> Void in [
            { _ = try store.read("Photos") },
            {
                try MigrationManager(name: "Photos", currentVersion: "1.0", adopting: .newApp, store: store)
                    .migrate()
            },
        ] {
            let schema = try SchemaMigrator(migrations: [CodeMigration(1, "AddPhotos") { _ in try call() }])
            let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
            #expect(error.code == .stepFailed)
            #expect(error.file == "AddPhotos")
            #expect(error.schemaVersion == 1)
            #expect((error.underlyingError as? MigrationError)?.code == .damagedStore)
        }
    }

    @Test("names itself in an error of this package that has no place")
    func placeless() throws {
        let refusal = MigrationError(.invalidMigration, "The table has two keys", remedy: "Keep one.")
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, "AddKey") { _ in throw refusal }])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .invalidMigration)
        #expect(error.message == "AddKey: The table has two keys.")
    }

    @Test("that is postponed says so, and asks nobody to fix it")
    func postponed() throws {
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "AddPhotos") { _ in throw MigrationPostponed(reason: "no network") }
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .postponed)
        #expect(error.remedy == Obstacle.postponed.remedy)
    }

    @Test("tells a manager's error how far its schema step came")
    func managerError() throws {
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: "CREATE TABLE a(x)"), CodeMigration(2, "Code2") { _ in throw Mishap() },
        ])
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .inMemory())
        manager.whenMigratingToVersion("2.0", migrate: schema, in: queue)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .stepFailed)
        #expect(error.version == "2.0")
        #expect(error.schemaVersion == 2)
        #expect(error.committed == [1])
        #expect(error.facts.kind == "schema step")
    }

    @Test("is what a crash reporter gets of a manager's error, and groups it by")
    func group() throws {
        var reports: [NSError] = []
        let failures: [(SchemaVersion, AppVersion)] = [(1, "1.0"), (2, "1.0"), (1, "1.1")]
        for (failing, version) in failures {
            let schema = try SchemaMigrator(
                migrations: (1...2).map { version in
                    CodeMigration(version, "Code") { _ in if version == failing { throw Mishap() } }
                })
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: .newApp, store: .inMemory())
            manager.whenMigratingToVersion(version, migrate: schema, in: try DatabaseQueue())
            let error = try #require(throws: MigrationError.self) { try manager.migrate() }
            #expect(error.facts.migration == "\(failing)")
            reports.append(error as NSError)
        }
        #expect(reports.map { $0.userInfo["migration"] as? String } == ["1", "2", "1"])
        #expect(Set(reports.map(\.code)).count == 3)
    }

    @Test("reports SQLite's error code if its SQL fails")
    func failing() throws {
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: "SELECT * FROM nowhere")])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(
            error.message
                == "Code1: SQLite error 1: no such table: nowhere - while executing `SELECT * FROM nowhere`.")
        #expect(error.sqliteCode == 1)
    }

    @Test(
        "is rolled back if it ends its transaction, and earlier migrations stay",
        arguments: [
            "COMMIT", "COMMIT; BEGIN", "COMMIT; BEGIN IMMEDIATE; CREATE TABLE d(x)", "ROLLBACK",
            "ROLLBACK; BEGIN",
            "COMMIT; SAVEPOINT schema_migrations_savepoint",
            "ROLLBACK; SAVEPOINT schema_migrations_savepoint",
            "RELEASE schema_migrations_savepoint", "COMMIT; CREATE TABLE d(x)", "ROLLBACK; CREATE TABLE d(x)",
        ], [false, true])
    func endingTransaction(sql: String, isSilent: Bool) throws {
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: "CREATE TABLE a(x)"), CodeMigration(2, sql: "CREATE TABLE b(x)"),
            CodeMigration(3, "Code3") { db in
                try db.execute(sql: "CREATE TABLE c(x)")
                do {
                    try db.execute(sql: sql)
                } catch  where isSilent {
                    // Continues as if nothing had happened.
                }
            },
            CodeMigration(4, sql: "CREATE TABLE e(x)"),
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                Code3: ended the transaction that it ran in. Leave the transaction open: a migration and its record \
                are committed together.
                """)
        #expect(error.schemaVersion == 3)
        #expect(error.committed == [1, 2])
        #expect(try queue.tables() == ["a", "b"])
        #expect(try queue.ledger() == [1, 2])

        let fixed = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), CodeMigration(2, sql: ""), CodeMigration(3, sql: "CREATE TABLE c(x)"),
            CodeMigration(4, sql: ""),
        ])
        #expect(try fixed.migrate(queue).applied == [3, 4])
    }

    @Test("can use savepoints, and leave them open")
    func savepoints() throws {
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "Code1") { db in
                try db.inSavepoint {
                    try db.execute(sql: "CREATE TABLE a(x)")
                    return .rollback
                }
                try db.inSavepoint {
                    try db.execute(sql: "CREATE TABLE b(x)")
                    return .commit
                }
                try db.execute(sql: "SAVEPOINT mine; CREATE TABLE c(x)")
            },
            CodeMigration(2, sql: "CREATE TABLE d(x)"),
        ])
        #expect(try schema.migrate(queue).applied == [1, 2])
        #expect(try queue.tables() == ["b", "c", "d"])
    }
}
