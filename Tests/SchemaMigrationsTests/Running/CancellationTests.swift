import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Cancelling a migration", .timed)
struct CancellationTests {
    let folder: TemporaryFolder

    /// A statement that never ends.
    private static let endless = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
        """

    init() throws {
        folder = try TemporaryFolder()
    }

    /// One group that is committed, and a second that contains a statement that never ends.
    private func migrator(started: DispatchSemaphore) throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: [
                CodeMigration(1, "Code1", foreignKeys: .immediate) { db in
                    try db.execute(sql: "CREATE TABLE a(x)")
                },
                CodeMigration(3, "Code3") { db in
                    try db.execute(sql: "CREATE TABLE b(x); INSERT INTO b VALUES (1); CREATE TABLE c(x)")
                    started.signal()
                    try db.execute(sql: Self.endless)
                },
            ], options: SchemaOptions(commits: .grouped(after: .seconds(600))))
    }

    /// The setting of a connection that has migrated nothing, which depends on how SQLite was built.
    private func synchronous(_ isPool: Bool) throws -> Int64? {
        let name = "\(UUID().uuidString).sqlite"
        let other: any DatabaseWriter = isPool ? try folder.pool(name) : try folder.queue(name)
        try other.execute("CREATE TABLE a(x)")
        return try other.integer("PRAGMA synchronous")
    }

    private func expectStoppedBetweenGroups(_ database: any DatabaseWriter) throws {
        #expect(try database.tables() == ["a"])
        #expect(try database.ledger() == [1])
        #expect(try database.integer("PRAGMA foreign_keys") == 1)
        #expect(try database.integer("PRAGMA synchronous") == synchronous(database is DatabasePool))

        try database.execute("CREATE TABLE after(x); INSERT INTO after VALUES (1)")
        let fixed = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), CodeMigration(2, sql: "CREATE TABLE b(x)"),
            CodeMigration(3, sql: "CREATE TABLE c(x)"),
        ])
        #expect(try fixed.migrate(database).applied == [2, 3])
    }

    @Test(
        "by its progress interrupts a statement, rolls its group back, and keeps earlier groups",
        arguments: [false, true])
    func progress(isPool: Bool) throws {
        let database: any DatabaseWriter = isPool ? try folder.pool() : try folder.queue()
        let started = DispatchSemaphore(value: 0)
        let schema = try migrator(started: started)
        let progress = Progress(totalUnitCount: 0)
        Thread.detachNewThread {
            started.wait()
            progress.cancel()
        }
        #expect(throws: CancellationError.self) { try schema.migrate(database, progress: progress) }
        try expectStoppedBetweenGroups(database)
    }

    @Test("cancelling by its progress interrupts a statement while all threads of Dispatch are blocked")
    func blockedDispatch() throws {
        let queue = try folder.queue()
        let started = DispatchSemaphore(value: 0)
        let schema = try migrator(started: started)
        let progress = Progress(totalUnitCount: 0)
        let blocked = BlockedDispatch()
        Thread.detachNewThread {
            started.wait()
            progress.cancel()
        }
        #expect(throws: CancellationError.self) { try schema.migrate(queue, progress: progress) }
        #expect(blocked.end(), "they were blocked until the run had ended")
        try expectStoppedBetweenGroups(queue)
    }

    @Test("cancelling by a parent of its progress interrupts a statement")
    func parent() throws {
        let queue = try folder.queue()
        let started = DispatchSemaphore(value: 0)
        let schema = try migrator(started: started)
        let whole = Progress(totalUnitCount: 2)
        let part = Progress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
        Thread.detachNewThread {
            started.wait()
            whole.cancel()
        }
        #expect(throws: CancellationError.self) { try schema.migrate(queue, progress: part) }
        try expectStoppedBetweenGroups(queue)
    }

    @Test("cancelling by its task interrupts a statement, rolls its group back, and keeps earlier groups")
    func task() async throws {
        let queue = try folder.queue()
        let started = DispatchSemaphore(value: 0)
        let schema = try migrator(started: started)
        let task = Task { try await schema.migrate(queue) }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                started.wait()
                continuation.resume()
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try expectStoppedBetweenGroups(queue)
    }

    @Test("interrupts a statement in a file, even in one without a transaction")
    func file() throws {
        for sql in ["SELECT count(started(x + 0)) FROM a", "-- migrations: transaction=none\nREINDEX a"] {
            let started = DispatchSemaphore(value: 0)
            let isMigrated = Locked(false)
            var configuration = Configuration()
            configuration.prepareDatabase { db in
                // The statement calls this function, so that it is running when it is cancelled.
                db.add(
                    function: DatabaseFunction("started", argumentCount: 1, pure: true) { values in
                        if isMigrated.withLock({ $0 }) {
                            started.signal()
                            Thread.sleep(forTimeInterval: 0.001)
                        }
                        return values[0]
                    })
            }
            let queue = try folder.queue(sql.hasPrefix("--") ? "b.sqlite" : "a.sqlite", configuration)
            let progress = Progress(totalUnitCount: 0)
            let schema = try SchemaMigrator(migrations: [
                SQLMigration(
                    version: 1, name: "a",
                    sql: """
                        CREATE TABLE a(x); CREATE INDEX a_x ON a(started(x));
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
                        INSERT INTO a SELECT i FROM n;
                        """), SQLMigration(version: 2, name: "long", sql: sql),
            ])
            try schema.migrate(queue, upTo: 1)
            isMigrated.withLock { $0 = true }
            Thread.detachNewThread {
                started.wait()
                progress.cancel()
            }
            #expect(throws: CancellationError.self) { try schema.migrate(queue, progress: progress) }
            #expect(try queue.ledger() == [1])
            #expect(try queue.tables() == ["a"])
        }
    }

    @Test(
        "by the system, which is about to suspend the app, interrupts a statement before the app is suspended"
    )
    func suspended() throws {
        let system = FakeSystem()
        let queue = try folder.queue()
        let started = DispatchSemaphore(value: 0)
        let schema = try migrator(started: started)
        Thread.detachNewThread {
            started.wait()
            system.expire()
        }
        ExpiringActivity.$current.withValue(ExpiringActivity(requestingTime: system.request)) {
            let error = #expect(throws: MigrationError.self) { try schema.migrate(queue) }
            #expect(error?.code == .suspended)
            #expect(error?.committed == [1])
        }
        #expect(system.reasons == ["AppMigrations: schema migrations"])
        try expectStoppedBetweenGroups(queue)
    }

    @Test("between two statements rolls the migration back")
    func between() throws {
        let queue = try folder.queue()
        let progress = Progress(totalUnitCount: 0)
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "Code1") { db in
                try db.execute(sql: "CREATE TABLE a(x)")
                progress.cancel()
            },
            CodeMigration(2, sql: "CREATE TABLE b(x)"),
        ])
        #expect(throws: CancellationError.self) { try schema.migrate(queue, progress: progress) }
        #expect(try queue.tables() == [])
    }

    @Test("cancelling before it starts runs nothing")
    func before() async throws {
        let queue = try folder.queue()
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: "CREATE TABLE a(x)")])
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()
        await #expect(throws: CancellationError.self) { try await schema.migrate(queue, progress: progress) }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await schema.migrate(queue)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
        #expect(try await schema.migrate(queue).applied == [1])
    }

    @Test("succeeds even if the migration ignores the interruption")
    func swallowed() throws {
        let queue = try folder.queue()
        let progress = Progress(totalUnitCount: 0)
        let started = DispatchSemaphore(value: 0)
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "Code1") { db in
                started.signal()
                try? db.execute(sql: Self.endless)
            }
        ])
        Thread.detachNewThread {
            started.wait()
            progress.cancel()
        }
        #expect(throws: CancellationError.self) { try schema.migrate(queue, progress: progress) }
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
    }

    @Test("ends the wait for another connection")
    func waiting() throws {
        let queue = try folder.queue()
        let schema = try SchemaMigrator(
            migrations: [CodeMigration(1, sql: "")], options: SchemaOptions(busyTimeout: .seconds(600)))
        let progress = Progress(totalUnitCount: 0)
        try folder.queue().write { db in
            try db.execute(sql: "CREATE TABLE a(x)")
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 0.05)
                progress.cancel()
            }
            #expect(throws: CancellationError.self) { try schema.migrate(queue, progress: progress) }
        }
    }

    @Test("the asynchronous call does not run on the main thread")
    @MainActor
    func thread() async throws {
        let queue = try folder.queue()
        let wasMain = Locked<[Bool]>([])
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "Code1") { _ in
                let isMain = Thread.isMainThread
                wasMain.withLock { $0.append(isMain) }
            }
        ])
        let report = try await schema.migrate(queue)
        #expect(report.applied == [1])
        #expect(wasMain.withLock { $0 } == [false])
    }
}
