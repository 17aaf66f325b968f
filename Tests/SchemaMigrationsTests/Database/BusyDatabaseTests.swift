import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A busy database", .timed)
struct BusyDatabaseTests {
    let folder: TemporaryFolder
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        schema = try SchemaMigrator(
            directory: folder.folder(["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)"]),
            options: SchemaOptions(busyTimeout: .milliseconds(50)))
    }

    private static let description = """
        database is locked (SQLite 5). Another connection or process is using the database. Let it finish, then retry.
        """

    private func busyModes() -> [(Database.BusyMode, String)] {
        [(.immediateError, "0"), (.timeout(0.02), "20"), (.callback { $0 < 3 }, "0")]
    }

    @Test("is waited for wherever the migrator reads it")
    func readings() throws {
        let queue = try folder.queue()
        try queue.execute("CREATE TABLE a(x)")
        let other = try folder.queue()
        let hasBegun = Locked(false)
        let adoption = SchemaAdoption { _ in
            let begins = hasBegun.withLock { hasBegun in
                defer { hasBegun = true }
                return !hasBegun
            }
            guard begins else { return 1 }
            try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 0.2)
                try? other.inDatabase { try $0.execute(sql: "COMMIT") }
            }
            return 1
        }
        let schema = try SchemaMigrator(
            migrations: schema.migrations,
            options: SchemaOptions(busyTimeout: .seconds(60)), adopting: adoption)
        #expect(try schema.migrate(queue).applied == [2])
    }

    @Test("is read again if its schema changes meanwhile")
    func changingSchema() throws {
        let queue = try folder.queue()
        try queue.execute("CREATE TABLE a(x)")
        nonisolated(unsafe) var readings = 0
        let adoption = SchemaAdoption { _ in
            readings += 1
            // SQLite's error if the schema has changed after each of its own attempts.
            if readings == 1 { throw DatabaseError(resultCode: .SQLITE_SCHEMA) }
            return 1
        }
        let adopting = try SchemaMigrator(migrations: schema.migrations, adopting: adoption)
        #expect(try adopting.migrate(queue).applied == [2])
        #expect(readings > 1)
    }

    @Test("is an error while another connection writes, and is migrated afterwards")
    func writer() throws {
        for (index, (mode, timeout)) in busyModes().enumerated() {
            var configuration = Configuration()
            configuration.busyMode = mode
            let name = "\(index).sqlite"
            let queue = try folder.queue(name, configuration)
            let other = try folder.queue(name)
            try schema.migrate(queue, upTo: 1)
            try other.write { db in
                try db.execute(sql: "INSERT INTO a VALUES (1)")
                let error = try failure { try schema.migrate(queue) }
                #expect(error.code == .locked)
                #expect(error.description == Self.description)
                #expect(error.sqliteCode == 5)
                #expect(error.committed == [])
            }
            #expect(try queue.strings("PRAGMA busy_timeout") == [timeout])
            #expect(try schema.migrate(queue).applied == [2])
            #expect(try queue.strings("PRAGMA busy_timeout") == [timeout])
            #expect(try queue.integers("SELECT x FROM a") == [1])
        }
    }

    @Test("is an error while a reader stays, and is migrated when it ends")
    func reader() throws {
        var schema = schema
        let queue = try folder.queue()
        try schema.migrate(queue, upTo: 1)
        try folder.queue().read { db in
            _ = try Int.fetchAll(db, sql: "SELECT x FROM a")
            let error = try failure { try schema.migrate(queue) }
            #expect(error.description == Self.description)
            #expect(error.committed == [])
        }
        #expect(try queue.ledger() == [1])

        schema.options.busyTimeout = .seconds(600)
        let reader = try folder.queue()
        let isReading = DispatchSemaphore(value: 0)
        let isOpen = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? reader.read { db in
                _ = try Int.fetchAll(db, sql: "SELECT x FROM a")
                isReading.signal()
                isOpen.wait()
                // Meanwhile the migration reaches its commit.
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
        isReading.wait()
        isOpen.signal()
        #expect(try schema.migrate(queue).applied == [2])
    }

    @Test("keeps the app's busy callback, which decides how long to wait")
    func callback() throws {
        let calls = Locked(0)
        var configuration = Configuration()
        configuration.busyMode = .callback { tries in
            calls.withLock { $0 += 1 }
            return tries < 3
        }
        let queue = try folder.queue("app.sqlite", configuration)
        try folder.queue().write { db in
            try db.execute(sql: "CREATE TABLE x(x)")
            _ = try failure { try schema.migrate(queue) }
        }
        #expect(calls.withLock { $0 } > 0)
        calls.withLock { $0 = 0 }
        try folder.queue().write { db in
            try db.execute(sql: "CREATE TABLE y(x)")
            #expect(throws: DatabaseError.self) { try queue.execute("CREATE TABLE z(x)") }
        }
        #expect(calls.withLock { $0 } == 4)
    }

    /// All calls that wait for the database.
    private static let calls: [(String, @Sendable (SchemaMigrator, DatabaseQueue) throws -> Void)] = [
        ("markApplied", { try $0.markApplied($1, upTo: 1) }),
        ("acceptEdits", { try $0.acceptEdits($1, of: [1]) }),
        ("rollback", { try $0.rollback($1, to: 0) }),
        ("migrate(path:)", { _ = try $0.migrate(path: $1.path, configuration: $1.configuration) }),
        ("migrate", { _ = try $0.migrate($1) }),
    ]

    @Test("makes every call wait only as long as the option says", arguments: calls.indices)
    func everyCall(index: Int) throws {
        let (name, call) = Self.calls[index]
        let statements = Locked(0)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.trace { _ in statements.withLock { $0 += 1 } }
        }
        let queue = try folder.queue("app.sqlite", configuration)
        try folder.folder(["1_a.down.sql": "DROP TABLE a"])
        var schema = try SchemaMigrator(directory: folder.url.appendingPathComponent("migrations"))
        try schema.migrate(queue, upTo: 1)
        var unsafe = Configuration()
        unsafe.allowsUnsafeTransactions = true
        let blocker = try folder.queue("app.sqlite", unsafe)
        try blocker.execute("BEGIN EXCLUSIVE")
        schema.options.busyTimeout = .zero
        statements.withLock { $0 = 0 }
        let error = try failure { try call(schema, queue) }
        // A file that the call itself opens is named.
        #expect(error.description.hasSuffix(Self.description), "\(name)")
        // In the ten seconds of the default, a thousand and more.
        #expect(statements.withLock { $0 } < 30, "\(name)")
        try blocker.execute("ROLLBACK")
        try call(schema, queue)
    }

    @Test("is an error between two groups, and the error lists what was committed")
    func betweenGroups() throws {
        let queue = try folder.queue()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let blocker = try folder.queue("app.sqlite", configuration)
        let schema = try SchemaMigrator(
            migrations: [
                CodeMigration(1, "Code1", foreignKeys: .immediate) { db in
                    try db.execute(sql: "CREATE TABLE a(x)")
                    db.afterNextTransaction { _ in try? blocker.execute("BEGIN IMMEDIATE") }
                },
                CodeMigration(2, sql: "CREATE TABLE b(x)"),
            ], options: SchemaOptions(busyTimeout: .milliseconds(50)))
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .locked)
        #expect(error.description == Self.description)
        #expect(error.committed == [1])
        try blocker.execute("ROLLBACK")
        #expect(try queue.ledger() == [1])
        #expect(try schema.migrate(queue).applied == [2])
    }

    @Test("delays a file without a transaction, and a timeout lists what was committed")
    func bare() throws {
        for isInVain in [false, true] {
            let name = "\(isInVain).sqlite"
            let queue = try folder.queue(name)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let blocker = try folder.queue(name, configuration)
            let isBlocked = Locked(false)
            let observer = AfterCommit(2) {
                isBlocked.withLock { $0 = (try? blocker.execute("BEGIN IMMEDIATE")) != nil }
                if isInVain { return }
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.1)
                    try? blocker.execute("ROLLBACK")
                }
            }
            queue.add(transactionObserver: observer, extent: .databaseLifetime)
            let schema = try SchemaMigrator(
                directory: folder.folder(
                    ["1_a.sql": "CREATE TABLE a(x)", "2_v.sql": "-- migrations: transaction=none\nVACUUM"],
                    named: "files-\(isInVain)"),
                options: SchemaOptions(busyTimeout: isInVain ? .milliseconds(50) : .seconds(600)))
            if isInVain {
                let error = try failure { try schema.migrate(queue) }
                #expect(error.description == "2_v.sql:2: \(Self.description)")
                #expect(error.committed == [1])
                try blocker.execute("ROLLBACK")
                #expect(try schema.migrate(queue).applied == [2])
            } else {
                #expect(try schema.migrate(queue).applied == [1, 2])
            }
            #expect(isBlocked.withLock { $0 })
        }
    }

    @Test("is migrated while the app's pool has snapshots, which do not change")
    func snapshot() throws {
        let pool = try folder.pool()
        try schema.migrate(pool, upTo: 1)
        let snapshot = try pool.makeSnapshot()
        let other = try folder.pool().makeSnapshot()
        try pool.read { db in
            _ = try Int.fetchAll(db, sql: "SELECT x FROM a")
        }
        #expect(try schema.migrate(pool).applied == [2])
        #expect(try snapshot.tables() == ["a"])
        #expect(try other.tables() == ["a"])
        #expect(try pool.tables() == ["a", "b"])
        #expect(try pool.integer("PRAGMA foreign_keys") == 1)
    }

    @Test("is migrated during long reads on other threads")
    func longReads() throws {
        let pool = try folder.pool()
        try schema.migrate(pool, upTo: 1)
        let areReading = DispatchGroup()
        let hasMigrated = DispatchSemaphore(value: 0)
        let seen = Locked<[Int64?]>([])
        let haveRead = DispatchGroup()
        for _ in 0..<3 {
            areReading.enter()
            haveRead.enter()
            Thread.detachNewThread {
                try? pool.read { db in
                    _ = try Int.fetchAll(db, sql: "SELECT x FROM a")
                    areReading.leave()
                    hasMigrated.wait()
                    let tables = try Int64.fetchOne(
                        db, sql: "SELECT count(*) FROM sqlite_master WHERE name = 'b'")
                    seen.withLock { $0.append(tables) }
                }
                haveRead.leave()
            }
        }
        areReading.wait()
        #expect(try schema.migrate(pool).applied == [2])
        for _ in 0..<3 { hasMigrated.signal() }
        haveRead.wait()
        #expect(seen.withLock { $0 } == [0, 0, 0])
        #expect(try pool.tables() == ["a", "b"])
    }
}

/// Calls a closure right after a given number of commits that change the database.
private final class AfterCommit: TransactionObserver {
    private(set) var count = 0
    private let number: Int
    private let body: () -> Void
    private var isChanging = false

    init(_ number: Int, _ body: @escaping () -> Void) {
        self.number = number
        self.body = body
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange() { isChanging = true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {
        guard isChanging else { return }
        isChanging = false
        count += 1
        if count == number { body() }
    }
    func databaseDidRollback(_ db: Database) {}
}
