import AppMigrations
import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A schema step by GRDB's migrator", .timed)
struct GRDBSchemaStepTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
    }

    private func migrator(_ identifiers: [String] = ["v1", "v2", "v3"]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for identifier in identifiers {
            migrator.registerMigration(identifier) { db in
                try db.execute(sql: "CREATE TABLE \(identifier)(x)")
            }
        }
        return migrator
    }

    private func tables() throws -> [String] {
        try database.strings("SELECT name FROM sqlite_master WHERE name LIKE 'v_' ORDER BY name")
    }

    private func mistakes(_ register: (MigrationManager) throws -> Void) throws -> String {
        let manager = try app.manager("2.0")
        try register(manager)
        return try #require(throws: MigrationError.self) { try manager.migrate() }.description
    }

    @Test("migrates the database to the named migration in the registered version")
    func schemaSteps() throws {
        let first = try app.manager("1.0")
        first.whenMigratingToVersion("1.0", migrate: migrator(["v1"]), upTo: "v1", in: database)
        #expect(
            try first.migrate().schemaSteps.texts == [
                "Library: schema step 1.0 in library.sqlite: v1"
            ])
        let second = try app.manager("2.0")
        second.whenMigratingToVersion("1.0", migrate: migrator(), upTo: "v1", in: database)
        second.whenMigratingToVersion("1.5", migrate: migrator(), upTo: "v2", in: database)
        second.whenMigratingToVersion("2.0", migrate: migrator(), in: database)
        let pending = try second.pending()
        #expect(
            pending.map(\.work.description) == [
                "Library: schema step 1.5 in library.sqlite", "Library: schema step 2.0 in library.sqlite",
            ])
        #expect(pending.map(\.schemaVersions) == [["v2"], ["v3"]])
        #expect(try tables() == ["v1"])
        #expect(
            try second.migrate().schemaSteps.texts == [
                "Library: schema step 1.5 in library.sqlite: v2",
                "Library: schema step 2.0 in library.sqlite: v3",
            ])
        #expect(try tables() == ["v1", "v2", "v3"])
        #expect(try second.pendingSchemaSteps() == [])
        #expect(
            try database.strings("SELECT identifier FROM grdb_migrations ORDER BY identifier") == [
                "v1", "v2", "v3",
            ])
    }

    @Test("names the migration that failed, in the error, in its summary and in the event")
    func failure() throws {
        var migrator = migrator(["v1", "v2"])
        migrator.registerMigration("addPages") { try $0.execute(sql: "ALTER TABLE bok ADD COLUMN pages") }
        let events = BridgeLog()
        let manager = try app.manager("2.0", options: MigrationOptions(onEvent: { events.add("\($0)") }))
        manager.whenMigratingToVersion(
            "2.0", migrate: migrator, in: database, fileID: "App/Migrations.swift", line: 7)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        let text =
            "schema step 2.0 (Migrations.swift:7) failed: migration `addPages` failed: SQLite error 1: no such table: bok"
        #expect(error.description.contains(text), "\(error)")
        #expect(error.debugDescription.contains("addPages"))
        #expect(error.facts.migration == "addPages")
        #expect(events.lines.contains { $0.contains("migration `addPages` failed") })
        #expect(try tables() == ["v1", "v2"])
        #expect(try database.strings("SELECT identifier FROM grdb_migrations") == ["v1", "v2"])
    }

    @Test("does not say of a migration that has committed by itself that it was rolled back")
    func committed() throws {
        var migrator = migrator(["v1"])
        migrator.registerMigration("commits") { try $0.execute(sql: "CREATE TABLE kept(a); COMMIT") }
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("2.0", migrate: migrator, in: database)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.message.contains("The migration ended the transaction that it ran in"), "\(error)")
        #expect(!error.message.contains("rolled back"))
        #expect(try database.strings("SELECT name FROM sqlite_master WHERE name = 'kept'") == ["kept"])
    }

    @Test("needs no version, and then comes first and is called by its kind")
    func withoutVersion() throws {
        let events = BridgeLog()
        func launch(_ version: String, _ migrator: DatabaseMigrator) throws -> MigrationReport {
            let manager = try app.manager(
                version, options: MigrationOptions(onEvent: { events.add("\($0)") }))
            manager.whenMigratingToVersion(
                migrate: migrator, in: database, fileID: "App/Migrations.swift", line: 7)
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                try db.execute(sql: "INSERT INTO v1 VALUES (1)")
            }
            return try manager.migrate()
        }
        let first = try launch("1.0", migrator(["v1"]))
        #expect(first.schemaSteps.texts == ["Library: schema step in library.sqlite: v1"])
        #expect(first.completed.versions == ["1.0"])
        #expect(first.schemaSteps.map(\.work.version) == ["0"])
        let second = try launch("2.0", migrator())
        #expect(second.launch == .upgrade(from: "1.0"))
        #expect(second.schemaSteps.texts == ["Library: schema step in library.sqlite: v2, v3"])
        var failing = migrator()
        failing.registerMigration("addPages") { try $0.execute(sql: "ALTER TABLE bok ADD COLUMN pages") }
        let error = try #require(throws: MigrationError.self) { try launch("2.0", failing) }
        #expect(error.version == nil)
        let report = error as NSError
        #expect(report.code == 530_737_010)
        #expect(report.userInfo["migration"] as? String == "addPages")
        #expect(
            error.description.hasPrefix(
                "Library: schema step (Migrations.swift:7) failed: migration `addPages` failed: SQLite error 1"
            ))
        #expect(try launch("2.0", migrator()).schemaSteps.isEmpty)
        #expect(events.lines.contains { $0.contains("schema step") })
        #expect(events.lines.allSatisfy { !$0.contains("schema step 0") }, "\(events.lines)")

        let text = try mistakes { manager in
            manager.whenMigratingToVersion("1.0", in: database) { _ in }
            manager.whenMigratingToVersion(
                migrate: migrator(), in: database, fileID: "App/Migrations.swift", line: 7)
        }
        #expect(
            text == """
                Library: schema step is registered after 1.0 (Migrations.swift:7). Register a schema step without a version before \
                the other steps of its database.
                """)
    }

    @Test("adopts a database that GRDB's migrator has migrated without a manager")
    func takesOver() throws {
        try migrator().migrate(database, upTo: "v2")
        let undecided = try app.manager("2.0")
        undecided.whenMigratingToVersion("2.0", migrate: migrator(), in: database)
        #expect(try #require(throws: MigrationError.self) { try undecided.migrate() }.code == .undecided)
        let manager = try app.manager(
            "2.0", adopting: .databaseHasTables(database, means: "1.0"))
        manager.whenMigratingToVersion("2.0", migrate: migrator(), in: database)
        #expect(
            try manager.migrate().schemaSteps.texts == [
                "Library: schema step 2.0 in library.sqlite: v3"
            ])
    }

    @Test(
        "runs beside a table `schema_migrations` of another tool, which counts as one of the app's",
        arguments: [
            ("name TEXT PRIMARY KEY", "'001'"), ("version TEXT PRIMARY KEY", "'001'"),
            ("version uint64, dirty bool", "1, 1"),
        ], [true, false])
    func otherLedger(table: (String, String), isAlone: Bool) throws {
        let (columns, values) = table
        if !isAlone { try migrator().migrate(database, upTo: "v1") }
        try database.execute("CREATE TABLE schema_migrations(\(columns))")
        try database.execute("INSERT INTO schema_migrations VALUES (\(values))")
        let undecided = try app.manager("2.0")
        undecided.whenMigratingToVersion("2.0", migrate: migrator(), in: database)
        #expect(try #require(throws: MigrationError.self) { try undecided.migrate() }.code == .undecided)
        let all = isAlone ? ["v1", "v2", "v3"] : ["v2", "v3"]
        for (version, applied) in [("2.0", [all]), ("2.0", []), ("1.0", [])] {
            let manager = try app.manager(version, adopting: .databaseHasTables(database, means: "1.0"))
            manager.whenMigratingToVersion(migrate: migrator(), in: database)
            #expect(try manager.migrate().schemaSteps.map(\.schemaVersions) == applied)
        }
    }

    @Test(
        "notices that another process creates the table of migrations while it looks for it", arguments: 1...6
    )
    func simultaneous(statement: Int) throws {
        let other = try app.open()
        let count = Locked(0)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // The statement that is traced has not begun to read.
            db.trace { event in
                let number = count.withLock { count in
                    count += event.description.contains("sqlite_master") ? 1 : 0
                    return count
                }
                guard number == statement else { return }
                // Fails if the connection is writing already.
                try? other.write {
                    try $0.execute(sql: "CREATE TABLE grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY)")
                }
            }
        }
        let database = try DatabaseQueue(path: app.databaseURL.path, configuration: configuration)
        let manager = try app.manager(
            "1.0", adopting: .databaseHasTables(database, means: "1.0"))
        manager.whenMigratingToVersion("1.0", migrate: migrator(), in: database)
        #expect(try manager.migrate().schemaSteps.map(\.schemaVersions) == [["v1", "v2", "v3"]])
        #expect(try tables() == ["v1", "v2", "v3"])
    }

    @Test("a schema step to an unknown migration is refused")
    func unknown() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion(
                "2.0", migrate: migrator(), upTo: "v4", in: database, fileID: "App/Migrations.swift", line: 3)
        }
        #expect(
            text
                == "Library: schema step 2.0 goes up to v4, which no migration has (Migrations.swift:3). The latest is v3."
        )
        #expect(try tables() == [])
    }

    @Test("below an earlier schema step is refused")
    func below() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion("1.0", migrate: migrator(), upTo: "v3", in: database)
            manager.whenMigratingToVersion(
                "2.0", migrate: migrator(), upTo: "v2", in: database, fileID: "App/Migrations.swift", line: 3)
        }
        #expect(
            text == """
                Library: schema step 2.0 goes up to v2, below an earlier schema step's v3 (Migrations.swift:3). A schema step never goes \
                down: name the version of the schema step before it, or a later one.
                """)
    }

    @Test("that is the last one must reach every migration")
    func forgotten() throws {
        let text = try mistakes { manager in
            manager.whenMigratingToVersion(
                "2.0", migrate: migrator(), upTo: "v1", in: database, fileID: "App/Migrations.swift", line: 3)
        }
        #expect(
            text == """
                Library: schema step 2.0 is the last one for library.sqlite, and does not reach v2, v3 \
                (Migrations.swift:3). Raise its upTo:, or register a schema step for the version that brings it.
                """)
    }

    @Test(
        "cannot be mixed with schema steps by a SchemaMigrator in the same database",
        arguments: [true, false])
    func mixed(isFirst: Bool) throws {
        let text = try mistakes { manager in
            if isFirst { manager.whenMigratingToVersion("1.0", migrate: migrator(), in: database) }
            manager.whenMigratingToVersion(
                isFirst ? "2.0" : "1.0", migrate: try app.schema(), in: database,
                fileID: "App/Migrations.swift",
                line: isFirst ? 3 : 2)
            if !isFirst {
                manager.whenMigratingToVersion(
                    "2.0", migrate: migrator(), in: database, fileID: "App/Migrations.swift", line: 3)
            }
        }
        #expect(
            text == """
                Library: schema step 2.0 brings library.sqlite forward by another set of migrations (Migrations.swift:3). \
                One database has one set: put all migrations into one migrator.
                """)
    }

    @Test("refuses a database that a newer app has migrated")
    func superseded() throws {
        try migrator().migrate(database)
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("2.0", migrate: migrator(["v1", "v2"]), in: database)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                Library: library.sqlite: The database has had v3, which GRDB's migrator does not know. If a newer version of \
                the app has migrated it, update the app. If this version left migrations out, pass their identifiers as \
                ignoring: to the schema step. If another migrator has applied them, register them in this one: a database has \
                one migrator. Nothing was changed.
                """)
    }

    /// Launches a version of the app in which files have taken the place of GRDB's migrator.
    private func launchFiles(_ version: String, header: String = "") throws {
        let schema = try app.folder.migrator(
            ["10_v1.sql": "CREATE TABLE v1(x)", "20_drop.sql": "\(header)CREATE TABLE note(text)"],
            adopting: .grdbMigrations(means: ["v1": 10]))
        let manager = try app.manager(version)
        manager.whenMigratingToVersion(migrate: schema, in: database)
        try manager.migrate()
    }

    @Test(
        "refuses a database in which a newer app has replaced GRDB's migrator by files",
        arguments: [true, false])
    func replacedByFiles(isNew: Bool) throws {
        if !isNew { _ = try launch("1.0", ["v1"], compatible: []) }
        try launchFiles("2.0")
        let error = try #require(throws: MigrationError.self) { try launch("1.0", ["v1"], compatible: []) }
        #expect(error.code == .newerThanThisProcess)
        let titles = isNew ? "10_v1, 20_drop" : "20_drop"
        #expect(error.description.contains("has had \(titles), which GRDB's migrator"), "\(error)")
        #expect(try tables() == ["v1"])

        let manager = try app.manager("1.0")
        manager.whenMigratingToVersion(
            migrate: migrator(["v1"]), newerDatabases: .allow, in: database)
        let report = try manager.migrate()
        #expect(report.newerDatabases.map(\.schemaVersions) == [titles.components(separatedBy: ", ")])
    }

    @Test("goes on in a database that has had compatible files, or files of the same version of the app")
    func usableFiles() throws {
        _ = try launch("1.0", ["v1"], compatible: [])
        try launchFiles("2.0", header: "-- migrations: compatible\n")
        #expect(try launch("1.0", ["v1"], compatible: []).launch == .downgrade(from: "2.0"))
        let report = try launch("2.0", ["v1", "v2"], compatible: [])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["v2"]])
    }

    @Test("goes on in a newer database if the app asks for that, and reports it")
    func allowed() throws {
        func launch(_ migrator: DatabaseMigrator) throws -> MigrationReport {
            let manager = try app.manager("2.0")
            manager.whenMigratingToVersion("2.0", migrate: migrator, newerDatabases: .allow, in: database)
            return try manager.migrate()
        }
        #expect(try launch(migrator()).newerDatabases == [])
        let report = try launch(migrator(["v1", "v2"]))
        #expect(report.schemaSteps == [])
        #expect(report.newerDatabases.map(\.schemaVersions) == [["v3"]])
    }

    /// Launches an app that says which of its migrations older builds can live with.
    private func launch(_ version: String, _ identifiers: [String], compatible: Set<String>) throws
        -> MigrationReport
    {
        let manager = try app.manager(version)
        manager.whenMigratingToVersion(migrate: migrator(identifiers), compatible: compatible, in: database)
        return try manager.migrate()
    }

    @Test("goes on in a newer database if it has only had compatible migrations, and reports them")
    func compatible() throws {
        _ = try launch("1.0", ["v1"], compatible: [])
        _ = try launch("2.0", ["v1", "v2"], compatible: ["v2"])
        let report = try launch("1.0", ["v1"], compatible: [])
        #expect(report.launch == .downgrade(from: "2.0"))
        #expect(report.newerDatabases.map(\.schemaVersions) == [["v2"]])

        _ = try launch("3.0", ["v1", "v2", "v3"], compatible: ["v2"])
        let error = try #require(throws: MigrationError.self) { try launch("1.0", ["v1"], compatible: []) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description.contains("The database has had v2, v3, which GRDB's migrator does not know."))
    }

    @Test("learns of compatible migrations from a later build, or after a crash")
    func latelyCompatible() throws {
        _ = try launch("2.0", ["v1", "v2"], compatible: [])
        #expect(throws: MigrationError.self) { try launch("1.0", ["v1"], compatible: []) }
        let report = try launch("2.0", ["v1", "v2"], compatible: ["v2"])
        #expect(report.schemaSteps.allSatisfy { $0.schemaVersions.isEmpty })
        #expect(try launch("1.0", ["v1"], compatible: []).newerDatabases.count == 1)
        let changes = try database.read { try Int.fetchOne($0, sql: "PRAGMA data_version") }
        _ = try launch("2.0", ["v1", "v2"], compatible: ["v2"])
        _ = try launch("2.0", ["v1", "v2"], compatible: ["v2"])
        #expect(try database.read { try Int.fetchOne($0, sql: "PRAGMA data_version") } == changes)
    }

    @Test("cannot roll back, which is a mistake in the registration")
    func rollingBack() throws {
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion(
            "2.0", migrate: migrator(), newerDatabases: .rollBack, in: database,
            fileID: "App/Migrations.swift", line: 3)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .misuse)
        #expect(
            error.description == """
                Library: schema step 2.0 asks GRDB's migrator to roll back, which it cannot (Migrations.swift:3). Pass \
                newerDatabases: .refuse or .allow.
                """)
    }

    @Test("waits for a connection that writes between two migrations, though the app's own would not")
    func otherWriter() throws {
        let other = try DatabaseQueue(path: database.path)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { db in
            try db.execute(sql: "CREATE TABLE a(x)")
            db.afterNextTransaction { _ in
                let begun = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    try? other.inTransaction(.immediate) { _ in
                        begun.signal()
                        Thread.sleep(forTimeInterval: 0.1)
                        return .rollback
                    }
                }
                begun.wait()
            }
        }
        migrator.registerMigration("b") { try $0.execute(sql: "CREATE TABLE b(x)") }
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("2.0", migrate: migrator, in: database)
        #expect(try manager.migrate().schemaSteps.map(\.schemaVersions) == [["a", "b"]])
        #expect(try database.read { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") } == 0)
    }

    @Test(
        "waits for a process that runs GRDB's migrator, and applies what that leaves",
        arguments: [true, false])
    func otherMigrator(isPool: Bool) throws {
        let path = database.path
        let database: any DatabaseWriter = isPool ? try DatabasePool(path: path) : database
        let other = try DatabaseQueue(path: path)
        let hasBegun = DispatchSemaphore(value: 0)
        var older = DatabaseMigrator()
        older.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE v1(x)")
            hasBegun.signal()
            Thread.sleep(forTimeInterval: 0.1)
        }
        let options = MigrationOptions(onEvent: { [older] event in
            guard case .willRun = event.kind else { return }
            Thread.detachNewThread { try? older.migrate(other) }
            hasBegun.wait()
        })
        let manager = try app.manager("2.0", options: options)
        manager.whenMigratingToVersion("2.0", migrate: migrator(), in: database)
        #expect(try manager.migrate().schemaSteps.map(\.schemaVersions) == [["v2", "v3"]])
    }

    @Test("cannot erase the database, which is a mistake in the registration")
    func erasing() throws {
        var erasing = migrator()
        erasing.eraseDatabaseOnSchemaChange = true
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion(
            "2.0", migrate: erasing, in: database, fileID: "App/Migrations.swift", line: 3)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .misuse)
        #expect(
            error.description == """
                Library: schema step 2.0 lets GRDB's migrator erase the database, with the manager's record \
                (Migrations.swift:3). Leave eraseDatabaseOnSchemaChange off.
                """)
    }

    @Test(
        "names the migration that throws an error of a cancelled task, though nobody has cancelled the launch"
    )
    func ownCancellation() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("timeout") { _ in throw CancellationError() }
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("2.0", migrate: migrator, in: database)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .stepFailed)
        #expect((error.underlyingError as? MigrationError)?.migration == "timeout")
    }

    @Test("lets an observation that is there already see the columns that it adds")
    func observers() throws {
        var migrator = migrator(["v1"])
        try migrator.migrate(database)
        migrator.registerMigration("v2") { try $0.execute(sql: "ALTER TABLE v1 ADD COLUMN y") }
        let observation = DatabaseRegionObservation(tracking: Table("v1"))
        let note = { @Sendable [log = app.log] (db: Database) in
            log.add((try? db.columns(in: "v1").map(\.name).joined(separator: ", ")) ?? "none")
        }
        let started = observation.start(in: database, onError: { _ in }, onChange: note)
        let manager = try app.manager("2.0", adopting: .databaseHasTables(database, means: "1.0"))
        manager.whenMigratingToVersion("2.0", migrate: migrator, in: database)
        try manager.migrate()
        #expect(app.log.lines == ["x, y"])
        started.cancel()
    }
}

@Suite("A database opened by its path", .timed)
struct DatabasePathTests {
    let folder: TemporaryFolder
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        schema = try folder.migrator(["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)"])
    }

    @Test("is migrated and closed, while the app's connection stays open")
    func path() throws {
        let queue = try folder.queue()
        #expect(try schema.migrate(path: folder.path("app.sqlite"), upTo: 1).applied == [1])
        let progress = Progress(totalUnitCount: 1)
        #expect(try schema.migrate(path: folder.path("app.sqlite"), progress: progress).applied == [2])
        #expect(progress.isFinished)
        #expect(try queue.ledger() == [1, 2])
        let open = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(open.sorted() == ["app.sqlite", "migrations"])
    }

    @Test("is closed after a migration fails")
    func failing() throws {
        try folder.folder(["2_b.sql": "SELECT nonsense"])
        let error = try failure { try schema.migrate(path: folder.path("app.sqlite")) }
        #expect(error.committed == [1])
        #expect(try schema.migrate(path: folder.path("app.sqlite"), upTo: 1).applied == [])
    }

    @Test(
        "merges migrations as GRDB does, also those that were applied under their old names",
        arguments: [
            ["v1"], ["v1", "v2"], ["v1", "v2", "v3"],
        ])
    func merged(applied: [String]) throws {
        let app = try App()
        let database = try app.open()
        func launch(_ version: String, _ migrator: DatabaseMigrator) throws -> MigrationReport {
            let manager = try app.manager(version)
            manager.whenMigratingToVersion("1.0", migrate: migrator, in: database)
            return try manager.migrate()
        }
        var old = DatabaseMigrator()
        for identifier in applied {
            old.registerMigration(identifier) { try $0.execute(sql: "CREATE TABLE \(identifier)(x)") }
        }
        #expect(try launch("1.0", old).schemaSteps.map(\.schemaVersions) == [applied])

        // As in GRDB's documentation: the merged migration does what is missing.
        var new = DatabaseMigrator()
        new.registerMigration("v3", merging: ["v1", "v2"]) { db, appliedIDs in
            for identifier in ["v1", "v2", "v3"] where !appliedIDs.contains(identifier) {
                try db.execute(sql: "CREATE TABLE \(identifier)(x)")
            }
        }
        new.registerMigration("v4") { try $0.execute(sql: "CREATE TABLE v4(x)") }
        let moved = applied.contains("v3") ? ["v4"] : ["v3", "v4"]
        #expect(try launch("2.0", new).schemaSteps.map(\.schemaVersions) == [moved])
        #expect(try database.read { try new.appliedIdentifiers($0) } == ["v3", "v4"])
        #expect(try launch("2.0", new).schemaSteps == [])
        #expect(try database.tables().filter { $0.hasPrefix("v") } == ["v1", "v2", "v3", "v4"])

        let error = try #require(throws: MigrationError.self) { try launch("2.1", old) }
        #expect(error.code == .newerThanThisProcess)
    }

    #if os(Linux)
        @Test("names the full disk if a migration leaves no room for a journal", .needs(.smallDisk))
        func noRoomForJournal() throws {
            let folder = try TemporaryFolder()
            let disk = try SmallDisk(at: folder.path("disk"))
            defer { disk.remove() }
            let database = try DatabaseQueue(path: folder.path("disk/library.sqlite"))
            let url = folder.file("disk/filled")
            var migrator = DatabaseMigrator()
            migrator.registerMigration("v1") { db in
                try Data().write(to: url)
                try db.execute(sql: "CREATE TABLE v1(x)")
            }
            let manager = try MigrationManager(
                name: "Library", currentVersion: "1.0", adopting: .newApp, store: .inMemory())
            manager.whenMigratingToVersion("1.0", migrate: migrator, in: database)
            // The manager's own record needs a journal, too.
            try disk.leaveFiles(1)
            let error = try #require(throws: MigrationError.self) { try manager.migrate() }
            #expect(error.code == .diskFull && error.advice == .freeSpace, "\(error)")
            try disk.leaveFiles(2)
            #expect(try manager.migrate().schemaSteps.map(\.schemaVersions) == [["v1"]])
        }
    #endif

    @Test("makes commits durable, and then restores the connection", arguments: [true, false])
    func durable(isPool: Bool) throws {
        let app = try App()
        let path = app.databaseURL.path
        let database: any DatabaseWriter = try isPool ? DatabasePool(path: path) : DatabaseQueue(path: path)
        func synchronous(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "PRAGMA synchronous") }
        let before = try database.writeWithoutTransaction(synchronous)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { [log = app.log] db in
            log.add("\(try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1)")
        }
        let manager = try app.manager("1.0")
        manager.whenMigratingToVersion("1.0", migrate: migrator, in: database)
        try manager.migrate()
        #expect(app.log.lines == [isPool ? "2" : "3"])
        #expect(try database.writeWithoutTransaction(synchronous) == before)
    }
}
