import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Rows in the old form arrive when a deferred step has run over the others.
@Suite("A deferred step over rows that arrive late", .timed)
struct LateRowsTests {
    private let app: App
    private let visits = BridgeLog()

    init() throws { app = try App() }

    /// Opens the database; the first time, with five old rows, of version 1.0 of the app.
    private func open() throws -> DatabaseQueue {
        let database = try app.folder.queue("photos.sqlite")
        try database.write { db in
            guard try !db.tableExists("photo") else { return }
            try db.execute(
                sql: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, data TEXT, hash TEXT);
                    INSERT INTO photo(id, data) VALUES (10, 'a'), (20, 'b'), (30, 'c'), (40, 'd'), (50, 'e');
                    """)
        }
        return database
    }

    private func manager(
        _ database: DatabaseQueue, condition: SQL = "hash IS NULL", setting hash: String = "upper(data)",
        body: (@Sendable (Database, DeferredRows) throws -> Void)? = nil
    ) throws -> MigrationManager {
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" })
        manager.afterMigratingToVersion(
            "2.1", in: database, overRowsOf: "photo", again: condition, fileID: "App/Migrations.swift",
            line: 7
        ) { [visits] db, rows in
            visits.add(try rows.ids(of: "photo", db).map(String.init).joined(separator: " "))
            try body?(db, rows)
            try db.execute(literal: "UPDATE photo SET hash = \(sql: hash) WHERE \(rows.condition)")
        }
        return manager
    }

    /// Registers the deferred step that fills the hash of each row, also of one that comes late.
    private func fillHashes(in database: DatabaseQueue, of manager: MigrationManager) {
        manager.afterMigratingToVersion(
            "2.1", in: database, overRowsOf: "photo", again: "hash IS NULL"
        ) { db, rows in
            try db.execute(literal: "UPDATE photo SET hash = upper(data) WHERE \(rows.condition)")
        }
    }

    /// Registers the step that destroys what that one reads.
    private func dropData(
        in database: DatabaseQueue, of manager: MigrationManager, onFreshInstall: FreshInstallRule = .skip
    ) {
        manager.whenMigratingToVersion(
            "3.0", finishing: ["2.1"], in: database, onFreshInstall: onFreshInstall
        ) { db in
            try db.execute(sql: "ALTER TABLE photo DROP COLUMN data")
        }
    }

    private static let photo = SQLMigration(
        version: 1, name: "photo", sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, data TEXT, hash TEXT)")
    private static let noData = SQLMigration(
        version: 2, name: "no_data", sql: "ALTER TABLE photo DROP COLUMN data")

    private func insert(_ rows: String, _ database: DatabaseQueue) throws {
        try database.write { try $0.execute(sql: "INSERT INTO photo(id, data) VALUES \(rows)") }
    }

    private func old(_ database: DatabaseQueue) throws -> [Int] {
        try database.read { try Int.fetchAll($0, sql: "SELECT id FROM photo WHERE hash IS NULL ORDER BY id") }
    }

    @Test("visits them alone, wherever their keys are, and no launch waits for them")
    func late() throws {
        let database = try open()
        try insert("(60, 'f')", database)
        try database.write { try $0.execute(sql: "UPDATE photo SET hash = 'new' WHERE id = 30") }
        try manager(database).migrate()
        #expect(try manager(database).runDeferred().completed.versions == ["2.1"])
        #expect(
            Set(visits.lines.joined(separator: " ").split(separator: " ")) == ["10", "20", "40", "50", "60"])

        try insert("(5, 'x'), (25, 'y'), (99, 'z')", database)
        let late = try manager(database)
        #expect(try late.migrate().deferred.isEmpty)
        let known = visits.lines.count
        let report = try late.runDeferred()
        #expect(report.completed.versions == ["2.1"])
        #expect(report.pending.isEmpty && report.failures.isEmpty)
        #expect(visits.lines[known...].joined(separator: " ") == "5 25 99")
        #expect(try old(database).isEmpty)
        let hashes = try database.read { try String.fetchAll($0, sql: "SELECT hash FROM photo ORDER BY id") }
        #expect(hashes == ["X", "A", "B", "Y", "new", "D", "E", "F", "Z"])
    }

    @Test("writes nothing where there are none")
    func none() throws {
        let database = try open()
        try manager(database).migrate()
        try manager(database).runDeferred()
        let changes = try database.read { try Int.fetchOne($0, sql: "PRAGMA data_version") }
        let other = try DatabaseQueue(path: database.path)
        #expect(try manager(other).runDeferred().completed.isEmpty)
        #expect(try database.read { try Int.fetchOne($0, sql: "PRAGMA data_version") } == changes)
    }

    @Test("leaves none, wherever the process is killed", arguments: 1...40)
    func killed(moment: Int) throws {
        do {
            let database = try open()
            try manager(database).migrate()
            try manager(database).runDeferred()
            try insert("(5, 'x'), (25, 'y'), (99, 'z')", database)
        }
        let process = SimulatedProcess(dying: .moment(moment))
        let isDead = try Environment.$current.withValue(Environment.changed { $0.observer = process }) {
            do {
                let manager = try manager(open())
                try manager.migrate()
                try manager.runDeferred()
            } catch  where process.isDead {}
            return process.isDead
        }
        if moment == 1 { #expect(isDead) }
        if moment == 40 { #expect(!isDead) }
        let database = try open()
        try manager(database).migrate()
        let report = try manager(database).runDeferred()
        #expect(report.pending.isEmpty && report.failures.isEmpty)
        #expect(try old(database).isEmpty)
        #expect(try manager(database).runDeferred().completed.isEmpty)
    }

    @Test("sets a row aside for which its condition still holds")
    func endless() throws {
        let database = try open()
        try manager(database).migrate()
        let setting = "CASE WHEN id % 20 = 0 THEN upper(data) END"
        let report = try manager(database, setting: setting).runDeferred()
        #expect(report.completed.isEmpty)
        #expect(report.pending.map(\.rowsSetAside) == [["10", "30", "50"]])
        #expect(
            report.failures.map(\.description) == [
                """
                Library: deferred step 2.1 (Migrations.swift:7) failed in rows 10, 30, 50 of table photo: the step has visited it, \
                and its condition still holds. Let the step change what its condition asks for, or throw an error that says why \
                it cannot. That batch was rolled back; all others are kept. The next run retries it.
                """
            ])
        #expect(try old(database) == [10, 30, 50])
        #expect(try manager(database).runDeferred().completed.versions == ["2.1"])
        #expect(try old(database).isEmpty)
    }

    @Test("visits them beside a row that is set aside, in each run")
    func besideRowSetAside() throws {
        let database = try open()
        let fails = Locked(true)
        func run() throws -> DeferredReport {
            let manager = try manager(database) { db, rows in
                if fails.withLock({ $0 }), try rows.ids(of: "photo", db).contains(10) { throw Mishap() }
            }
            try manager.migrate()
            return try manager.runDeferred()
        }
        for late in ["(60, 'f')", "(5, 'x'), (99, 'y')", "(7, 'z')"] {
            #expect(try run().pending.map(\.rowsSetAside) == [["10"]])
            try insert(late, database)
            #expect(try run().pending.map(\.rowsSetAside) == [["10"]])
            #expect(try old(database) == [10])
        }
        fails.withLock { $0 = false }
        #expect(try run().completed.versions == ["2.1"])
        #expect(try old(database).isEmpty)
    }

    @Test("visits them beside a hundred rows that are set aside")
    func besideManyRowsSetAside() throws {
        let database = try open()
        try insert((101...200).map { "(\($0), 'bad')" }.joined(separator: ", "), database)
        func run() throws -> DeferredReport {
            let manager = try manager(database, setting: "iif(data = 'bad', NULL, upper(data))")
            try manager.migrate()
            return try manager.runDeferred()
        }
        #expect(try run().pending.map(\.rowsSetAside.count) == [100])
        try insert("(60, 'f'), (300, 'z')", database)
        #expect(try run().pending.map(\.rowsSetAside.count) == [100])
        #expect(try old(database) == Array(101...200))
        try database.write { try $0.execute(sql: "UPDATE photo SET data = 'good' WHERE data = 'bad'") }
        #expect(try run().completed.versions == ["2.1"])
    }

    @Test("names itself when its condition cannot be asked, and other steps run")
    func failing() throws {
        let database = try open()
        try manager(database).migrate()
        try manager(database).runDeferred()
        let manager = try manager(database, condition: "hush IS NULL -- a typing error")
        let other = try app.open()
        try other.write {
            try $0.execute(sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY); INSERT INTO photo VALUES (1)")
        }
        manager.afterMigratingToVersion("2.1", in: other, overRowsOf: "photo") { _, _ in }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(report.completed.map(\.database) == ["library.sqlite"])
        #expect(report.failures.count == 1)
        #expect(
            report.failures[0].description.hasPrefix(
                """
                Library: the condition of deferred step 2.1 (Migrations.swift:7) failed: SQLite error 1: no such column: hush
                """))
        #expect(report.pending.isEmpty)
    }

    @Test("keeps no app from launching if its condition names no column yet, and fails itself")
    func unknownColumn() throws {
        let database = try open()
        #expect(try manager(database, condition: "mood IS NULL").migrate().deferred.count == 1)
        let report = try manager(database, condition: "mood IS NULL").runDeferred()
        #expect(report.failures.map(\.code) == [.stepFailed])
        #expect(report.failures.allSatisfy { $0.description.contains("no such column: mood") })
    }

    /// A condition that fails at a bad row, as `json_extract` does.
    private static let failing: SQL =
        "CASE WHEN data = 'bad' THEN abs(-9223372036854775808) ELSE hash IS NULL END"

    @Test("keeps no app from launching if its condition fails at a row, and fails itself")
    func failingCondition() throws {
        let database = try open()
        try insert("(60, 'bad')", database)
        #expect(try manager(database, condition: Self.failing).migrate().deferred.count == 1)
        let report = try manager(database, condition: Self.failing).runDeferred()
        #expect(report.failures.map(\.code) == [.stepFailed])
        #expect(report.failures.allSatisfy { $0.description.contains("integer overflow") })
    }

    @Test("keeps what it reads from the step that is finishing it if its condition fails at a late row")
    func failingBeforeFinishing() throws {
        let database = try open()
        try manager(database, condition: Self.failing).migrate()
        #expect(try manager(database, condition: Self.failing).runDeferred().completed.versions == ["2.1"])
        try insert("(60, 'bad')", database)
        func launch() throws {
            let manager = try app.manager("3.0", adopting: Adoption { "1.0" })
            manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "photo", again: Self.failing) {
                try $0.execute(literal: "UPDATE photo SET hash = upper(data) WHERE \($1.condition)")
            }
            dropData(in: database, of: manager)
            try manager.migrate()
        }
        #expect(try #require(throws: MigrationError.self) { try launch() }.code == .stepFailed)
        #expect(try database.strings("SELECT data FROM photo WHERE id = 60") == ["bad"])
        try database.execute("UPDATE photo SET data = 'good' WHERE id = 60")
        try launch()
        #expect(try database.strings("SELECT hash FROM photo WHERE id = 60") == ["GOOD"])
    }

    @Test("keeps what it reads from the step that is finishing it if a function of its condition is missing")
    func missingFunction() throws {
        let isLate = DatabaseFunction("is_late", argumentCount: 1) { $0[0].isNull }
        let database = try open()
        try database.write { $0.add(function: isLate) }
        func launch(_ version: String) throws {
            let manager = try app.manager(version, adopting: Adoption { "1.0" })
            manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "photo", again: "is_late(hash)")
            {
                try $0.execute(literal: "UPDATE photo SET hash = upper(data) WHERE \($1.condition)")
            }
            if version == "3.0" { dropData(in: database, of: manager) }
            try manager.migrate()
            try manager.runDeferred()
        }
        try launch("2.1")
        #expect(try old(database).isEmpty)
        try insert("(60, 'f')", database)
        try database.write { $0.remove(function: isLate) }
        let error = try #require(throws: MigrationError.self) { try launch("3.0") }
        #expect(error.code == .stepFailed)
        #expect(error.description.contains("no such function: is_late"), "\(error)")
        #expect(try database.strings("SELECT data FROM photo WHERE id = 60") == ["f"])
        try database.write { $0.add(function: isLate) }
        try launch("3.0")
        #expect(try database.strings("SELECT hash FROM photo WHERE id = 60") == ["F"])
    }

    @Test("is not asked before the step that is finishing it runs a second time")
    func finishedAgain() throws {
        let database = try open()
        let store = MigrationStore.inMemory()
        // Its condition holds until it has run.
        var isNeeded = false
        func launch() throws -> MigrationReport {
            let manager = try app.manager("3.0", adopting: Adoption { "1.0" }, store: store)
            fillHashes(in: database, of: manager)
            manager.whenMigratingToVersion(
                "3.0", finishing: ["2.1"], again: { isNeeded }, run: { isNeeded = false })
            return try manager.migrate()
        }
        #expect(try launch().completed.versions == ["2.1", "3.0"])
        try insert("(60, 'f')", database)
        isNeeded = true
        #expect(try launch().completed.versions == ["3.0"])
        #expect(try old(database) == [60])
    }

    @Test("is not asked once the step that is finishing it has run")
    func finished() throws {
        let database = try open()
        func last() throws -> MigrationManager {
            let manager = try app.manager("3.0", adopting: Adoption { "1.0" })
            fillHashes(in: database, of: manager)
            manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: database) { db in
                try db.execute(sql: "ALTER TABLE photo RENAME COLUMN hash TO digest")
            }
            return manager
        }
        #expect(try last().migrate().completed.versions == ["2.1", "3.0"])
        let report = try last().runDeferred()
        #expect(report.failures.isEmpty && report.completed.isEmpty)
    }

    @Test("visits them before the step that is finishing it destroys what it reads")
    func beforeFinishing() throws {
        let database = try open()
        try manager(database).migrate()
        try manager(database).runDeferred()
        try insert("(60, 'f')", database)
        #expect(try release("3.0", in: database).migrate().completed.versions == ["2.1", "3.0"])
        #expect(try old(database).isEmpty)
        #expect(try release("3.0", in: database).migrate().completed.isEmpty)
    }

    /// The manager of a release: 2.1 fills `hash`, 2.2 waits for that, and 3.0 drops `data`, in each of the databases.
    private func release(_ version: String, in databases: DatabaseQueue..., waiting: Bool = false) throws
        -> MigrationManager
    {
        let manager = try app.manager(
            version, adopting: Adoption { "1.0" }, options: MigrationOptions(ignoresStepsAboveCurrent: true))
        for database in databases {
            fillHashes(in: database, of: manager)
        }
        if waiting { manager.whenMigratingToVersion("2.2", finishing: ["2.1"]) {} }
        for database in databases {
            dropData(in: database, of: manager)
        }
        return manager
    }

    @Test("is left by an older process to a newer version that has destroyed what it reads")
    func finishedByNewerVersion() throws {
        let database = try open()
        func manager(_ version: String) throws -> MigrationManager {
            let manager = try app.manager(
                version, adopting: Adoption { "1.0" },
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.afterMigratingToVersion("2.0", in: database, startingAt: 0) { _, number in
                number < 20 ? .more(number + 1) : .done
            }
            fillHashes(in: database, of: manager)
            dropData(in: database, of: manager)
            return manager
        }
        let older = try manager("2.1")
        try older.migrate()
        try older.runDeferred()
        try older.rerun(try #require(older.work.first { $0.version == "2.0" }))
        try older.migrate()
        try insert("(60, 'f')", database)
        var asked = 0
        var updated: Result<[AppVersion], any Error>?
        let report = try older.runDeferred(while: {
            asked += 1
            // After the first batch.
            if asked < 2 { return true }
            updated = updated ?? Result { try manager("3.0").migrate().completed.versions }
            return true
        })
        #expect(try updated?.get() == ["2.1", "3.0"])
        #expect(report.completed.isEmpty && !report.canContinue)
        #expect(report.failures.map(\.code) == [.newerThanThisProcess, .newerThanThisProcess])
        #expect(
            report.failures.first?.description == """
                Library: deferred step 2.0 (LateRowsTests.swift:368) is left to a newer app, which has used photos.sqlite \
                meanwhile. Leave the data alone until this process has been updated as well.
                """)
        let newer = try manager("3.0")
        #expect(try newer.migrate().launch == .relaunch)
        #expect(try newer.runDeferred().completed.versions == ["2.0"])
        #expect(try manager("3.0").pendingDeferred().isEmpty)
    }

    @Test("visits them before the last of several steps that are finishing it")
    func beforeLastFinishing() throws {
        let database = try open()
        #expect(
            try release("2.2", in: database, waiting: true).migrate().completed.versions == ["2.1", "2.2"])
        try insert("(60, 'f')", database)
        #expect(
            try release("3.0", in: database, waiting: true).migrate().completed.versions == ["2.1", "3.0"])
        #expect(try old(database).isEmpty)
        #expect(try release("3.0", in: database, waiting: true).migrate().completed.isEmpty)
    }

    @Test("visits them in a database that comes back from a backup, though another one is finished")
    func beforeFinishingElsewhere() throws {
        let anna = try open()
        let (ben, backup) = (try app.folder.queue("ben.sqlite"), try app.folder.queue("backup.sqlite"))
        try anna.backup(to: ben)
        try release("2.1", in: anna, ben).migrate()
        try release("2.1", in: anna, ben).runDeferred()
        try insert("(60, 'f')", ben)
        try ben.backup(to: backup)
        try release("3.0", in: anna, ben).migrate()
        try anna.write { try $0.execute(sql: "INSERT INTO photo(id) VALUES (70)") }
        try backup.backup(to: ben)
        #expect(try release("3.0", in: anna, ben).migrate().completed.versions == ["2.1", "3.0"])
        #expect(try old(ben).isEmpty)
    }

    /// The manager of an app whose 3.0 needs the hashes elsewhere, and drops what they are made of in a later migration.
    private func finishedElsewhere(
        _ version: String, _ photos: DatabaseQueue, in others: DatabaseQueue...
    ) throws -> MigrationManager {
        let manager = try app.manager(
            version, adopting: Adoption { "1.0" }, options: MigrationOptions(ignoresStepsAboveCurrent: true))
        fillHashes(in: photos, of: manager)
        for other in others {
            manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: other, onFreshInstall: .run) { _ in
            }
        }
        manager.whenMigratingToVersion("3.0-1", in: photos) { db in
            if try db.columns(in: "photo").contains(where: { $0.name == "data" }) {
                try db.execute(sql: "ALTER TABLE photo DROP COLUMN data")
            }
        }
        manager.whenMigratingToVersion("4.0") {}
        return manager
    }

    @Test("stays done while the database of the step that is finishing it cannot be read")
    func finishedUnreadably() throws {
        let (photos, albums) = (try open(), try app.folder.queue("albums.sqlite"))
        try albums.execute("CREATE TABLE album(id INTEGER PRIMARY KEY)")
        #expect(
            try finishedElsewhere("3.0", photos, in: albums).migrate().completed.versions
                == ["2.1", "3.0", "3.0-1"])
        try photos.execute("INSERT INTO photo(id) VALUES (60)")
        let other = try DatabaseQueue(path: albums.path)
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            let report = try finishedElsewhere("3.0", photos, in: albums).runDeferred()
            #expect(
                report.completed.isEmpty && report.failures.allSatisfy { $0.work?.version != "2.1" },
                "\(report)")
            try db.execute(sql: "ROLLBACK")
        }
        try other.close()
        #expect(try finishedElsewhere("4.0", photos, in: albums).migrate().completed.versions == ["4.0"])
    }

    @Test("stays done when a database comes back in which a step has yet to run that is finishing it")
    func finishedInAnotherDatabase() throws {
        let (photos, albums) = (try open(), try app.folder.queue("albums.sqlite"))
        let later = try app.folder.queue("later.sqlite")
        for database in [albums, later] { try database.execute("CREATE TABLE album(id INTEGER PRIMARY KEY)") }
        #expect(
            try finishedElsewhere("3.0", photos, in: albums).migrate().completed.versions
                == ["2.1", "3.0", "3.0-1"])
        try photos.execute("INSERT INTO photo(id) VALUES (60)")
        #expect(
            try finishedElsewhere("4.0", photos, in: albums, later).migrate().completed.versions
                == ["3.0", "4.0"])
    }

    @Test("is not asked once a schema step that is finishing it has run, whatever files come to that later")
    func finishedBySchemaStep() throws {
        let database = try app.folder.queue("album.sqlite")
        let migrations = [
            Self.photo,
            Self.noData,
            SQLMigration(version: 3, name: "album", sql: "CREATE TABLE album(id INTEGER PRIMARY KEY)"),
        ]
        func release(_ version: String, files: Int) throws -> MigrationManager {
            let schema = try SchemaMigrator(migrations: Array(migrations.prefix(files)))
            let manager = try app.manager(version)
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: database)
            fillHashes(in: database, of: manager)
            if files > 1 {
                manager.whenMigratingToVersion("3.0", migrate: schema, finishing: ["2.1"], in: database)
            }
            return manager
        }
        try release("2.1", files: 1).migrate()
        try insert("(1, 'a')", database)
        #expect(try release("3.0", files: 2).migrate().completed.versions == ["2.1"])
        try database.write { try $0.execute(sql: "INSERT INTO photo(id) VALUES (2)") }
        #expect(try release("3.1", files: 3).migrate().schemaSteps.map(\.schemaVersions) == [["3"]])
    }

    @Test("is not asked on a new install before the steps have run that make its column")
    func newInstall() throws {
        let database = try app.folder.queue("new.sqlite")
        func release() throws -> MigrationManager {
            let manager = try app.manager("3.0")
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                try db.execute(sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, data TEXT)")
            }
            manager.whenMigratingToVersion("1.5", onFreshInstall: .run) {}
            manager.whenMigratingToVersion("2.0", in: database, onFreshInstall: .run) { db in
                try db.execute(sql: "ALTER TABLE photo ADD COLUMN hash TEXT")
            }
            fillHashes(in: database, of: manager)
            dropData(in: database, of: manager, onFreshInstall: .run)
            return manager
        }
        #expect(try release().migrate().completed.versions == ["1.0", "1.5", "2.0", "3.0"])
        #expect(try release().migrate().launch == .relaunch)
    }

    @Test("is not asked in the launch in which a closure outside databases has finished it")
    func finishedByClosure() throws {
        let database = try open()
        let manager = try app.manager("3.0", adopting: Adoption { "1.0" })
        fillHashes(in: database, of: manager)
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"]) {
            try database.write { try $0.execute(sql: "ALTER TABLE photo RENAME COLUMN hash TO digest") }
        }
        #expect(try manager.migrate().completed.versions == ["2.1", "3.0"])
    }

    @Test("visits rows that a step brings which runs between it and the step that is finishing it")
    func broughtByStep() throws {
        let database = try open()
        func last() throws -> MigrationManager {
            let manager = try app.manager("3.0", adopting: Adoption { "1.0" })
            fillHashes(in: database, of: manager)
            manager.whenMigratingToVersion("2.5", in: database) { db in
                try db.execute(sql: "INSERT INTO photo(id, data) VALUES (60, 'f')")
            }
            dropData(in: database, of: manager)
            return manager
        }
        #expect(try last().migrate().completed.versions == ["2.1", "2.5", "2.1", "3.0"])
        #expect(try old(database).isEmpty)
        #expect(try last().migrate().completed.isEmpty)
    }

    @Test("visits rows that two steps bring, each before a step that is finishing it")
    func broughtTwice() throws {
        let database = try open()
        func last() throws -> MigrationManager {
            let manager = try app.manager("3.0", adopting: Adoption { "1.0" })
            fillHashes(in: database, of: manager)
            for (version, id) in [("2.5", 60), ("2.7", 70)] as [(AppVersion, Int)] {
                manager.whenMigratingToVersion(version, in: database) { db in
                    try db.execute(literal: "INSERT INTO photo(id, data) VALUES (\(id), 'f')")
                }
                if id == 60 {
                    manager.whenMigratingToVersion("2.6", finishing: ["2.1"], in: database) { _ in }
                }
            }
            dropData(in: database, of: manager)
            return manager
        }
        #expect(
            try last().migrate().completed.versions == ["2.1", "2.5", "2.1", "2.6", "2.7", "2.1", "3.0"])
        #expect(try old(database).isEmpty)
        #expect(try last().migrate().completed.isEmpty)
    }

    @Test("visits them before a schema step of which nothing is applied yet", arguments: [false, true])
    func beforeUnappliedSchemaStep(isRegisteredLate: Bool) throws {
        let database = try app.folder.queue("album.sqlite")
        func release(
            _ version: String, step: AppVersion? = nil, isBroken: Bool = false
        ) throws -> MigrationManager {
            var migrations = [
                SQLMigration(
                    version: 1, name: "photo",
                    sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, data TEXT, hash TEXT)")
            ]
            if step != nil {
                let fault = isBroken ? "; INSERT INTO nowhere VALUES (1)" : ""
                migrations.append(
                    SQLMigration(
                        version: 2, name: "no_data", sql: "ALTER TABLE photo DROP COLUMN data\(fault)"))
            }
            let schema = try SchemaMigrator(migrations: migrations)
            let manager = try app.manager(version)
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: database)
            fillHashes(in: database, of: manager)
            if let step {
                manager.whenMigratingToVersion(
                    step, migrate: schema, upTo: 2, finishing: ["2.1"], in: database)
            }
            return manager
        }
        try release("2.1").migrate()
        if isRegisteredLate {
            try release("3.0").migrate()
        } else {
            #expect(throws: MigrationError.self) {
                try release("3.0", step: "3.0", isBroken: true).migrate()
            }
        }
        try insert("(1, 'a')", database)
        let last = try release("3.1", step: isRegisteredLate ? "2.9" : "3.0")
        #expect(try last.migrate().completed.versions == ["2.1"])
        #expect(try database.read { try String.fetchAll($0, sql: "SELECT hash FROM photo") } == ["A"])
    }

    @Test(
        "visits them before a schema step of which an older build has applied a file",
        arguments: [("2.2", "3.0"), ("3.0", "3.0-1")] as [(String, AppVersion)])
    func beforePartOfSchemaStep(older: String, step: AppVersion) throws {
        let database = try app.folder.queue("album.sqlite")
        let migrations = [
            Self.photo,
            SQLMigration(version: 2, name: "album", sql: "CREATE TABLE album(id INTEGER PRIMARY KEY)"),
            SQLMigration(version: 3, name: "no_data", sql: "ALTER TABLE photo DROP COLUMN data"),
            SQLMigration(version: 4, name: "tag", sql: "CREATE TABLE tag(id INTEGER PRIMARY KEY)"),
        ]
        let broken = SQLMigration(version: 3, name: "no_data", sql: "ALTER TABLE photo DROP COLUMN date")
        func release(
            _ version: String, files: Int, failing: Bool = false, isBroken: Bool = false
        ) throws -> MigrationManager {
            let schema = try SchemaMigrator(
                migrations: migrations.prefix(files).map { isBroken && $0.version == 3 ? broken : $0 })
            let manager = try app.manager(version)
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: files > 2 ? 1 : nil, in: database)
            fillHashes(in: database, of: manager)
            if files > 2 {
                manager.whenMigratingToVersion(step, migrate: schema, finishing: ["2.1"], in: database)
                manager.whenMigratingToVersion("3.0-2") { if failing { throw Mishap() } }
            }
            return manager
        }
        try release("2.1", files: 1).migrate()
        try release(older, files: 2).migrate()
        if step == "3.0" {
            // A start that has applied nothing.
            #expect(throws: MigrationError.self) { try release("3.0", files: 3, isBroken: true).migrate() }
        }
        try insert("(1, 'a')", database)
        #expect(throws: MigrationError.self) { try release("3.0", files: 3, failing: true).migrate() }
        #expect(try database.strings("SELECT hash FROM photo") == ["A"])
        // The launch is not complete, and yet its schema step has run.
        try database.execute("INSERT INTO photo(id) VALUES (2)")
        #expect(try release("3.0", files: 4).migrate().completed.versions == ["3.0-2"])
        #expect(try old(database) == [2])
    }

    @Test("visits them before work at the version of the second step that is finishing it")
    func beforeWorkOfSecondVersion() throws {
        let database = try open()
        let manager = try app.manager("4.0", adopting: Adoption { "1.0" })
        fillHashes(in: database, of: manager)
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: database) { _ in }
        manager.whenMigratingToVersion("3.5", in: database) { db in
            try db.execute(sql: "INSERT INTO photo(id, data) VALUES (60, 'f')")
        }
        let schema = try SchemaMigrator(
            migrations: [
                SQLMigration(version: 1, name: "photo", sql: "SELECT 1"), Self.noData,
            ], adopting: SchemaAdoption { _ in 1 })
        manager.whenMigratingToVersion("4.0", migrate: schema, in: database)
        manager.whenMigratingToVersion("4.0", finishing: ["2.1"], in: database) { _ in }
        #expect(try manager.migrate().completed.versions == ["2.1", "3.0", "3.5", "2.1", "4.0"])
        #expect(try old(database).isEmpty)
    }

    @Test("visits none that a release writes which has finished it elsewhere")
    func writtenSinceFinished() throws {
        let database = try open()
        func release(_ version: String) throws -> MigrationManager {
            let manager = try app.manager(
                version, adopting: Adoption { "1.0" },
                options: MigrationOptions(ignoresStepsAboveCurrent: true)
            )
            fillHashes(in: database, of: manager)
            manager.whenMigratingToVersion("3.0", finishing: ["2.1"]) {}
            manager.whenMigratingToVersion("3.1", in: database) { _ in }
            return manager
        }
        #expect(try release("3.0").migrate().completed.versions == ["2.1", "3.0"])
        try insert("(60, 'f')", database)
        #expect(try release("3.1").migrate().completed.versions == ["3.1"])
        #expect(try old(database) == [60])
    }

    @Test("visits them before work that comes before the step that is finishing it, and has its version")
    func beforeWorkOfSameVersion() throws {
        let database = try app.folder.queue("album.sqlite")
        let migrations = [
            Self.photo, Self.noData,
        ]
        func release(_ version: String, files: Int) throws -> MigrationManager {
            let schema = try SchemaMigrator(migrations: Array(migrations.prefix(files)))
            let manager = try app.manager(version)
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: database)
            fillHashes(in: database, of: manager)
            if files > 1 {
                manager.whenMigratingToVersion("3.0", migrate: schema, in: database)
                manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: database) { _ in }
            }
            return manager
        }
        try release("2.1", files: 1).migrate()
        try insert("(1, 'a')", database)
        #expect(try release("3.0", files: 2).migrate().completed.versions == ["2.1", "3.0"])
        #expect(try database.strings("SELECT hash FROM photo") == ["A"])
        #expect(try release("3.0", files: 2).migrate().launch == .relaunch)
    }

    @Test(
        "visits them in a database that comes back, though the step that is finishing it has run elsewhere",
        arguments: [
            ["3.0", "3.0", "3.0-1"], ["3.0", "3.0-1", "3.0-2"], ["3.0-beta.1", "3.0", "3.0-1"],
        ] as [[AppVersion]])
    func comingBack(versions: [AppVersion]) throws {
        let (newest, finishing, contraction) = (versions[0], versions[1], versions[2])
        let database = try open()
        let backup = try app.folder.queue("backup.sqlite")
        func release(_ version: AppVersion) throws -> MigrationManager {
            let manager = try app.manager(
                "\(version)", adopting: Adoption { "1.0" },
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            fillHashes(in: database, of: manager)
            manager.whenMigratingToVersion(finishing, finishing: ["2.1"]) {}
            manager.whenMigratingToVersion(contraction, in: database) { db in
                try db.execute(sql: "ALTER TABLE photo DROP COLUMN data")
            }
            return manager
        }
        try release("2.1").migrate()
        try release("2.1").runDeferred()
        try insert("(60, 'f')", database)
        try database.backup(to: backup)
        #expect(try release(newest).migrate().completed.map(\.version) == ["2.1", finishing, contraction])
        try backup.backup(to: database)
        #expect(try release(newest).migrate().completed.map(\.version) == ["2.1", contraction])
        #expect(try old(database).isEmpty)
    }

    @Test("is asked when the closure before it is written down: a kill meanwhile does not count against that")
    func killedWhileAsked() throws {
        let database = try open()
        let store = MigrationStore.inMemory()
        let log = BridgeLog()
        func launch() throws {
            let manager = try app.manager("3.0", adopting: Adoption { "1.0" }, store: store)
            manager.whenMigratingToVersion("2.0") { log.add("2.0") }
            manager.whenMigratingToVersion(
                "2.5",
                again: {
                    // What a kill would leave.
                    let record = try store.record(of: "Library")
                    log.add(record?.hasRunning(isDeferred: false) == true ? "running" : "asked")
                    return false
                }, run: {})
            manager.whenMigratingToVersion("3.0", in: database) { _ in }
            try manager.migrate()
        }
        try launch()
        #expect(log.lines.contains("2.0") && log.lines.contains("asked"))
        #expect(!log.lines.contains("running"))
    }

    @Test("is no further for a batch without rows between two that fail again: deaths still count")
    func deathsBesideFailures() throws {
        let database = try open()
        func run() throws -> DeferredReport {
            let manager = try manager(database) { db, rows in
                if try rows.ids(of: "photo", db).contains(where: { $0 < 30 }) { throw Mishap() }
            }
            try manager.migrate()
            return try manager.runDeferred()
        }
        #expect(try run().pending.map(\.rowsSetAside) == [["10", "20"]])
        #expect(try run().pending.map(\.rowsSetAside) == [["10", "20"]])
        let (store, id) = (SQLiteStore(database), WorkID("2.1"))
        try store.change("Library", waitingUpTo: .seconds(5)) { state in
            try state.changeRecord(of: "Library") { record in
                record?.changeOpen(id) { ($0.deaths, $0.build) = (2, "2.1") }
            }
        }
        #expect(try run().pending.map(\.rowsSetAside) == [["10", "20"]])
        #expect(try store.record(of: "Library")?.open(id)?.deaths == 2)
    }

    @Test("stops between rows that fail again, and does all others before them")
    func failingAgain() throws {
        let database = try open()
        let isBad = Locked(true)
        func run(stopping: Bool = false) throws -> [String] {
            let known = visits.lines.count
            let manager = try manager(database) { db, rows in
                if isBad.withLock({ $0 }), try rows.ids(of: "photo", db).contains(where: { $0 < 40 }) {
                    throw Mishap()
                }
            }
            try manager.migrate()
            let report = try manager.runDeferred(while: {
                if stopping, visits.lines.count > known { manager.deferredProgress.cancel() }
                return true
            })
            if !stopping { #expect(report.pending.map(\.rowsSetAside) == [["10", "20", "30"]]) }
            return Array(visits.lines[known...])
        }
        _ = try run()
        try insert("(60, 'f')", database)
        let stopped = try run(stopping: true)
        #expect(stopped.count == 2 && stopped[0] == "60")
        #expect(try run().sorted() == ["10", "20", "30"])
        isBad.withLock { $0 = false }
        let last = try manager(database)
        try last.migrate()
        #expect(try last.runDeferred().completed.versions == ["2.1"])
        #expect(try old(database).isEmpty)
    }
}
