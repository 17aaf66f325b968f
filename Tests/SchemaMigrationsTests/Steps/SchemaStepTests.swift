import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Registering schema steps refuses", .timed)
struct MoveRegistrationTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    func mistakes(_ register: (MigrationManager) throws -> Void) throws -> String {
        let manager = try app.manager("2.0")
        try register(manager)
        return try #require(throws: MigrationError.self) { try manager.migrate() }.description
    }

    @Test("a schema step to an unknown schema version")
    func unknown() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion(
                "2.0", migrate: try app.schema(), upTo: 11, in: database, fileID: "App/Migrations.swift",
                line: 3)
        }
        #expect(
            text
                == "Library: schema step 2.0 goes up to 11, which no migration has (Migrations.swift:3). The latest is 20."
        )
    }

    @Test("a schema step below an earlier one")
    func below() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion("1.0", migrate: try app.schema(), upTo: 20, in: database)
            manager.whenMigratingToVersion(
                "2.0", migrate: try app.schema(), upTo: 12, in: database, fileID: "App/Migrations.swift",
                line: 3)
        }
        #expect(
            text == """
                Library: schema step 2.0 goes up to 12, below an earlier schema step's 20 (Migrations.swift:3). A schema step never goes \
                down: name the version of the schema step before it, or a later one.
                """)
    }

    @Test("files that no schema step reaches, and names them")
    func forgotten() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion(
                "1.0", migrate: try app.schema(), upTo: 10, in: database, fileID: "App/Migrations.swift",
                line: 3)
        }
        #expect(
            text == """
                Library: schema step 1.0 is the last one for library.sqlite, and does not reach SQL, SQL \
                (Migrations.swift:3). Raise its upTo:, or register a schema step for the version that brings it.
                """)
    }

    @Test("another set of migrations for the same database, even in another connection")
    func sets() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion("1.0", migrate: try app.schema([10, 12]), in: database)
            manager.whenMigratingToVersion(
                "2.0", migrate: try app.schema([10, 20]), in: try app.open(), fileID: "App/Migrations.swift",
                line: 3)
        }
        #expect(
            text == """
                Library: schema step 2.0 brings library.sqlite forward by another set of migrations (Migrations.swift:3). \
                One database has one set: put all migrations into one migrator.
                """)
    }

    @Test("two schema steps of the same version in the same database")
    func twice() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion(
                "1.0", migrate: try app.schema(), in: database, fileID: "App/Migrations.swift", line: 3)
            manager.whenMigratingToVersion(
                "1.0", migrate: try app.schema(), in: database, fileID: "App/Migrations.swift", line: 4)
        }
        #expect(
            text == """
                Library: schema step 1.0 is registered twice, first at Migrations.swift:3 (Migrations.swift:4). A version \
                has at most one schema step for each database.
                """)
    }
}

@Suite("A move", .timed)
struct SchemaStepTests {
    @Test("records the app's version in the ledger, and reports problems that existed before")
    func noted() throws {
        let app = try App()
        let database = try app.open()
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(
                sql: """
                    CREATE TABLE author(id INTEGER PRIMARY KEY);
                    CREATE TABLE work(author REFERENCES author(id));
                    INSERT INTO work VALUES (7);
                    """)
        }
        let schema = try SchemaMigrator(
            migrations: [
                SQLMigration(version: 1, name: "begin", sql: "-- made before"),
                SQLMigration(version: 2, name: "rename", sql: "CREATE INDEX work_author ON work(author)"),
            ], adopting: SchemaAdoption { _ in 1 })
        let manager = try app.manager("2.0", adopting: Adoption { "1.0" })
        manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
        let schemaStep = try #require(try manager.migrate().schemaSteps.first)
        #expect(schemaStep.schemaVersions == ["2"])
        #expect(schemaStep.warnings == ["1 row of table work whose author refers to no row of author."])
        let history = try database.read(AppliedMigration.fetchAll)
        #expect(history.map(\.version) == [1, 2])
        #expect(history.map(\.origin) == [.marked, .applied])
        #expect(history.map(\.appVersion) == [nil, "2.0"])
    }
}
