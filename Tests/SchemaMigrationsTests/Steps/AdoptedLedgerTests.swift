import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database that a manager adopts with nothing pending", .timed)
struct AdoptedLedgerTests {
    private let app: App
    private let database: DatabaseQueue

    private static let book = SQLMigration(
        version: 10, name: "book", sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)")
    private static let author = SQLMigration(
        version: 30, name: "author", sql: "ALTER TABLE book ADD COLUMN author TEXT")

    init() throws {
        app = try App()
        database = try app.open()
        try database.execute(
            """
            CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT); ALTER TABLE book ADD COLUMN author TEXT;
            INSERT INTO book(title) VALUES (' Emma ')
            """)
    }

    @discardableResult
    private func launch(
        _ version: String, _ more: [SQLMigration] = [], adopting: SchemaAdoption,
        _ policy: SchemaOptions.Policy? = nil, role: MigrationOptions.Role = .migrates,
        step: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws -> MigrationReport {
        let schema = try SchemaMigrator(
            migrations: [Self.book, Self.author] + more, options: SchemaOptions(differentSchemas: policy),
            adopting: adopting)
        let manager = try app.manager(
            version, adopting: .databaseHasTables(database, means: "1.0"),
            options: MigrationOptions(role: role))
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: database)
        manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
        manager.whenMigratingToVersion("2.0", in: database, run: step)
        return try manager.migrate()
    }

    @Test("gets its ledger in the launch that adopts it, once")
    func written() throws {
        let report = try launch("2.0", adopting: .matchingSchema)
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.schemaSteps.map(\.schemaVersions) == [[]])
        #expect(try database.ledger() == [10, 30])
        #expect(try launch("2.0", adopting: SchemaAdoption { _ in throw Mishap() }).schemaSteps == [])
    }

    @Test("runs a later migration that changes only rows, although its schema fits that, too")
    func rows() throws {
        try launch("2.0", adopting: .matchingSchema)
        let trim = SQLMigration(version: 40, name: "trim", sql: "UPDATE book SET title = trim(title)")
        let report = try launch("2.1", [trim], adopting: .matchingSchema)
        #expect(report.schemaSteps.map(\.schemaVersions) == [["40"]])
        #expect(try app.titles() == ["Emma"])
    }

    @Test("runs a migration that is merged late, below the version at which it was adopted")
    func late() throws {
        let adopting = SchemaAdoption { _ in 30 }
        try launch("2.0", adopting: adopting)
        let hotfix = SQLMigration(version: 25, name: "hotfix", sql: "UPDATE book SET title = trim(title)")
        #expect(
            try launch("2.1", [hotfix], adopting: adopting).schemaSteps.map(\.schemaVersions) == [["25"]])
        #expect(try app.titles() == ["Emma"])
    }

    @Test(
        "is not compared again when the app has changed its schema",
        arguments: [SchemaOptions.Policy.refuse, nil])
    func changed(policy: SchemaOptions.Policy?) throws {
        for version in ["2.0", "2.1"] {
            try launch(version, adopting: .matchingSchema, policy) { db in
                try db.execute(sql: "CREATE INDEX by_title ON book(title)")
            }
        }
        #expect(try database.ledger() == [10, 30])
    }

    @Test("is ready for a process that waits, which leaves it without a ledger")
    func waits() throws {
        try launch("2.0", adopting: .matchingSchema)
        try database.execute("DROP TABLE schema_migrations; DROP TABLE schema_migrations_details")
        try launch("2.0", adopting: .matchingSchema, role: .waitsForApp)
        #expect(try !database.tables().contains("schema_migrations"))
    }
}
