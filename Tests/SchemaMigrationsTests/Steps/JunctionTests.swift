import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Where two rules meet: each test was a loss before work had an identity and a manager began where nothing of it had run.
@Suite("Work of one version in several places", .timed)
struct JunctionTests {
    private let app: App
    private let log = BridgeLog()

    init() throws { app = try App() }

    private func queue(_ name: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: app.folder.url.appendingPathComponent(name).path)
    }

    private func manager(
        _ name: String, _ version: String, build: String? = nil, adopting: Adoption = .newApp,
        store: MigrationStore? = nil, options: MigrationOptions = MigrationOptions()
    ) throws -> MigrationManager {
        try Environment.$current.withValue(Environment.changed { $0.build = build }) {
            try MigrationManager(
                name: name, currentVersion: version, adopting: adopting,
                store: store ?? .jsonFile(at: app.storeURL), options: options)
        }
    }

    private func closure(
        _ manager: MigrationManager, _ versions: AppVersion..., rule: FreshInstallRule = .skip
    ) {
        for version in versions {
            manager.whenMigratingToVersion(version, onFreshInstall: rule) { [log, name = manager.name] in
                log.add("\(name) \(version)")
            }
        }
    }

    // MARK: Where a manager begins

    @Test("a manager that an earlier one kept from its turn runs its steps in the next version")
    func notReached() throws {
        try manager("A", "1.0").migrate()
        let failing = try manager("A", "2.0")
        failing.whenMigratingToVersion("2.0") { throw Mishap() }
        #expect(throws: MigrationError.self) { try failing.migrate() }

        let a = try manager("A", "2.1")
        closure(a, "2.0", "2.1")
        try a.migrate()
        let b = try manager("B", "2.1")
        closure(b, "2.0", "2.1")
        #expect(try b.migrate().launch == .adoption(from: "1.0"))
        #expect(log.lines == ["A 2.0", "A 2.1", "B 2.0", "B 2.1"])
    }

    @Test(
        "on a fresh install, a step that every install needs is owed to a manager that comes in the next version"
    )
    func owed() throws {
        try manager("A", "2.0").migrate()
        let b = try manager("B", "2.1")
        closure(b, "1.5", rule: .run)
        closure(b, "2.0", "2.1")
        #expect(try b.migrate().completed.versions == ["1.5", "2.1"])
    }

    @Test("a build that gives a manager its first step runs it, and a fresh install of that build does not")
    func builds() throws {
        let database = try queue("photos.sqlite")
        let other = try manager("Other", "1.1", build: "1")
        other.whenMigratingToVersion("1.1", in: database, onFreshInstall: .run) { db in
            try db.execute(sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, size INTEGER)")
        }
        try other.migrate()
        func library(_ build: String) throws -> MigrationManager {
            let manager = try self.manager("Library", "1.1", build: build)
            manager.whenMigratingToVersion("1.1-2", in: database) { [log] db in
                try db.execute(sql: "UPDATE photo SET size = 0")
                log.add("1.1-2")
            }
            return manager
        }
        try library("2").migrate()
        #expect(log.lines == ["1.1-2"])
        try FileManager.default.removeItem(at: app.storeURL)
        try database.write { try $0.execute(sql: "DROP TABLE app_migrations; DROP TABLE photo") }
        try other.migrate()
        try library("1").migrate()
        #expect(log.lines == ["1.1-2"], "the same build found nothing older")
    }

    @Test(
        "a database that a release brings imports from a file that a later step deletes",
        arguments: [false, true])
    func newDatabase(isAdopted: Bool) throws {
        let old = app.folder.file("old.json")
        try Data("three messages".utf8).write(to: old)
        if !isAdopted { try manager("Library", "1.9").migrate() }
        let database = try queue("messages.sqlite")
        let library = try manager(
            "Library", "2.0", adopting: isAdopted ? .fileExists(old, means: "1.9") : .newApp)
        library.whenMigratingToVersion("2.0", in: database) { db in
            try db.execute(sql: "CREATE TABLE message(text TEXT)")
            try db.execute(
                sql: "INSERT INTO message VALUES (?)",
                arguments: [try String(contentsOf: old, encoding: .utf8)])
        }
        library.whenMigratingToVersion("2.0-1") { try FileManager.default.removeItem(at: old) }
        #expect(try library.migrate().completed.versions == ["2.0", "2.0-1"])
        #expect(
            try database.read { try String.fetchAll($0, sql: "SELECT text FROM message") } == [
                "three messages"
            ])
    }

    @Test(
        "a database that a later build of the same version brings, with the manager, imports before a later step deletes"
    )
    func newDatabaseOfLaterBuild() throws {
        let old = app.folder.file("old.json")
        try Data("three messages".utf8).write(to: old)
        try manager("Other", "2.0", build: "1").migrate()
        let database = try queue("messages.sqlite")
        let library = try manager("Library", "2.0", build: "2")
        library.whenMigratingToVersion("2.0-1", in: database) { db in
            try db.execute(sql: "CREATE TABLE message(text TEXT)")
            try db.execute(
                sql: "INSERT INTO message VALUES (?)",
                arguments: [try String(contentsOf: old, encoding: .utf8)])
        }
        library.whenMigratingToVersion("2.0-2") { try FileManager.default.removeItem(at: old) }
        #expect(try library.migrate().completed.versions == ["2.0-1", "2.0-2"])
        #expect(try database.strings("SELECT text FROM message") == ["three messages"])
    }

    @Test("a cache that was deleted and made anew needs nothing")
    func madeAnew() throws {
        func library(_ version: String, _ cache: DatabaseQueue) throws -> MigrationManager {
            let manager = try self.manager(
                "Library", version, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.0", in: cache) { db in try db.execute(sql: "CREATE TABLE a(x)")
            }
            manager.whenMigratingToVersion("2.0", in: cache) { [log] _ in log.add("2.0") }
            return manager
        }
        do {
            let cache = try queue("cache.sqlite")
            try library("1.0", cache).migrate()
            try cache.close()
        }
        try FileManager.default.removeItem(at: app.folder.file("cache.sqlite"))
        try library("2.0", queue("cache.sqlite")).migrate()
        #expect(log.lines == [])
    }

    @Test("one manager object decides anew after its database was erased")
    func erased() throws {
        let database = try queue("library.sqlite")
        let library = try manager("Library", "1.0", store: .database(database))
        library.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { [log] db in
            try db.execute(sql: "CREATE TABLE a(x)")
            log.add("1.0")
        }
        try library.migrate()
        try database.erase()
        #expect(try library.migrate().launch == .freshInstall)
        #expect(log.lines == ["1.0", "1.0"])
    }

    @Test("steps that have moved to another manager, or have another name, do not run again")
    func split() throws {
        let library = try manager("Library", "1.0")
        try library.migrate()
        let earlier = try manager("Library", "1.9")
        closure(earlier, "1.5")
        try earlier.migrate()
        let photos = try manager("Photos", "2.0", adopting: .splitFrom("Library", before: "2.0"))
        closure(photos, "1.5", "2.0")
        #expect(try photos.migrate().launch == .upgrade(from: "1.9"))
        #expect(log.lines == ["Library 1.5", "Photos 2.0"])
    }

    @Test("steps that move in a pre-release do not run again on an install that began in an earlier one")
    func splitInPreRelease() throws {
        let library = try manager("Library", "2.0-beta.1")
        closure(library, "1.2", rule: .run)
        try library.migrate()
        let photos = try manager(
            "Photos", "2.0-beta.2", adopting: .splitFrom("Library", before: "2.0-beta.2"))
        closure(photos, "1.2", rule: .run)
        try photos.migrate()
        #expect(log.lines == ["Library 1.2"])
    }

    @Test("what an adopting closure throws arrives as an error that names the manager")
    func adoptingThrows() throws {
        let library = try manager("Library", "2.0", adopting: Adoption { throw Mishap() })
        let error = try #require(throws: MigrationError.self) { try library.migrate() }
        #expect(error.code == .undecided)
        #expect(
            error.description
                == "Library: `adopting` has thrown: a mishap. Nothing was run. Fix what `adopting` reports, and launch again."
        )
    }

    // MARK: Skipping and running again

    @Test("skipping one step leaves the steps of the same version in other databases alone")
    func skip() throws {
        let (first, second) = (try queue("first.sqlite"), try queue("second.sqlite"))
        func library(_ version: String) throws -> MigrationManager {
            let manager = try self.manager(
                "Library", version, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            for (name, database) in [("first", first), ("second", second)] {
                manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                    try db.execute(
                        sql: "CREATE TABLE price(value, cents); INSERT INTO price VALUES (1, NULL)")
                }
                manager.whenMigratingToVersion("2.0", in: database) { db in
                    if name == "first" { throw Mishap() }
                    try db.execute(sql: "UPDATE price SET cents = value * 100")
                }
            }
            return manager
        }
        try library("1.0").migrate()
        let error = try #require(throws: MigrationError.self) { try library("2.0").migrate() }
        let work = try #require(error.work)
        #expect("\(work)" == "Library: step 2.0 in first.sqlite")
        try library("2.0").skip(work)
        #expect(try library("2.0").migrate().completed.versions == ["2.0"])
        #expect(try second.read { try Int.fetchOne($0, sql: "SELECT cents FROM price") } == 100)
        #expect(try first.read { try Int.fetchOne($0, sql: "SELECT cents FROM price") } == nil)
    }

    @Test("a schema step cannot be skipped, and says so")
    func skipSchemaStep() throws {
        try app.launch("1.0")
        let database = try app.open()
        let library = try app.manager("1.2")
        library.whenMigratingToVersion("1.2", migrate: try app.schema([10, 12]), in: database)
        let work = try library.work("1.2", .schemaStep)
        let error = try #require(throws: MigrationError.self) { try library.skip(work) }
        #expect(
            error.description == """
                Library: schema step 1.2 cannot be skipped. Retry it with migrate(retrying:): the app's code relies on its \
                tables.
                """)
        #expect(try library.pendingSchemaSteps().map(\.schemaVersions) == [["12"]])
    }

    @Test("skipping a version change leaves a deferred step of that version waiting")
    func skipChange() async throws {
        let store = MigrationStore.inMemory()
        try await manager("Library", "1.0", store: store).migrate()
        let library = try manager("Library", "2.0", store: store)
        library.afterMigratingToVersion("2.0") { [log] _ in log.add("deferred") }
        library.whenVersionChanges { _, _ in throw Mishap() }
        let error = await #expect(throws: MigrationError.self) { try await library.migrate() }
        #expect(error?.work?.kind == .versionChange)
        try library.skip(try #require(error?.work))
        #expect(try await library.migrate().deferred.map(\.work.version) == ["2.0"])
        #expect(try await library.runDeferred().completed.versions == ["2.0"])
        #expect(log.lines == ["deferred"])
    }

    @Test("the steps of a version run again, beside a schema step, which refuses")
    func rerunBesideSchemaStep() throws {
        let database = try queue("library.sqlite")
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x)")
        ])
        let manager = try self.manager("Library", "2.0", adopting: Adoption { "1.0" })
        manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
        manager.whenMigratingToVersion("2.0", in: database) { [log] _ in log.add("step") }
        try manager.migrate()
        for work in manager.work where work.version == "2.0" && work.kind == .step { try manager.rerun(work) }
        #expect(try manager.migrate().completed.versions == ["2.0"])
        let schemaStep = try #require(manager.work.first)
        let error = try #require(throws: MigrationError.self) { try manager.rerun(schemaStep) }
        #expect(
            error.description == """
                Library: schema step 2.0 cannot be run again. A schema step applies what the ledger lacks. Pass work of the \
                kind `.step`.
                """)
    }

    @Test("a step in a database that runs again does not run the store's step for fresh installs")
    func rerun() throws {
        let database = try queue("library.sqlite")
        func library(_ version: String) throws -> MigrationManager {
            let manager = try self.manager(
                "Library", version, adopting: Adoption { "1.0" },
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.2", onFreshInstall: .only) { [log] in log.add("only") }
            manager.whenMigratingToVersion("1.2", in: database) { [log] _ in log.add("step") }
            return manager
        }
        try database.write { try $0.execute(sql: "CREATE TABLE a(x)") }
        try library("2.0").migrate()
        let manager = try library("2.0")
        let work = try #require(manager.work.first { $0.database != nil })
        try manager.rerun(work)
        try manager.migrate()
        #expect(log.lines == ["step", "step"])
        let only = try #require(manager.work.first { $0.database == nil })
        let error = try #require(throws: MigrationError.self) { try manager.rerun(only) }
        #expect(error.code == .misuse)
        #expect(error.remedy == "Call the code of the step directly.")
    }

    @Test("a record that was removed while a deferred closure runs does not come back")
    func removedMeanwhile() async throws {
        let store = MigrationStore.inMemory()
        try await manager("Library", "1.0", store: store).migrate()
        let options = MigrationOptions(lockTimeout: .milliseconds(20))
        let library = try manager("Library", "2.0", store: store, options: options)
        let refusal = Locked<MigrationError?>(nil)
        library.afterMigratingToVersion("2.0") { _ in
            let other = try self.manager("Library", "2.0", store: store, options: options)
            do { try other.removeRecord() } catch let error as MigrationError {
                refusal.withLock { $0 = error }
            }
        }
        try await library.migrate()
        try await library.runDeferred()
        let error = try #require(refusal.withLock { $0 })
        #expect(error.code == .locked)
        #expect(
            error.description == """
                Library: this process is running deferred steps, and did not finish within 0.02 seconds. End runDeferred() \
                first: cancel its task, and wait for its end.
                """)
        try library.removeRecord()
        #expect(try store.record(of: "Library") == nil)
        #expect(try await manager("Library", "2.0", store: store).migrate().launch == .freshInstall)
    }

    // MARK: Finishing

    @Test("a deferred step comes before the contraction although what finishes it has run, after a restore")
    func restored() throws {
        let photos = try queue("photos.sqlite")
        func library(_ version: String) throws -> MigrationManager {
            let manager = try self.manager(
                "Library", version, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.0", in: photos, onFreshInstall: .run) { db in
                try db.execute(sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, old, new)")
                try db.execute(sql: "INSERT INTO photo(id, old) VALUES (1, 'a'), (2, 'b')")
            }
            manager.afterMigratingToVersion("2.0", in: photos, overRowsOf: "photo") { db, rows in
                try db.execute(literal: "UPDATE photo SET new = old WHERE new IS NULL AND \(rows.condition)")
            }
            manager.whenMigratingToVersion("3.0", in: photos) { db in
                try db.execute(sql: "ALTER TABLE photo DROP COLUMN old")
            }
            manager.whenMigratingToVersion("3.0", finishing: ["2.0"]) {}
            return manager
        }
        try library("1.0").migrate()
        let backup = try queue("backup.sqlite")
        try library("2.0").migrate()
        try photos.backup(to: backup)
        try library("2.0").runDeferred()
        try library("3.0").migrate()
        try backup.backup(to: photos)
        try library("3.0").migrate()
        #expect(
            try photos.read { try String.fetchAll($0, sql: "SELECT new FROM photo ORDER BY id") } == [
                "a", "b",
            ])
    }

    @Test("a schema step below another one needs its version where a step is finishing a deferred one")
    func unpinned() throws {
        let database = try queue("library.sqlite")
        let schema = try app.schema()
        let library = try manager("Library", "3.0")
        library.whenMigratingToVersion("1.0", migrate: schema, in: database)
        library.afterMigratingToVersion("2.0", in: database, overRowsOf: "book") { _, _ in }
        library.whenMigratingToVersion("3.0", migrate: schema, finishing: ["2.0"], in: database)
        let error = try #require(throws: MigrationError.self) { try library.migrate() }
        #expect(error.code == .misuse)
        #expect(
            error.message.contains(
                "schema step 1.0 goes to the latest schema version, but a later schema step follows, and a step is `finishing:`"
            ), "\(error.message)")
    }

    @Test("migrate(through:) runs no step for fresh installs above its version")
    func throughOnly() throws {
        let library = try manager("Library", "2.0", store: .inMemory())
        closure(library, "1.0", rule: .run)
        closure(library, "1.2", rule: .only)
        try library.migrate(through: "1.0")
        #expect(log.lines == ["Library 1.0"])
        try library.migrate()
        #expect(log.lines == ["Library 1.0", "Library 1.2"])
    }

    @Test("the closures for a version change do not run again while a deferred step cannot be prepared")
    func changeOnce() throws {
        let database = try queue("library.sqlite")
        database.inDatabase { db in
            db.add(
                function: DatabaseFunction("is_old", argumentCount: 1) { _ in
                    throw DatabaseError(resultCode: .SQLITE_IOERR)
                })
        }
        func library(_ version: String) throws -> MigrationManager {
            let manager = try self.manager(
                "Library", version, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                try db.execute(sql: "CREATE TABLE note(id INTEGER PRIMARY KEY); INSERT INTO note VALUES (1)")
            }
            manager.afterMigratingToVersion("2.0", in: database, overRowsOf: "note", again: "is_old(id)") {
                _, _ in
            }
            manager.whenVersionChanges { [log] from, _ in log.add("from \(from)") }
            return manager
        }
        try library("1.0").migrate()
        for _ in 1...2 {
            let error = try #require(throws: MigrationError.self) { try library("2.0").migrate() }
            #expect(error.remedy == "No row was changed. The step is tried again.")
        }
        #expect(log.lines == ["from 1.0"])
    }

    @Test("a closed database is named as such")
    func closed() throws {
        let database = try queue("library.sqlite")
        let library = try manager("Library", "1.0", store: .database(database))
        closure(library, "1.0")
        try database.close()
        let error = try #require(throws: MigrationError.self) { try library.migrate() }
        #expect(
            error.description == """
                library.sqlite: cannot be read: the database has been closed (SQLite 21). Keep it open until the manager has \
                returned, and launch again.
                """)
    }

    // MARK: Repair

    @Test("replacing a damaged record leaves a healthy one, and tells the managers of its own place")
    func repair() throws {
        let database = try queue("library.sqlite")
        func library(_ name: String) throws -> MigrationManager {
            let manager = try self.manager(name, "2.0")
            manager.whenMigratingToVersion("2.0", in: database) { [log] _ in log.add("\(name) 2.0") }
            return manager
        }
        try database.write { try $0.execute(sql: "CREATE TABLE a(x)") }
        let first = try manager("Library", "1.0", adopting: .databaseHasTables(database, means: "1.0"))
        first.whenMigratingToVersion("1.0", in: database) { _ in }
        try first.migrate()
        let before = try MigrationStore.jsonFile(at: app.storeURL).record(of: "Library")
        try database.write {
            try $0.execute(sql: "UPDATE app_migrations SET value = '{' WHERE part = 'managers'")
        }
        #expect(throws: MigrationError.self) { try library("Library").migrate() }
        try library("Library").replaceRecord(assuming: "2.0")
        #expect(try MigrationStore.jsonFile(at: app.storeURL).record(of: "Library") == before)
        try library("Library").migrate()
        try library("Photos").migrate()
        #expect(log.lines == [], "2.0 has run, as the app says")
        let error = try #require(throws: MigrationError.self) {
            try library("Library").replaceRecord(assuming: "1.0")
        }
        #expect(
            error.description
                == "Library: no record is damaged. Call migrate(). To run steps again, call rerunAllSteps().")
    }

    @Test(
        "a new database gets what a new install needs if the first launch was cut short before it had a record",
        arguments: [("2.0", "2"), ("2.1", "2"), ("2.1", "1")])
    func cutShortBetweenPlaces(version: String, build: String) throws {
        let database = try queue("library.sqlite")
        var unsafe = Configuration()
        unsafe.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: database.path, configuration: unsafe)
        func library(_ version: String, _ build: String) throws -> MigrationManager {
            let options = MigrationOptions(ignoresStepsAboveCurrent: true, lockTimeout: .milliseconds(50))
            let manager = try manager("Library", version, build: build, options: options)
            manager.whenMigratingToVersion("2.0", in: database, onFreshInstall: .only) { [log] _ in
                log.add("defaults")
            }
            return manager
        }
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let error = try #require(throws: MigrationError.self) { try library("2.0", "1").migrate() }
        #expect(error.code == .locked)
        try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try MigrationStore.jsonFile(at: app.storeURL).record(of: "Library") != nil)
        for _ in 1...2 { try library(version, build).migrate() }
        #expect(log.lines == ["defaults"])
    }

    // MARK: The end of a launch

    @Test(
        "what has run does not run again because a database is locked when the launch is completed",
        arguments: [false, true])
    func lockedAtTheEnd(hasVersionChange: Bool) throws {
        let database = try queue("library.sqlite")
        var unsafe = Configuration()
        unsafe.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: database.path, configuration: unsafe)
        func library(_ version: String, isBlocking: Bool = false) throws -> MigrationManager {
            let manager = try self.manager(
                "Library", version,
                options: MigrationOptions(ignoresStepsAboveCurrent: true, lockTimeout: .milliseconds(50)))
            func block() throws {
                if isBlocking {
                    try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                }
            }
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                try db.execute(sql: "CREATE TABLE book(title TEXT)")
            }
            manager.whenMigratingToVersion("2.0") { [log] context in
                log.add("2.0, attempt \(context.attempt)")
                if !hasVersionChange { try block() }
            }
            if hasVersionChange {
                manager.whenVersionChanges { [log] from, to in
                    log.add("\(from) to \(to)")
                    try block()
                }
            }
            return manager
        }
        try library("1.0").migrate()
        let error = try #require(throws: MigrationError.self) {
            try library("2.0", isBlocking: true).migrate()
        }
        #expect(error.code == .locked)
        try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try library("2.0").migrate().completed == [])
        #expect(log.lines == ["2.0, attempt 1"] + (hasVersionChange ? ["1.0 to 2.0"] : []))
    }
}

