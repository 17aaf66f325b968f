import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A deferred step of a newer build, when an older build undoes its migration", .timed)
struct RestartedStepsTests {
    private let app: App

    private static let note = SQLMigration(
        version: 1, name: "note",
        sql: """
            CREATE TABLE note(id INTEGER PRIMARY KEY, text);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            INSERT INTO note(id) SELECT i FROM n
            """)
    private static let hash = SQLMigration(
        version: 2, name: "hash", sql: "ALTER TABLE note ADD COLUMN hash",
        down: "ALTER TABLE note DROP COLUMN hash")

    init() throws {
        app = try App()
        let database = try app.open()
        try manager("1.0", database).migrate()
        try manager("2.0", database).migrate()
        try database.close()
    }

    /// A manager of 1.0, which rolls back, or of 2.0, which fills a new column.
    ///
    /// - Parameter hasHash: whether the build has the migration.
    private func manager(
        _ version: String, _ database: any DatabaseWriter, name: String = "Library", hasHash: Bool? = nil,
        hasStep: Bool? = nil, step: AppVersion = "2.0", of app: App? = nil
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: name, currentVersion: version, adopting: .newApp,
            store: .jsonFile(at: (app ?? self.app).storeURL))
        let schema = try SchemaMigrator(
            migrations: hasHash ?? (version == "2.0") ? [Self.note, Self.hash] : [Self.note],
            options: SchemaOptions(newerDatabases: .rollBack))
        manager.whenMigratingToVersion("1.0", migrate: schema, in: database)
        if hasStep ?? (version == "2.0") {
            manager.afterMigratingToVersion(step, in: database, overRowsOf: "note") { db, rows in
                try db.execute(
                    literal: "UPDATE note SET hash = 'new' WHERE hash IS NULL AND \(rows.condition)")
            }
        }
        return manager
    }

    /// Runs a batch of the step, and leaves the others.
    private func runBatch(_ database: any DatabaseWriter, by manager: MigrationManager? = nil) throws {
        let manager = try manager ?? self.manager("2.0", database)
        try manager.migrate()
        try manager.runDeferred(while: {
            manager.deferredProgress.cancel()
            return true
        })
    }

    private func rest(_ database: any DatabaseWriter) throws -> Int? {
        try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note WHERE hash IS NULL") }
    }

    /// The ways to undo the migration.
    enum Undoing: CaseIterable {
        case olderBuild, otherBranch, otherManager, migrator, rollback, withoutTransaction
    }

    @Test("begins again, when the migration has come back", arguments: Undoing.allCases)
    func restarted(_ undoing: Undoing) throws {
        let database = try app.open()
        try runBatch(database)
        let left = try #require(try rest(database))
        try #require(left > 0 && left < 1000, "one batch does a part of the rows")
        switch undoing {
        case .olderBuild:
            #expect(try manager("1.0", database).migrate().schemaSteps.map(\.undone) == [["2"]])
        case .otherBranch:
            let branch = try manager("2.0", database, hasHash: false, hasStep: false)
            #expect(try branch.migrate().schemaSteps.map(\.undone) == [["2"]])
        case .otherManager:
            #expect(
                try manager("1.0", database, name: "Schema").migrate().schemaSteps.map(\.undone) == [["2"]])
        case .migrator:
            let options = SchemaOptions(newerDatabases: .rollBack)
            #expect(
                try SchemaMigrator(migrations: [Self.note], options: options).migrate(database).undone == [2])
        case .rollback:
            #expect(
                try SchemaMigrator(migrations: [Self.note, Self.hash]).rollback(database, to: 1) == [2])
        case .withoutTransaction:
            let hash = SQLMigration(
                version: 2, name: "hash", sql: "ALTER TABLE note ADD COLUMN hash",
                down: "-- migrations: transaction=none\nANALYZE")
            #expect(try SchemaMigrator(migrations: [Self.note, hash]).rollback(database, to: 1) == [2])
            try database.write { try $0.execute(sql: "ALTER TABLE note DROP COLUMN hash") }
        }
        #expect(
            try database.read { try $0.columns(in: "note").map(\.name) } == ["id", "text"])
        let returned = try manager("2.0", database)
        try returned.migrate()
        #expect(try returned.runDeferred().pending == [])
        #expect(try rest(database) == 0)
    }

    @Test(
        "goes on where it is, if the build that undoes another migration has the step",
        arguments: [("2.0", "2.0"), ("2.0", "2.0-1"), ("2.0-beta.1", "2.0")] as [(String, AppVersion)])
    func knownStep(version: String, step: AppVersion) throws {
        let app = try App()
        let database = try app.open()
        try manager("1.0", database, of: app).migrate()
        func build() throws -> MigrationManager {
            try manager(version, database, hasHash: true, hasStep: true, step: step, of: app)
        }
        try runBatch(database, by: build())
        let left = try #require(try rest(database))
        #expect(left < 1000)
        let strange = SQLMigration(
            version: 3, name: "strange", sql: "CREATE TABLE strange(x)", down: "DROP TABLE strange")
        try SchemaMigrator(migrations: [Self.note, Self.hash, strange]).migrate(database)
        let report = try build().migrate()
        #expect(report.schemaSteps.map(\.undone) == [["3"]])
        #expect(report.deferred.first?.done == 1000 - left)
    }

    @Test("begins again, if the build that undoes its migration has another step of the same release")
    func stepOfRelease() throws {
        let app = try App()
        let database = try app.open()
        try manager("1.0", database, of: app).migrate()
        try runBatch(database, by: manager("2.0", database, step: "2.0-1", of: app))
        try manager("2.0", database, hasHash: false, hasStep: false, of: app).migrate()
        let returned = try manager("2.0", database, step: "2.0-1", of: app)
        try returned.migrate()
        #expect(try returned.runDeferred().pending == [])
        #expect(try rest(database) == 0)
    }

    @Test("goes on where it is, if the undoing is rolled back")
    func failedUndo() throws {
        let database = try app.open()
        try runBatch(database)
        let left = try rest(database)
        try database.write { try $0.execute(sql: "CREATE INDEX note_hash ON note(hash)") }
        #expect(throws: MigrationError.self) { try manager("1.0", database).migrate() }
        try database.write { try $0.execute(sql: "DROP INDEX note_hash") }
        let returned = try manager("2.0", database)
        let waiting = try returned.migrate().deferred.first
        #expect(waiting?.done == left.map { 1000 - $0 })
    }
}
