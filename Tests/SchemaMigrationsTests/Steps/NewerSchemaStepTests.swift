import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A schema step of a database newer than the app", .timed)
struct NewerSchemaStepTests {
    private let app: App
    private let database: DatabaseQueue

    private static let book = SQLMigration(
        version: 10, name: "book", sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)")
    private static let author = SQLMigration(
        version: 20, name: "author",
        sql: "-- migrations: compatible\nALTER TABLE book ADD COLUMN author TEXT",
        down: "ALTER TABLE book DROP COLUMN author")
    private static let own = SQLMigration(version: 15, name: "own", sql: "CREATE TABLE own(x)")

    init() throws {
        app = try App()
        database = try app.open()
        try launch("2.0", [Self.book, Self.author])
    }

    /// Launches an app with one schema step, which ends with a closure of the version.
    @discardableResult
    private func launch(
        _ version: String, _ migrations: [SQLMigration], _ rule: SchemaOptions.NewerDatabaseRule = .refuse,
        role: MigrationOptions.Role = .migrates
    ) throws -> MigrationReport {
        let options = MigrationOptions(role: role)
        let manager = try app.manager(version, options: options)
        manager.whenMigratingToVersion(
            "1.0", migrate: try SchemaMigrator(migrations: migrations, options: .init(newerDatabases: rule)),
            in: database)
        manager.whenMigratingToVersion("1.0", in: database) { [log = app.log] _ in log.add("step 1.0") }
        return try manager.migrate()
    }

    @Test("goes on in a downgrade if every unknown migration is compatible, and reports it")
    func compatible() throws {
        let report = try launch("1.0", [Self.book])
        #expect(report.launch == .downgrade(from: "2.0"))
        #expect(report.schemaSteps == [])
        #expect(report.newerDatabases.map(\.database) == ["library.sqlite"])
        #expect(report.newerDatabases.map(\.schemaVersions) == [["20"]])
    }

    @Test("undoes them in a downgrade if the options ask for that, and does nothing else")
    func undone() throws {
        let report = try launch("1.0", [Self.book, Self.own], .rollBack)
        #expect(report.launch == .downgrade(from: "2.0"))
        #expect(report.schemaSteps.map(\.undone) == [["20"]])
        #expect(report.schemaSteps.map(\.schemaVersions) == [[]])
        #expect(try app.columns() == ["id", "title"])
        #expect(try database.ledger() == [10])
        #expect(try launch("1.0", [Self.book, Self.own], .rollBack).schemaSteps == [])
        let later = try launch("2.0", [Self.book, Self.own, Self.author])
        #expect(later.schemaSteps.map(\.schemaVersions) == [["15", "20"]])
        #expect(later.returnedFromDowngrade)
    }

    @Test("undoes those of another branch at the same version of the app, and applies its own")
    func branches() throws {
        let report = try launch("2.0", [Self.book, Self.own], .rollBack)
        #expect(report.launch == .relaunch)
        #expect(report.schemaSteps.map(\.undone) == [["20"]])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["15"]])
        #expect(try database.ledger() == [10, 15])
        #expect(app.log.lines == [])
    }

    @Test("throws in a process that waits, which never undoes anything")
    func waits() throws {
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", [Self.book], .rollBack, role: .waitsForApp)
        }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                Library: library.sqlite has had the unknown migrations 20; this process is at 2.0. Leave the data alone \
                until this process has been updated as well.
                """)
        #expect(try database.ledger() == [10, 20])
        #expect(
            try launch("2.0", [Self.book], role: .waitsForApp).newerDatabases.map(\.schemaVersions) == [
                ["20"]
            ])
    }

    @Test("names a database that is too old for the app")
    func tooOld() throws {
        let baseline = SQLMigration(
            version: 30, name: "baseline",
            sql:
                "-- replaces: 10\n-- replaces: 20\n-- replaces: 30\nCREATE TABLE book(id INTEGER PRIMARY KEY)"
        )
        let error = try #require(throws: MigrationError.self) { try launch("3.0", [baseline]) }
        #expect(error.code == .tooOld)
    }
}