@Suite("The time for which a batch holds its database", .timed)
struct BatchTimeTests {
    @Test("is bounded whatever it is spent on, statements or Swift", .limitingBatches)
    func swift() throws {
        let folder = try TemporaryFolder()
        let database = try folder.queue()
        try database.execute(
            """
            CREATE TABLE photo(id INTEGER PRIMARY KEY, hash INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
            INSERT INTO photo(id) SELECT i FROM n;
            """)
        func manager(_ version: String) throws -> MigrationManager {
            let manager = try MigrationManager(
                name: "Photos", currentVersion: version, adopting: .databaseHasTables(database, means: "1.0"),
                store: .inMemory())
            manager.afterMigratingToVersion("2.0", in: database, overRowsOf: "photo") { db, rows in
                // Quick rows first, then rows that take 20 ms of Swift each, between statements.
                for id in try rows.ids(of: "photo", db) {
                    if id > 5950 { Thread.sleep(forTimeInterval: 0.02) }
                    try db.execute(sql: "UPDATE photo SET hash = id WHERE id = ?", arguments: [id])
                }
                let sizes = try rows.ids(of: "photo", db).count { $0 > 5950 }
                // A batch that took longer than 250 ms is undone, so none of more rows is committed.
                try db.execute(sql: "INSERT INTO size VALUES (?)", arguments: [sizes])
            }
            return manager
        }
        try database.execute("CREATE TABLE size(count INTEGER)")
        let library = try manager("2.0")
        try library.migrate()
        #expect(try library.runDeferred().completed.versions == ["2.0"])
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(hash) FROM photo") } == 6000)
        let largest = try database.read { try Int.fetchOne($0, sql: "SELECT max(count) FROM size") } ?? 0
        #expect(largest <= 13, "13 rows sleep for 260 ms")
    }
}
