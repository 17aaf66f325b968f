import AppMigrations
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("An adoption from GRDB's migrator", .timed)
struct GRDBAdoptionTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    /// Migrates a database with the migrations, of which some merge others, and then adopts it.
    private func adopt(
        _ identifiers: [String], merging: [String: Set<String>] = [:], by adoption: SchemaAdoption
    ) throws -> [SchemaVersion] {
        var migrator = DatabaseMigrator()
        for identifier in identifiers {
            migrator.registerMigration(identifier, merging: merging[identifier] ?? []) { db, _ in
                try db.execute(sql: "CREATE TABLE \(identifier)(x)")
            }
        }
        try migrator.migrate(queue)
        let schema = try folder.migrator(
            ["10_a.sql": "SELECT 1", "20_b.sql": "SELECT 2", "30_c.sql": "SELECT 3"], adopting: adoption)
        return try schema.migrate(queue).applied
    }

    @Test("takes a database for new if GRDB's first migration has failed, unless there is another table")
    func nothingApplied() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE v1(x); SELECT nonsense") }
        #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
        #expect(try queue.tables() == ["grdb_migrations"])
        let adoption = SchemaAdoption.grdbMigrations(means: ["v1": 10])
        try queue.execute("CREATE TABLE other(x)")
        #expect(throws: MigrationError.self) { try adopt([], by: adoption) }
        try queue.execute("DROP TABLE other")
        #expect(try queue.read { try GRDBHistory($0).identifiers } == [])
        #expect(try adopt([], by: adoption) == [10, 20, 30])
    }

    @Test("of a database in which GRDB's first migration has failed makes a manager's install fresh")
    func freshInstall() throws {
        let app = try App()
        let database = try app.open()
        try database.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let manager = try app.manager("2.0", adopting: .databaseHasTables(database, means: "1.0"))
        manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
        manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in log.add("step") }
        let report = try manager.migrate()
        #expect(report.launch == .freshInstall)
        #expect(app.log.lines == [])
    }

    @Test("by one file for several migrations needs each of them")
    func oneFile() throws {
        let adoption = SchemaAdoption.grdbMigrations(means: ["createBook": 10, "addTitle": 10])
        let error = try failure { _ = try adopt(["createBook"], by: adoption) }
        #expect(
            error.description == """
                The table grdb_migrations holds createBook, but not addTitle, which version 10 contains. Migrate the \
                database with GRDB's migrator first; or, if another migration has merged the missing one, pass that as \
                merging: to the adoption. Nothing was changed.
                """)
        #expect(try adopt(["createBook", "addTitle"], by: adoption) == [20, 30])
    }

    @Test(
        "knows the migrations that were merged, before and after that",
        arguments: [
            (["v1", "v2", "v3"], [:], [SchemaVersion]()),
            (["v3"], ["v3": ["v1", "v2"]], []),
            (["v1", "v2"], [:], [30]),
            (["v4"], ["v4": ["v3"]], []),
        ] as [([String], [String: Set<String>], [SchemaVersion])])
    func merged(identifiers: [String], merging: [String: Set<String>], expected: [SchemaVersion]) throws {
        let adoption = SchemaAdoption.grdbMigrations(
            means: ["v1": 10, "v2": 20, "v3": 30, "v4": 30], merging: ["v4": ["v3"], "v3": ["v1", "v2"]])
        // Before the merge, there was no v4.
        let earlier = SchemaAdoption.grdbMigrations(
            means: ["v1": 10, "v2": 20, "v3": 30], merging: ["v3": ["v1", "v2"]])
        #expect(
            try adopt(identifiers, merging: merging, by: identifiers.contains("v4") ? adoption : earlier)
                == expected)
    }

    @Test("needs no version for what was merged, unless the one that has merged it is missing")
    func heir() throws {
        let adoption = SchemaAdoption.grdbMigrations(means: ["v3": 30], merging: ["v3": ["v1", "v2"]])
        let error = try failure { _ = try adopt(["v1"], by: adoption) }
        #expect(
            error.description.hasPrefix(
                "The table grdb_migrations holds v1, but not v3, which has merged it."))
        #expect(try adopt(["v1", "v2", "v3"], by: adoption) == [])
    }

    @Test(
        "takes one that has merged others for applied where all of these are, and it has no version of its own",
        arguments: [
            (["v3": 30], [], [SchemaVersion]()),
            (["v1": 10, "v2": 20, "v3": 20], [], [30]),
            (["v1": 10, "v2": 20, "v3": 30], [], [30]),
            (["v1": 10, "v2": 20], ["v3"], [30]),
        ] as [([String: SchemaVersion], Set<String>, [SchemaVersion])])
    func allMerged(means: [String: SchemaVersion], ignoring: Set<String>, applied: [SchemaVersion]) throws {
        let adoption = SchemaAdoption.grdbMigrations(
            means: means, merging: ["v3": ["v1", "v2"]], ignoring: ignoring)
        #expect(try adopt(["v1", "v2"], by: adoption) == applied)
    }

    @Test(
        "takes one that has merged others by way of a third for applied, unless its version says more",
        arguments: [
            (["v4": 30], []), (["v1": 10, "v4": 30], []), (["v1": 10, "v2": 20, "v4": 30], [30]),
        ] as [([String: SchemaVersion], [SchemaVersion])])
    func mergedByWay(means: [String: SchemaVersion], applied: [SchemaVersion]) throws {
        let adoption = SchemaAdoption.grdbMigrations(
            means: means, merging: ["v3": ["v1", "v2"], "v4": ["v3"]])
        #expect(try adopt(["v1", "v2"], by: adoption) == applied)
    }

    @Test("marks no file between two others for which no identifier stands")
    func unknownFile() throws {
        let adoption = SchemaAdoption.grdbMigrations(means: ["createBook": 10, "addTitle": 30])
        let error = try failure { _ = try adopt(["createBook", "addTitle"], by: adoption) }
        #expect(
            error.description == """
                No identifier in `means:` stands for 20_b.sql, so nothing says whether it was applied. If it has not shipped, \
                give it a version above 30. If a migration of GRDB's migrator makes the same change, map its identifier to it; if \
                that one makes the changes of several files, invent an identifier for each of the others, and pass it as merging: \
                of that one. Nothing was changed.
                """)
        #expect(try queue.strings("SELECT name FROM sqlite_master WHERE name = 'schema_migrations'") == [])
        let split = SchemaAdoption.grdbMigrations(
            means: ["createBook": 10, "addTitle, first file": 20, "addTitle": 30],
            merging: ["addTitle": ["addTitle, first file"]])
        #expect(try adopt([], by: split) == [])
    }

    @Test("marks none because of a migration that has merged others, and that the database has not had")
    func unknownFileBelowMerged() throws {
        let adoption = SchemaAdoption.grdbMigrations(
            means: ["createBook": 10, "addTitle": 30, "all": 40], merging: ["all": ["draft"]])
        let error = try failure { _ = try adopt(["createBook", "addTitle"], by: adoption) }
        #expect(error.message.hasPrefix("No identifier in `means:` stands for 20_b.sql"), "\(error)")
    }

    @Test("marks the file of a migration that was merged twice, where the one between was never applied")
    func mergedTwice() throws {
        let adoption = SchemaAdoption.grdbMigrations(
            means: ["v1": 10, "v3": 30, "v5": 30], merging: ["v3": ["v2"], "v5": ["v3"]])
        #expect(try adopt(["v1", "v5"], merging: ["v5": ["v3"]], by: adoption) == [])
    }

    @Test("marks files from before GRDB's migrator, and runs those after it")
    func earlierFile() throws {
        #expect(
            try adopt(["createBook"], by: .grdbMigrations(means: ["createBook": 20, "addTitle": 40])) == [30])
    }

    @Test("leaves out migrations that were removed")
    func removed() throws {
        let adoption = SchemaAdoption.grdbMigrations(means: ["v1": 10, "v2": 20], ignoring: ["draft"])
        #expect(try adopt(["v1", "draft", "v2"], by: adoption) == [30])
    }

    @Test(
        "lets people go back to GRDB's migrator if a step records its identifiers", arguments: [true, false])
    func goingBack(isFresh: Bool) throws {
        let app = try App()
        let database = try app.open()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") {
            try $0.execute(sql: "CREATE TABLE a(cents); INSERT INTO a VALUES (1)")
        }
        if !isFresh { try migrator.migrate(database) }
        migrator.registerMigration("v2") { try $0.execute(sql: "UPDATE a SET cents = cents * 100") }
        let schema = try app.folder.migrator(
            [
                "10_a.sql": "CREATE TABLE a(cents); INSERT INTO a VALUES (1)",
                "20_b.sql": "UPDATE a SET cents = cents * 100",
            ], adopting: .grdbMigrations(means: ["v1": 10, "v2": 20]))
        let manager = try app.manager("2.0", adopting: .databaseHasTables(database, means: "1.0"))
        manager.whenMigratingToVersion(migrate: schema, in: database)
        manager.whenMigratingToVersion("2.0", in: database, onFreshInstall: .run) { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT OR IGNORE INTO grdb_migrations VALUES ('v1'), ('v2');
                    """)
        }
        try manager.migrate()
        try migrator.migrate(database)
        #expect(try database.strings("SELECT cents FROM a") == ["100"])
    }

    @Test("by user_version reads the number 0 of an app whose numbers began later")
    func zero() throws {
        try queue.execute("CREATE TABLE a(x)")
        let schema = try folder.migrator(
            ["10_a.sql": "CREATE TABLE a(x)", "20_b.sql": "CREATE TABLE b(x)"],
            adopting: .userVersion(means: [0: 10, 1: 20]))
        #expect(try schema.migrate(queue).applied == [20])
    }
}
