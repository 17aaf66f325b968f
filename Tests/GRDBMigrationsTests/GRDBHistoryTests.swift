import AppMigrations
import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A schema step by GRDB's migrator, in a database with unknown migrations", .timed)
struct GRDBHistoryTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    private func launch(
        _ version: String, _ identifiers: [String], merging: [String: Set<String>] = [:],
        ignoring removed: Set<String> = []
    ) throws -> [String] {
        var migrator = DatabaseMigrator()
        for identifier in identifiers {
            migrator.registerMigration(identifier, merging: merging[identifier] ?? []) { db, _ in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(identifier)(x)")
            }
        }
        let manager = try app.manager(version)
        manager.whenMigratingToVersion("1.0", migrate: migrator, ignoring: removed, in: database)
        return try manager.migrate().schemaSteps.flatMap(\.schemaVersions)
    }

    @Test("goes on without those that a later release left out")
    func removed() throws {
        _ = try launch("1.0", ["v1", "draft", "v2", "trial", "v3"])
        #expect(try launch("2.0", ["v1", "v2", "v3", "v4"]) == ["v4"])
        // Also once an optimisation has written the table anew.
        try database.vacuum()
        #expect(try launch("3.0", ["v1", "v2", "v3", "v4", "v5"]) == ["v5"])
    }

    @Test("goes on without the last one of a release, if the app names it")
    func named() throws {
        _ = try launch("1.0", ["v1", "v2"])
        let error = try #require(throws: MigrationError.self) { try launch("2.0", ["v1", "v3"]) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                Library: library.sqlite: The database has had v2, which GRDB's migrator does not know. If a newer version of \
                the app has migrated it, update the app. If this version left migrations out, pass their identifiers as \
                ignoring: to the schema step. If another migrator has applied them, register them in this one: a database has \
                one migrator. Nothing was changed.
                """)
        #expect(try launch("2.0", ["v1", "v3"], ignoring: ["v2"]) == ["v3"])
        #expect(try launch("3.0", ["v1", "v3", "v4"]) == ["v4"])
    }

    @Test("refuses what a newer release has merged, whose parts would run again")
    func merged() throws {
        _ = try launch("2.0", ["m", "v3"], merging: ["m": ["v1", "v2"]])
        #expect(throws: MigrationError.self) { try launch("2.1", ["v1", "v2", "v3"]) }
        #expect(try database.tables().filter { $0.hasPrefix("v") } == ["v3"])
    }
}

@Suite("The progress of a schema step by GRDB's migrator", .timed)
struct GRDBProgressTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    private func manager(
        _ migrations: [(String, @Sendable (Database) throws -> Void)]
    ) throws -> MigrationManager {
        var migrator = DatabaseMigrator()
        for (identifier, migrate) in migrations {
            migrator.registerMigration(identifier, migrate: migrate)
        }
        let manager = try app.manager("1.0", adopting: .databaseHasTables(database, means: "1.0"))
        manager.whenMigratingToVersion("1.0", migrate: migrator, in: database)
        return manager
    }

    private func applied() throws -> [String] {
        try database.strings("SELECT identifier FROM grdb_migrations ORDER BY rowid")
    }

    @Test("grows with each migration, those that are out of order too")
    func progress() throws {
        var early = DatabaseMigrator()
        early.registerMigration("v2") { try $0.execute(sql: "CREATE TABLE a(x)") }
        try early.migrate(database)
        let seen = Locked<[Double]>([])
        let progress = Locked<Progress?>(nil)
        let manager = try manager(
            ["v1", "v2", "v3", "v4", "v5"].map { identifier in
                (
                    identifier,
                    { _ in
                        let fraction = progress.withLock { $0?.fractionCompleted ?? -1 }
                        seen.withLock { $0.append(fraction) }
                    }
                )
            })
        progress.withLock { $0 = manager.progress }
        #expect(try manager.migrate().schemaSteps.map(\.schemaVersions) == [["v1", "v3", "v4", "v5"]])
        #expect(seen.withLock { $0 } == [0, 0.25, 0.5, 0.75])
        #expect(manager.progress.fractionCompleted == 1)
    }

    @Test("grows within a migration that reports its own, and a failure leaves nothing of it")
    func within() throws {
        let seen = Locked<[Double]>([])
        let progress = Locked<Progress?>(nil)
        let fails = Locked(true)
        let manager = try manager([
            ("v1", { try $0.execute(sql: "CREATE TABLE a(x)") }),
            (
                "v2",
                { db in
                    db.migrationProgress.totalUnitCount = 4
                    for _ in 1...3 {
                        db.migrationProgress.completedUnitCount += 1
                        let fraction = progress.withLock { $0?.fractionCompleted ?? -1 }
                        seen.withLock { $0.append(fraction) }
                    }
                    if fails.withLock({ $0 }) { throw DatabaseError(message: "half way") }
                }
            ),
        ])
        progress.withLock { $0 = manager.progress }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(seen.withLock { $0 } == [0.625, 0.75, 0.875])
        fails.withLock { $0 = false }
        seen.withLock { $0 = [] }
        try manager.migrate()
        #expect(seen.withLock { $0 } == [0.25, 0.5, 0.75])
        #expect(manager.progress.fractionCompleted == 1)
    }

    @Test("within a migration may be given any numbers, and is nobody's where GRDB runs it alone")
    func anyNumbers() throws {
        let migrations: [(String, @Sendable (Database) throws -> Void)] = [
            (
                "v1",
                { db in
                    db.migrationProgress.totalUnitCount = 0
                    db.migrationProgress.completedUnitCount = .max
                    db.migrationProgress.totalUnitCount = .max
                    db.migrationProgress.completedUnitCount = -1
                }
            )
        ]
        let manager = try manager(migrations)
        try manager.migrate()
        #expect(manager.progress.fractionCompleted == 1)
        var alone = DatabaseMigrator()
        alone.registerMigration("v1", migrate: migrations[0].1)
        try alone.migrate(DatabaseQueue())
    }

    @Test("stops between two migrations when it is cancelled, and goes on from there")
    func betweenTwo() throws {
        let progress = Locked<Progress?>(nil)
        let log = app.log
        let migrations: [(String, @Sendable (Database) throws -> Void)] = ["v1", "v2", "v3"].map {
            identifier in
            (
                identifier,
                { _ in
                    log.add(identifier)
                    if identifier == "v2" { progress.withLock { $0?.cancel() } }
                }
            )
        }
        let first = try manager(migrations)
        progress.withLock { $0 = first.progress }
        #expect(throws: (any Error).self) { try first.migrate() }
        #expect(try applied() == ["v1", "v2"])
        #expect(log.lines == ["v1", "v2"])
        progress.withLock { $0 = nil }
        #expect(try manager(migrations).migrate().schemaSteps.map(\.schemaVersions) == [["v3"]])
        #expect(log.lines == ["v1", "v2", "v3"])
    }

    @Test("stops inside a statement when it is cancelled, and commits nothing of that migration")
    func inside() throws {
        let progress = Locked<Progress?>(nil)
        let manager = try manager([
            ("v1", { try $0.execute(sql: "CREATE TABLE a(x)") }),
            (
                "v2",
                { db in
                    try db.execute(sql: "CREATE TABLE b(x)")
                    progress.withLock { $0?.cancel() }
                    // A migration may take the error for something else.
                    _ = try? Int.fetchOne(
                        db,
                        sql:
                            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                    )
                }
            ),
        ])
        progress.withLock { $0 = manager.progress }
        #expect(throws: CancellationError.self) { try manager.migrate() }
        #expect(try applied() == ["v1"])
        #expect(try database.tables().contains("b") == false)
        #expect(
            try database.read { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") } == 1)
    }
}
