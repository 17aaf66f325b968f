import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Rows in the old form arrive after a step has run: from an older build, another device, a backup.
@Suite("A step that is needed again", .timed)
struct AgainTests {
    private let app: App
    private let log = BridgeLog()

    init() throws { app = try App() }

    private func open() throws -> DatabaseQueue {
        try DatabaseQueue(path: app.folder.url.appendingPathComponent("diary.sqlite").path)
    }

    private static let isOld: @Sendable (Database) throws -> Bool = { db in
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE mood IS NULL)") ?? false
    }

    private func manager(
        _ version: String, _ database: DatabaseQueue, fills: Bool = true, current: String? = nil
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Diary", currentVersion: current ?? version, adopting: .newApp,
            store: .jsonFile(at: app.storeURL))
        manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
            try db.execute(sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY, mood TEXT)")
        }
        guard version != "1.0" else { return manager }
        manager.whenMigratingToVersion(
            "2.0", in: database, again: Self.isOld, fileID: "App/Migrations.swift", line: 7
        ) { [log] db, context in
            log.add("2.0 \(context.isAgain ? "again" : "first")")
            if fills { try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL") }
        }
        return manager
    }

    private func write(_ database: DatabaseQueue) throws {
        try database.write { try $0.execute(sql: "INSERT INTO entry(mood) VALUES (NULL)") }
    }

    private func old(_ database: DatabaseQueue) throws -> Int? {
        try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry WHERE mood IS NULL") }
    }

    @Test("runs when its condition holds, and in no other launch")
    func rows() throws {
        let database = try open()
        try manager("1.0", database).migrate()
        try write(database)
        #expect(try manager("2.0", database).migrate().launch == .upgrade(from: "1.0"))
        #expect(try manager("2.0", database).migrate().completed.isEmpty)
        try write(database)
        let pending = try manager("2.0", database)
        #expect(try pending.pending().map(\.work.description) == ["Diary: step 2.0 in diary.sqlite"])
        let report = try pending.migrate()
        #expect(report.launch == .relaunch)
        #expect(report.completed.versions == ["2.0"])
        #expect(try manager("2.0", database).migrate().completed.isEmpty)
        #expect(log.lines == ["2.0 first", "2.0 again"])
        #expect(try old(database) == 0)
    }

    @Test("runs after a downgrade, and not in it")
    func downgrade() throws {
        let database = try open()
        try manager("1.0", database).migrate()
        try manager("3.0", database).migrate()
        try write(database)
        #expect(try manager("2.0", database).migrate().completed.isEmpty)
        #expect(try manager("3.0", database).migrate().completed.versions == ["2.0"])
        #expect(try old(database) == 0)
    }

    @Test("runs where a fresh install did not need it, and where the manager has begun above it")
    func notNeeded() throws {
        let database = try open()
        try manager("2.0", database).migrate()
        try write(database)
        #expect(try manager("2.0", database).migrate().completed.versions == ["2.0"])

        let late = try DatabaseQueue(path: app.folder.url.appendingPathComponent("late.sqlite").path)
        try late.write { try $0.execute(sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY, mood TEXT)") }
        func adopted() throws -> MigrationManager {
            let manager = try MigrationManager(
                name: "Late", currentVersion: "3.0", adopting: .databaseHasTables(late, means: "2.0"),
                store: .database(late))
            manager.whenMigratingToVersion("2.0", in: late, again: Self.isOld) { db in
                try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
            }
            return manager
        }
        #expect(try adopted().migrate().completed.isEmpty)
        try write(late)
        #expect(try adopted().migrate().completed.versions == ["2.0"])
    }

    @Test("runs in the end wherever the process is killed", arguments: 1...40)
    func killed(moment: Int) throws {
        do {
            let database = try open()
            try manager("1.0", database).migrate()
            try manager("2.0", database).migrate()
            try write(database)
        }
        let process = SimulatedProcess(dying: .moment(moment))
        let isDead = try Environment.$current.withValue(Environment.changed { $0.observer = process }) {
            do {
                try manager("2.0", open()).migrate()
            } catch  where process.isDead {}
            return process.isDead
        }
        if moment == 1 { #expect(isDead) }
        if moment == 40 { #expect(!isDead) }
        let database = try open()
        try manager("2.0", database).migrate()
        #expect(try old(database) == 0)
        #expect(try manager("2.0", database).migrate().completed.isEmpty)
    }

    @Test("does not run if an earlier step of the launch has done its work")
    func doneByEarlierStep() throws {
        let database = try open()
        func launch() throws -> [AppVersion] {
            let manager = try manager("2.0", database)
            manager.whenMigratingToVersion("2.0-1", in: database, again: Self.isOld) { [log] _ in
                log.add("2.0-1")
            }
            return try manager.migrate().completed.versions
        }
        try manager("1.0", database).migrate()
        #expect(try launch() == ["2.0", "2.0-1"])
        try write(database)
        #expect(try launch() == ["2.0"])
        #expect(log.lines == ["2.0 first", "2.0-1", "2.0 again"])
    }

    @Test(
        "may have its condition made false by a later step of the launch, for which the same holds",
        arguments: [[], ["1.9"]] as [[AppVersion]])
    func doneTogether(finishing: [AppVersion]) async throws {
        let database = try open()
        try await manager("1.0", database).migrate()
        try write(database)
        func launch() async throws -> [AppVersion] {
            let manager = try MigrationManager(
                name: "Diary", currentVersion: "3.0", adopting: .newApp, store: .jsonFile(at: app.storeURL))
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { _ in }
            manager.afterMigratingToVersion("1.9") { _ in }
            for (version, finishing) in [("2.0", []), ("2.1", finishing)] as [(AppVersion, [AppVersion])] {
                manager.whenMigratingToVersion(
                    version, finishing: finishing, in: database, again: Self.isOld
                ) { [log] db in
                    log.add("\(version)")
                    if version == "2.1" {
                        try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
                    }
                }
            }
            return try await manager.migrate().completed.versions
        }
        #expect(try await launch() == finishing + ["2.0", "2.1"])
        try write(database)
        #expect(try await launch() == ["2.0", "2.1"])
        #expect(try await launch() == [])
    }

    @Test("may be a closure whose condition a step in a database makes false")
    func doneByDatabaseStep() throws {
        let database = try open()
        let isOld = { try database.read(Self.isOld) }
        func launch() throws -> [AppVersion] {
            let manager = try manager("2.0", database)
            manager.whenMigratingToVersion("1.5", again: isOld) {}
            return try manager.migrate().completed.versions
        }
        try manager("1.0", database).migrate()
        try write(database)
        #expect(try launch() == ["1.5", "2.0"])
        try write(database)
        #expect(try launch() == ["1.5", "2.0"])
        #expect(try launch() == [])
        try database.erase()
        #expect(try launch() == ["1.0"], "a new database gets its table first")
    }

    @Test(
        "runs for rows that a later step brings, whatever kind of step, once an earlier one has done its work"
    )
    func broughtAfterwards() throws {
        let database = try open()
        let brings = Locked(false)
        let (isOld, bringsMore) = ({ try database.read(Self.isOld) }, { brings.withLock { $0 } })
        func launch() throws -> [AppVersion] {
            let manager = try manager("2.0", database)
            manager.whenMigratingToVersion("1.5", again: isOld) {
                try database.execute("UPDATE entry SET mood = 'soon' WHERE mood IS NULL")
            }
            manager.whenMigratingToVersion("2.0-1", again: bringsMore) {
                brings.withLock { $0 = false }
                try database.execute("INSERT INTO entry(mood) VALUES (NULL)")
            }
            return try manager.migrate().completed.versions
        }
        try manager("1.0", database).migrate()
        #expect(try launch() == ["1.5", "2.0", "2.0-1", "1.5"])
        try write(database)
        brings.withLock { $0 = true }
        #expect(try launch() == ["1.5", "2.0-1", "1.5"])
        #expect(try launch() == [])
        #expect(try old(database) == 0)
    }

    @Test("runs as often as later steps bring rows, each for the first time")
    func broughtTwice() throws {
        let database = try open()
        try manager("1.0", database).migrate()
        try write(database)
        func launch() throws -> [AppVersion] {
            let later = try manager("2.3", database)
            later.whenMigratingToVersion("2.1") {
                try database.execute("INSERT INTO entry(mood) VALUES (NULL)")
            }
            later.whenMigratingToVersion("2.2", in: database) { _ in }
            later.whenMigratingToVersion("2.3") {
                try database.execute("INSERT INTO entry(mood) VALUES (NULL)")
            }
            return try later.migrate().completed.versions
        }
        #expect(try launch() == ["2.0", "2.1", "2.0", "2.2", "2.3", "2.0"])
        #expect(try old(database) == 0)
        #expect(try launch() == [])
    }

    @Test(
        "runs a second time for rows that a schema step or a version change brings", arguments: [false, true])
    func broughtBySchemaStep(isVersionChange: Bool) throws {
        let database = try open()
        try manager("1.0", database).migrate()
        try write(database)
        func launch() throws -> [AppVersion] {
            let later = try manager("2.5", database)
            if isVersionChange {
                later.whenVersionChanges { [log] _, _ in
                    log.add("change")
                    try database.execute("INSERT INTO entry(mood) VALUES (NULL)")
                }
            } else {
                let schema = try SchemaMigrator(
                    migrations: [
                        SQLMigration(
                            version: 1, name: "entry", sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY)"),
                        SQLMigration(
                            version: 5, name: "brings", sql: "INSERT INTO entry(mood) VALUES (NULL)"),
                    ], adopting: SchemaAdoption { _ in 1 })
                later.whenMigratingToVersion("2.5", migrate: schema, in: database)
            }
            return try later.migrate().completed.versions
        }
        #expect(try launch() == ["2.0", "2.0"])
        #expect(try launch() == [])
        #expect(try old(database) == 0)
        #expect(log.lines == ["2.0 first"] + (isVersionChange ? ["change"] : []) + ["2.0 again"])
    }

    @Test("is an error if its condition holds to the end, although a later step was needed no longer")
    func endlessBeforeAnother() throws {
        let database = try open()
        let isNeeded = Locked(false)
        let condition = { isNeeded.withLock { $0 } }
        let hasRows = { try !database.strings("SELECT id FROM entry").isEmpty }
        func launch() throws -> [AppVersion] {
            let manager = try manager("2.0", database)
            manager.whenMigratingToVersion("1.5", again: hasRows, fileID: "App/Migrations.swift", line: 8) {
                isNeeded.withLock { $0 = false }
            }
            manager.whenMigratingToVersion("2.0-1", again: condition) {}
            return try manager.migrate().completed.versions
        }
        try manager("1.0", database).migrate()
        #expect(try launch() == ["1.5", "2.0", "2.0-1"])
        try write(database)
        isNeeded.withLock { $0 = true }
        let error = try #require(throws: MigrationError.self) { try launch() }
        #expect(
            error.description.hasPrefix(
                "Diary: step 1.5 (Migrations.swift:8) has run, and its condition still holds"))
        #expect(error.advice == .contactDeveloper)
    }

    @Test("does not run if its condition holds no longer after a launch that has not come to it")
    func neededNoLonger() throws {
        let database = try open()
        let isNeeded = Locked(false)
        let fails = Locked(false)
        func launch() throws -> [AppVersion] {
            let manager = try manager("2.0", database)
            let condition = { isNeeded.withLock { $0 } }
            manager.whenMigratingToVersion("1.5", again: condition) {
                if fails.withLock({ $0 }) { throw Mishap() }
                isNeeded.withLock { $0 = false }
            }
            return try manager.migrate().completed.versions
        }
        try manager("1.0", database).migrate()
        #expect(try launch() == ["1.5", "2.0"])
        try write(database)
        isNeeded.withLock { $0 = true }
        fails.withLock { $0 = true }
        #expect(throws: MigrationError.self) { try launch() }
        try database.write { try $0.execute(sql: "DELETE FROM entry") }
        fails.withLock { $0 = false }
        #expect(try launch() == ["1.5"])
        #expect(log.lines == ["2.0 first"])
    }

    @Test(
        "is an error if its condition holds after it has run, also for the first time",
        arguments: [false, true])
    func endless(isFirst: Bool) throws {
        let database = try open()
        try manager("1.0", database).migrate()
        if !isFirst { try manager("2.0", database).migrate() }
        try write(database)
        for _ in 1...2 {
            let error = try #require(throws: MigrationError.self) {
                try manager("2.0", database, fills: false).migrate()
            }
            #expect(
                error.description == """
                    Diary: step 2.0 (Migrations.swift:7) has run, and its condition still holds. Let the step change what its \
                    condition asks for: otherwise each launch would run it.
                    """)
        }
    }

    @Test("may leave something to a step that migrate(through:) has not come to")
    func partOfALaunch() throws {
        let database = try open()
        try manager("1.0", database).migrate()
        try manager("2.0", database, fills: false).migrate()
        try write(database)
        func later() throws -> MigrationManager {
            let manager = try manager("2.0", database, fills: false, current: "2.1")
            manager.whenMigratingToVersion("2.1", in: database) { db in
                try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
            }
            return manager
        }
        #expect(try later().migrate(through: "2.0").completed.versions == ["2.0"])
        #expect(try later().migrate().completed.versions.last == "2.1")
        #expect(try old(database) == 0)
        #expect(try later().migrate().completed == [])
    }

    @Test("is an error if its condition holds after it has run, also while a deferred step waits")
    func endlessBesideDeferred() async throws {
        let database = try open()
        try await manager("1.0", database).migrate()
        try write(database)
        for _ in 1...2 {
            let endless = try manager("2.0", database, fills: false)
            endless.afterMigratingToVersion("2.0-1") { _ in }
            let error = await #expect(throws: MigrationError.self) { try await endless.migrate() }
            #expect(error?.description.contains("has run, and its condition still holds") == true)
        }
    }

    @Test(
        "runs on a new install only once there are tables, which the app makes later",
        arguments: [false, true])
    func beforeTables(hasWork: Bool) throws {
        let database = try open()
        func launch() throws -> [AppVersion] {
            let manager = try MigrationManager(
                name: "Diary", currentVersion: "2.0", adopting: .newApp, store: .jsonFile(at: app.storeURL))
            if hasWork { manager.whenMigratingToVersion("1.0", onFreshInstall: .only) {} }
            manager.whenMigratingToVersion("2.0", in: database, again: Self.isOld) { db in
                try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
            }
            return try manager.migrate().completed.versions
        }
        #expect(try launch() == (hasWork ? ["1.0"] : []))
        #expect(try launch() == [], "the process was killed before it made them")
        try database.execute("CREATE TABLE entry(id INTEGER PRIMARY KEY, mood TEXT)")
        try write(database)
        #expect(try launch() == ["2.0"])
    }

    @Test(
        "is not asked before the step that makes its table, where the first launch of a new install was cut short",
        arguments: [false, true])
    func beforeOwedStep(isClosure: Bool) throws {
        let database = try open()
        let isOld: @Sendable (Database) throws -> Bool = { db in
            guard try db.tableExists("entry") else { throw Mishap() }
            return try Self.isOld(db)
        }
        let update: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
        }
        func launch(postponing: Bool = false) throws -> [AppVersion] {
            let manager = try MigrationManager(
                name: "Diary", currentVersion: "2.0", adopting: .newApp, store: .jsonFile(at: app.storeURL))
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                if postponing { throw MigrationPostponed(reason: "not now") }
                try db.execute(
                    sql:
                        "CREATE TABLE entry(id INTEGER PRIMARY KEY, mood TEXT); INSERT INTO entry(id) VALUES (1)"
                )
            }
            if isClosure {
                let condition = { try database.read(isOld) }
                manager.whenMigratingToVersion("2.0", again: condition) {
                    try database.write(update)
                }
            } else {
                manager.whenMigratingToVersion("2.0", in: database, again: isOld) { db in try update(db) }
            }
            return try manager.migrate().completed.versions
        }
        let error = try #require(throws: MigrationError.self) { try launch(postponing: true) }
        #expect(error.code == .postponed)
        #expect(try launch() == ["1.0", "2.0"])
        #expect(try launch() == [])
    }

    @Test("is asked before a later step of its version, which failed without it")
    func beforeLaterStep() throws {
        let database = try open()
        var isStaged = false
        func launch() throws -> MigrationReport {
            let manager = try manager("1.0", database, current: "2.0")
            let condition = { isStaged }
            manager.whenMigratingToVersion("2.0", again: condition) { [log] in
                isStaged = false
                log.add("move")
            }
            manager.whenMigratingToVersion("2.0", in: database, again: Self.isOld) { [log] db in
                guard log.lines == ["move"] else { throw Mishap() }
                try db.execute(sql: "UPDATE entry SET mood = 'fine'")
            }
            return try manager.migrate()
        }
        #expect(try launch().completed.versions == ["1.0"])
        try write(database)
        #expect(throws: MigrationError.self) { try launch() }
        isStaged = true
        #expect(try launch().completed.versions == ["2.0", "2.0"])
        #expect(try launch().completed.isEmpty)
    }

    @Test("names a column that no table has once a launch is complete, even if it has never run")
    func missingColumn() throws {
        let database = try open()
        let condition: @Sendable (Database) throws -> Bool = { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT moood FROM entry)") ?? false
        }
        func launch() throws {
            let manager = try manager("1.0", database, current: "2.0")
            manager.whenMigratingToVersion("2.0", in: database, again: condition) { _ in }
            try manager.migrate()
        }
        try launch()
        let error = try #require(throws: MigrationError.self) { try launch() }
        #expect(error.code == .stepFailed && error.description.contains("no such column: moood"), "\(error)")
    }

    @Test("is not asked before a later schema step that makes its table, where a new install was cut short")
    func beforeLaterSchemaStep() throws {
        let database = try open()
        func launch(_ sql: String) throws -> [AppVersion] {
            let manager = try MigrationManager(
                name: "Diary", currentVersion: "2.5", adopting: .newApp, store: .jsonFile(at: app.storeURL))
            manager.whenMigratingToVersion("2.0", in: database, again: Self.isOld) { db in
                try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
            }
            let schema = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "entry", sql: sql)])
            manager.whenMigratingToVersion("2.5", migrate: schema, in: database)
            return try manager.migrate().completed.versions
        }
        #expect(throws: MigrationError.self) { try launch("INSERT INTO nowhere VALUES (1)") }
        let entry = "CREATE TABLE entry(id INTEGER PRIMARY KEY, mood TEXT)"
        #expect(try launch(entry) == [])
        try write(database)
        #expect(try launch(entry) == ["2.0"])
    }

    enum Setback: CaseIterable { case backup, erased, rolledBack }

    @Test(
        "may be a closure that asks about a database which has gone back behind its migration",
        arguments: Setback.allCases)
    func setBack(_ setback: Setback) throws {
        let (database, backup) = (try open(), try app.folder.queue("backup.sqlite"))
        func launch(_ version: String) throws -> [AppVersion] {
            let manager = try rollingBack(version, database)
            if version == "2.0" {
                let isOld = { try database.read(Self.isOld) }
                manager.whenMigratingToVersion("2.0", again: isOld) {
                    try database.execute("UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
                }
            }
            return try manager.migrate().completed.versions
        }
        #expect(try launch("1.0") == [])
        try database.execute("INSERT INTO entry(text) VALUES ('a'), ('b')")
        try database.backup(to: backup)
        #expect(try launch("2.0") == ["2.0", "2.0"])
        switch setback {
        case .backup: try backup.backup(to: database)
        case .erased: try database.erase()
        case .rolledBack: #expect(try launch("1.0") == [])
        }
        #expect(try launch("2.0") == (setback == .erased ? [] : ["2.0"]))
        #expect(try old(database) == 0)
        #expect(try launch("2.0") == [])
    }

    @Test("leaves the next step a new plan if it is needed no longer and the database has come from a backup")
    func stalePlan() throws {
        let (database, backup) = (try open(), try app.folder.queue("backup.sqlite"))
        let isNeeded = Locked(true)
        let condition = { isNeeded.withLock { $0 } }
        func launch(_ version: AppVersion) throws -> MigrationReport {
            let manager = try MigrationManager(
                name: "Diary", currentVersion: version, adopting: .newApp, store: .jsonFile(at: app.storeURL))
            let migrations = [
                SQLMigration(
                    version: 1, name: "entry", sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT)"),
                SQLMigration(version: 2, name: "mood", sql: "ALTER TABLE entry ADD COLUMN mood TEXT"),
            ]
            let schema = try SchemaMigrator(migrations: version == "1.0" ? [migrations[0]] : migrations)
            manager.whenMigratingToVersion("1.0", migrate: schema, in: database)
            guard version != "1.0" else { return try manager.migrate() }
            if version == "3.0" {
                manager.whenMigratingToVersion("2.5") {
                    try backup.backup(to: database)
                    isNeeded.withLock { $0 = false }
                }
            }
            manager.whenMigratingToVersion("2.6", again: condition) { isNeeded.withLock { $0 = false } }
            if version == "3.0" {
                manager.whenMigratingToVersion("3.0", in: database) { db in
                    try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
                }
            }
            return try manager.migrate()
        }
        _ = try launch("1.0")
        try database.execute("INSERT INTO entry(text) VALUES ('a')")
        try database.backup(to: backup)
        #expect(try launch("2.6").completed.versions == ["2.6"])
        isNeeded.withLock { $0 = true }
        let report = try launch("3.0")
        #expect(report.completed.versions == ["2.5", "3.0"])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["2"]])
        #expect(try old(database) == 0)
    }

    @Test("cannot be skipped while its condition cannot be asked")
    func skippedWhileLocked() throws {
        let database = try open()
        let isLocked = Locked(false)
        let condition = {
            if isLocked.withLock({ $0 }) { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            return false
        }
        func manager() throws -> MigrationManager {
            let manager = try self.manager("1.0", database)
            manager.whenMigratingToVersion("1.0-1", again: condition) {}
            return manager
        }
        _ = try manager().migrate()
        isLocked.withLock { $0 = true }
        let error = try #require(throws: MigrationError.self) { try manager().migrate() }
        #expect(error.code == .locked)
        let refusal = try #require(throws: MigrationError.self) {
            try manager().skip(try #require(error.work))
        }
        #expect(refusal.code == .locked)
    }

    @Test("names itself when its condition throws, and is not asked before it has run")
    func failingCondition() throws {
        let database = try open()
        let condition: @Sendable (Database) throws -> Bool = {
            try Bool.fetchOne($0, sql: "SELECT mood FROM diary") ?? false
        }
        func manager() throws -> MigrationManager {
            let manager = try MigrationManager(
                name: "Diary", currentVersion: "2.0", adopting: Adoption { "1.0" },
                store: .jsonFile(at: app.storeURL))
            manager.whenMigratingToVersion(
                "2.0", in: database, again: condition,
                fileID: "App/Migrations.swift", line: 7
            ) { [log] db in log.add("2.0") }
            return manager
        }
        for _ in 1...2 {
            let error = try #require(throws: MigrationError.self) { try manager().migrate() }
            #expect(
                error.description == """
                    Diary: the condition of step 2.0 (Migrations.swift:7) failed: SQLite error 1: no such table: diary - while \
                    executing `SELECT mood FROM diary`. Fix the condition, or settle the step with skip(_:).
                    """)
            #expect(error.advice == .contactDeveloper)
            #expect(log.lines == ["2.0"])
        }
        let error = try #require(throws: MigrationError.self) { try manager().migrate() }
        try manager().skip(try #require(error.work))
        #expect(try manager().migrate().completed.isEmpty)
    }

    @Test("is not asked again once the app has skipped it")
    func skipped() throws {
        let database = try open()
        try manager("1.0", database).migrate()
        try write(database)
        let endless = try manager("2.0", database, fills: false)
        let error = try #require(throws: MigrationError.self) { try endless.migrate() }
        try endless.skip(try #require(error.work))
        #expect(try manager("2.0", database, fills: false).migrate().completed.isEmpty)
        #expect(try old(database) == 1)
    }

    /// Diary 1.0, which undoes what it does not know, or 2.0, whose migration adds the column that its step fills.
    private func rollingBack(_ version: String, _ database: DatabaseQueue) throws -> MigrationManager {
        let entry = SQLMigration(
            version: 1, name: "entry", sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT)")
        let mood = SQLMigration(
            version: 2, name: "mood", sql: "ALTER TABLE entry ADD COLUMN mood TEXT",
            down: "ALTER TABLE entry DROP COLUMN mood")
        let manager = try MigrationManager(
            name: "Diary", currentVersion: version, adopting: .newApp, store: .jsonFile(at: app.storeURL))
        let schema = try SchemaMigrator(
            migrations: version == "1.0" ? [entry] : [entry, mood],
            options: SchemaOptions(newerDatabases: .rollBack))
        manager.whenMigratingToVersion("1.0", migrate: schema, in: database)
        guard version == "2.0" else { return manager }
        manager.whenMigratingToVersion("2.0", in: database, again: Self.isOld) { db in
            try db.execute(sql: "UPDATE entry SET mood = 'fine' WHERE mood IS NULL")
        }
        return manager
    }

    @Test(
        "runs again once an older build has undone its migration, wherever the process is killed",
        arguments: 0...40)
    func rolledBack(moment: Int) throws {
        do {
            let database = try open()
            try rollingBack("1.0", database).migrate()
            try database.write { try $0.execute(sql: "INSERT INTO entry(text) VALUES ('a'), ('b')") }
            try rollingBack("2.0", database).migrate()
            #expect(try old(database) == 0)
            #expect(try rollingBack("1.0", database).migrate().schemaSteps.flatMap(\.undone) == ["2"])
        }
        let process = SimulatedProcess(dying: .moment(moment))
        try Environment.$current.withValue(Environment.changed { $0.observer = process }) {
            do {
                let report = try rollingBack("2.0", open()).migrate()
                if moment == 0 { #expect(report.completed.versions == ["2.0"]) }
            } catch  where process.isDead {}
        }
        let database = try open()
        try rollingBack("2.0", database).migrate()
        #expect(try old(database) == 0)
        #expect(try rollingBack("2.0", database).migrate().completed.isEmpty)
    }

    @MainActor
    @Test("may be a closure, whose condition is asked where the manager is called", arguments: [false, true])
    func closure(isAsynchronous: Bool) async throws {
        let old = app.folder.url.appendingPathComponent("old")
        func launch() async throws -> MigrationReport {
            let manager = try MigrationManager(
                name: "Files", currentVersion: "2.0", adopting: Adoption { "1.0" },
                store: .jsonFile(at: app.storeURL))
            let condition = {
                MainActor.assertIsolated()
                return FileManager.default.fileExists(atPath: old.path)
            }
            manager.whenMigratingToVersion("2.0", again: condition) { [log] context in
                log.add("\(context.isAgain)")
                try? FileManager.default.removeItem(at: old)
            }
            return isAsynchronous ? try await manager.migrate() : try synchronously(manager)
        }
        #expect(try await launch().completed.versions == ["2.0"])
        #expect(try await launch().completed.isEmpty)
        try Data().write(to: old)
        #expect(try await launch().completed.versions == ["2.0"])
        #expect(log.lines == ["false", "true"])
    }

    private func synchronously(_ manager: MigrationManager) throws -> MigrationReport {
        try manager.migrate()
    }

    @Test("is not asked in a downgrade, which runs nothing")
    func notAskedInDowngrade() throws {
        let database = try open()
        try manager("1.0", database).migrate()
        try manager("2.0", database).migrate()
        let later = try MigrationManager(
            name: "Diary", currentVersion: "3.0", adopting: .newApp, store: .jsonFile(at: app.storeURL))
        later.whenMigratingToVersion("3.0", in: database) { db in
            try db.execute(sql: "ALTER TABLE entry RENAME COLUMN mood TO feeling")
        }
        try later.migrate()
        let older = try manager("2.0", database)
        #expect(try older.pending().isEmpty)
        #expect(try older.migrate().launch == .downgrade(from: "3.0"))
    }
}
