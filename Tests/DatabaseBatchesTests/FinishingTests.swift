import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A step that finishes a deferred one", .timed)
struct FinishingTests {
    private let app: App
    private let database: DatabaseQueue

    init() throws {
        app = try App()
        try app.launch("1.0")
        database = try app.open()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, old TEXT, new TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                    INSERT INTO photo(id, old) SELECT i, 'photo ' || i FROM n;
                    """)
        }
    }

    /// A manager of 3.0, whose last step drops the column that the deferred one reads.
    private func manager(_ obstacle: (any Error & Sendable)? = nil) throws -> MigrationManager {
        let manager = try app.manager("3.0", options: MigrationOptions(lockTimeout: .milliseconds(50)))
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10]), in: database)
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "photo") { db, rows in
            if let obstacle, try rows.ids(of: "photo", db).contains(70) { throw obstacle }
            try db.execute(
                literal: "UPDATE photo SET new = upper(old) WHERE new IS NULL AND \(rows.condition)")
        }
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: database) { db in
            try db.execute(sql: "ALTER TABLE photo DROP COLUMN old")
        }
        return manager
    }

    private func values(_ column: String) throws -> Int {
        try database.read { try Int.fetchOne($0, sql: "SELECT count(\(column)) FROM photo") ?? -1 }
    }

    @Test(
        "does not run before that is done, whatever keeps it from being done",
        arguments: [
            Mishap(), MigrationPostponed(reason: "not yet"), CancellationError(),
            DatabaseError(resultCode: .SQLITE_BUSY), DatabaseError(resultCode: .SQLITE_FULL),
        ] as [any Error & Sendable])
    func waits(obstacle: any Error & Sendable) throws {
        for _ in 1...4 {
            #expect(throws: (any Error).self) { try manager(obstacle).migrate() }
            #expect(try values("old") == 100, "nothing is destroyed that was not read")
        }
        let report = try manager().migrate()
        #expect(report.completed.versions == ["2.1", "3.0"])
        #expect(try values("new") == 100)
    }

    @Test("runs after all batches of the deferred one in a synchronous launch of a cancelled task")
    func cancelledTask() async throws {
        let manager = try manager()
        func launch() throws -> MigrationReport { try manager.migrate() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try launch()
        }
        #expect(try await task.value.completed.versions == ["2.1", "3.0"])
        #expect(try values("new") == 100)
    }

    @Test("waits while another process holds the lock of a batch")
    func locked() throws {
        let store = try MigrationStore.jsonFile(at: app.storeURL)
        guard case .acquired(_, let release) = try store.lock("Library\0batch") else {
            Issue.record("the lock was taken")
            return
        }
        let error = try #require(throws: MigrationError.self) { try manager().migrate() }
        #expect(error.code == .locked)
        #expect(try values("old") == 100)
        release()
        #expect(try manager().migrate().completed.versions == ["2.1", "3.0"])
        #expect(try values("new") == 100)
    }

    @Test("does not run after a downgrade has kept the deferred one from running in another database")
    func heldByDowngrade() throws {
        let other = try DatabaseQueue(path: app.folder.url.appendingPathComponent("other.sqlite").path)
        let store = MigrationStore.inMemory()
        func manager(_ version: String, _ store: MigrationStore) throws -> MigrationManager {
            let manager = try app.manager(
                version, store: store, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.0", in: other, onFreshInstall: .run) { db in
                try db.execute(
                    sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, text); INSERT INTO note VALUES (1, 'a')")
            }
            manager.afterMigratingToVersion("2.1", in: other, overRowsOf: "note") { _, _ in }
            return manager
        }
        try manager("2.0", store).migrate()
        try manager("4.0", MigrationStore.inMemory()).migrate()
        let finishing = try manager("3.0", store)
        var isRun = false
        finishing.whenMigratingToVersion(
            "3.0", finishing: ["2.1"], onFreshInstall: .run, fileID: "App/Migrations.swift", line: 7
        ) { isRun = true }
        let error = try #require(throws: MigrationError.self) { try finishing.migrate() }
        #expect(!isRun)
        #expect(
            error.description == """
                Library: step 3.0 (Migrations.swift:7) was not run: a newer app has used other.sqlite, in which step 2.1 is \
                not done. Update the app, or restore other.sqlite.
                """)
    }

    /// A manager whose deferred step 3.1 destroys what deferred step 2.1 reads.
    private func photos(
        _ version: String, in photos: DatabaseQueue, _ store: MigrationStore, failing: Bool = false
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Photos", currentVersion: version, adopting: .newApp, store: store,
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        manager.whenMigratingToVersion("1.0", in: photos, onFreshInstall: .run) { db in
            try db.execute(
                sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY); INSERT INTO photo VALUES (1)")
        }
        manager.afterMigratingToVersion("2.1", in: photos, overRowsOf: "photo", onFreshInstall: .run) {
            [log = app.log] _, _ in
            if failing { throw Mishap() }
            log.add("2.1")
        }
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"]) {}
        manager.afterMigratingToVersion("3.1") { [log = app.log] _ in log.add("3.1") }
        return manager
    }

    @Test("keeps later deferred work waiting while the database of the deferred one cannot be read")
    func unreadable() async throws {
        let database = try app.folder.queue("photos.sqlite")
        let store = MigrationStore.inMemory()
        try await photos("3.0", in: database, store).migrate()
        let last = try photos("3.1", in: database, store)
        try await last.migrate()
        try database.close()
        let report = try await last.runDeferred()
        #expect(app.log.lines == [])
        #expect(report.completed == [])
        #expect(report.pending.map(\.work.version).sorted() == ["2.1", "3.1"])
        #expect(!report.canContinue)
    }

    @Test("keeps later deferred work waiting while the deferred one fails, and no run comes again for that")
    func failingBefore() async throws {
        let database = try app.folder.queue("photos.sqlite")
        let store = MigrationStore.inMemory()
        try await photos("3.0", in: database, store).migrate()
        let last = try photos("3.1", in: database, store, failing: true)
        try await last.migrate()
        let report = try await last.runDeferred()
        #expect(report.pending.map(\.work.version) == ["2.1", "3.1"])
        #expect(report.failures.map(\.code) == [.stepFailed])
        #expect(!report.canContinue)
        #expect(app.log.lines == [])
    }
}

@Suite("The first record of an install", .timed)
struct FirstRecordTests {
    @Test("is the store's, so that no database says that the install has been launched before")
    func storeFirst() throws {
        let app = try App()
        let database = try app.open()
        let full = FullOnce()
        let log = app.log
        func manager(_ version: String) throws -> MigrationManager {
            let manager = try app.manager(version, adopting: Adoption { "1.0" }, store: MigrationStore(full))
            manager.whenMigratingToVersion("1.1") { log.add("1.1") }
            manager.whenMigratingToVersion("2.0", in: database) { _ in }
            return manager
        }
        #expect(throws: MigrationError.self) { try manager("2.0").migrate() }
        #expect(try MigrationStore.database(database).record(of: "Library") == nil)
        let report = try manager("3.0").migrate()
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(log.lines == ["1.1"])
    }

    /// A store whose first write fails.
    private struct FullOnce: RecordStorage {
        let inner = InMemoryStore()
        let isFull = Locked(true)

        var name: String { inner.name }
        func read(_ manager: String) throws -> StoreState { inner.read(manager) }
        func lock(_ manager: String) throws -> StoreLock { inner.lock(manager) }

        func update(
            _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
        ) throws {
            let wasFull = isFull.withLock { isFull in
                defer { isFull = false }
                return isFull
            }
            if wasFull { throw POSIXError(.ENOSPC) }
            try inner.update(manager, waitingUpTo: limit, change)
        }
    }
}
