import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A SQLite store", .timed)
struct SQLiteStoreTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue
    let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue("records.sqlite")
        store = SQLiteStore(queue)
    }

    private var record: MigrationRecord {
        get throws {
            var record = MigrationRecord(start: try AppVersion(parsing: "1.0"))
            record.settle(WorkID("1.1"))
            record.settle(WorkID("1.1-1"), as: .notNeeded)
            record[WorkID("0.9")] = .open(OpenWork(isOwed: true))
            record.completed = try AppVersion(parsing: "1.1")
            record.highest = try AppVersion(parsing: "2.0")
            record.downgradedTo = try AppVersion(parsing: "1.1")
            record.changeOpen(WorkID("2.0")) { work in
                work.deaths = 1
                work.running = OpenWork.Start(
                    build: "2.0 (417)", since: Date(timeIntervalSince1970: 1_772_474_651))
            }
            return record
        }
    }

    private func rows() throws -> [String] {
        try queue.strings(
            """
            SELECT part || ' ' || name || ' ' || value FROM app_migrations WHERE part <> 'id'
            ORDER BY part, name
            """)
    }

    @Test("has an id, which it keeps")
    func id() throws {
        try store.changeRecord(of: "A") { $0 = try record }
        let id = try #require(try store.read("A").id)
        #expect(UUID(uuidString: id) != nil)
        try store.changeRecord(of: "B") { $0 = try record }
        #expect(try SQLiteStore(folder.queue("records.sqlite")).read("B").id == id)
    }

    @Test("is empty before its first use, and reading does not change that")
    func unused() throws {
        #expect(store.name == "records.sqlite")
        #expect(try store.read("Library") == StoreState())
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
    }

    /// Reads a store when the first transaction ends.
    private final class ReadingObserver: TransactionObserver {
        let store: SQLiteStore
        private var hasEnded = false
        private(set) var state: StoreState?

        init(_ store: SQLiteStore) { self.store = store }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}

        func databaseDidCommit(_ db: Database) {
            guard !hasEnded else { return }
            hasEnded = true
            state = try? store.read("Library")
        }
    }

    @Test("can be read by an observer of the app while it is being read")
    func readingObserver() throws {
        let observer = ReadingObserver(store)
        queue.add(transactionObserver: observer)
        let state = Locked<StoreState?>(nil)
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [store] in
            let value = try? store.read("Library")
            state.withLock { $0 = value }
            end.signal()
        }
        // Decides nothing but when to give up on a reading that would hang.
        #expect(end.wait(timeout: .now() + 600) == .success)
        #expect(state.withLock { $0 } == StoreState())
        #expect(observer.state == StoreState())
    }

    @Test("returns the state that was written")
    func roundTrip() throws {
        let seen = SeenVersion(
            version: try AppVersion(parsing: "1.0"), first: Date(timeIntervalSince1970: 1_767_778_200))
        try store.update("Library") { state in
            try state.setRecord(record, of: "Library")
            state.see(seen.version, in: "app", at: seen.first)
        }
        for store in [store, try SQLiteStore(folder.queue("records.sqlite"))] {
            #expect(try store.record(of: "Library") == record)
            #expect(try store.read("Library").seen == ["app": [seen]])
        }
        #expect(
            try rows() == [
                #"format  "1.0""#,
                """
                managers Library {"completed":"1.1","done":["1.1"],"downgradedTo":"1.1","highest":"2.0","notNeeded":["1.1-1"],\
                "open":{"0.9":{"owed":true},\
                "2.0":{"deaths":1,"running":{"build":"2.0 (417)","since":"2026-03-02T18:04:11Z"}}},"start":"1.0"}
                """,
                #"seen app [{"first":"2026-01-07T09:30:00Z","version":"1.0"}]"#,
            ])
    }

    @Test("stores a record for each manager, and shared seen versions")
    func managers() throws {
        let names = ["Library", "Library' OR 1", "", "Ünïcödé 🐛", "a\nb"]
        for (index, name) in names.enumerated() {
            let version = try AppVersion(parsing: "\(index + 1).0")
            try store.update(name) { state in
                #expect(try state.record(of: name) == nil)
                try state.setRecord(MigrationRecord(start: version), of: name)
                state.see(version, in: "app", at: .distantPast)
            }
        }
        for (index, name) in names.enumerated() {
            let state = try store.read(name)
            #expect(try state.record(of: name)?.start == AppVersion("\(index + 1).0"))
            #expect(state.seen["app"]?.map(\.version.description) == ["1.0", "2.0", "3.0", "4.0", "5.0"])
        }
        #expect(try store.record(of: "Other") == nil)
    }

    @Test("forgets one record, and keeps the others")
    func forget() throws {
        for name in ["A", "B"] { try store.changeRecord(of: name) { $0 = MigrationRecord(start: nil) } }
        try store.changeRecord(of: "A") { $0 = nil }
        #expect(try store.record(of: "A") == nil)
        #expect(try store.record(of: "B") != nil)
    }

    @Test("changes nothing if the change throws")
    func throwing() throws {
        try store.changeRecord(of: "A") { $0 = MigrationRecord(start: nil) }
        let before = try rows()
        #expect(throws: Mishap.self) {
            try store.changeRecord(of: "A") { record in
                record = nil
                throw Mishap()
            }
        }
        #expect(try rows() == before)
        try store.changeRecord(of: "A") { $0 = nil }
    }

    @Test("keeps the fields of a newer minor format")
    func unknownKeys() throws {
        try store.changeRecord(of: "A") { $0 = try record }
        try queue.execute(
            """
            UPDATE app_migrations SET value = '"1.7"' WHERE part = 'format';
            UPDATE app_migrations SET value = '{"start":"1.0","done":[],"mood":{"a":[1,null]}}'
            WHERE part = 'managers';
            INSERT INTO app_migrations VALUES ('moods', 'today', '"good"'),
                ('seen', 'app', '[{"version":"1.0","first":"2026-01-07T09:30:00Z","where":"Bonn"}]');
            """)
        try store.update("A") { state in
            try state.changeRecord(of: "A") { $0?.completed = "1.0" }
            state.see("2.0", in: "app", at: .distantPast)
        }
        #expect(
            try rows() == [
                #"format  "1.7""#,
                #"managers A {"completed":"1.0","done":[],"mood":{"a":[1,null]},"start":"1.0"}"#,
                #"moods today "good""#,
                """
                seen app [{"first":"2026-01-07T09:30:00Z","version":"1.0","where":"Bonn"},\
                {"first":"0001-01-01T00:00:00Z","version":"2.0"}]
                """,
            ])
    }

    // MARK: Damage

    private static let restore =
        "Nothing was changed. Restore it from a backup, or call replaceRecord(assuming:)."

    @Test(
        "is refused if it is damaged",
        arguments: [
            (
                "UPDATE app_migrations SET value = '{' WHERE part = 'managers'",
                "records.sqlite: damaged at managers.A: not valid JSON. \(restore)"
            ),
            (
                "UPDATE app_migrations SET value = '[]' WHERE part = 'managers'",
                "records.sqlite: damaged at managers.A: expected an object. \(restore)"
            ),
            (
                "UPDATE app_migrations SET value = '{}' WHERE part = 'managers'",
                "records.sqlite: damaged at managers.A.done: expected a list. \(restore)"
            ),
            (
                "UPDATE app_migrations SET value = '7' WHERE part = 'format'",
                "records.sqlite: no \"format\" such as \"1.0\". \(restore)"
            ),
            (
                "INSERT INTO app_migrations VALUES ('seen', 'app', '{}')",
                "records.sqlite: damaged at seen.app: expected a list. \(restore)"
            ),
            (
                "UPDATE app_migrations SET value = x'ff' WHERE part = 'managers'",
                "records.sqlite: the table app_migrations holds values that are not text. \(restore)"
            ),
        ])
    func damaged(sql: String, description: String) throws {
        try store.changeRecord(of: "A") { $0 = try record }
        try queue.execute(sql)
        let before = try queue.strings("SELECT quote(value) FROM app_migrations")
        let reading = try #require(throws: MigrationError.self) { try store.record(of: "A") }
        #expect(reading.code == .damagedStore)
        #expect(reading.description == description)
        let writing = try #require(throws: MigrationError.self) {
            try store.changeRecord(of: "A") { $0 = nil }
        }
        #expect(writing.description == description)
        #expect(try queue.strings("SELECT quote(value) FROM app_migrations") == before)
    }

    @Test("is refused if a newer version wrote it")
    func newerFormat() throws {
        try store.changeRecord(of: "A") { $0 = try record }
        try queue.execute("UPDATE app_migrations SET value = '\"2.0\"' WHERE part = 'format'")
        let error = try #require(throws: MigrationError.self) { try store.read("A") }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                records.sqlite: format 2.0 is newer than 1.0, which this version of AppMigrations reads. A newer \
                version of the app wrote it: update the app.
                """)
    }

    @Test("is refused if another table has its name")
    func otherTable() throws {
        try queue.execute("CREATE TABLE app_migrations(x)")
        let error = try #require(throws: MigrationError.self) { try store.read("A") }
        #expect(error.code == .unreadableStore)
        #expect(
            error.description == """
                records.sqlite: cannot be read: no such column: part (SQLite 1). No step runs while it cannot be read, \
                because it says which steps have run. Make it readable, then launch again.
                """)
        #expect(error.underlyingError is DatabaseError)
    }

    @Test("cannot be read in a damaged database, whose rows can be saved")
    func damagedPage() throws {
        try store.changeRecord(of: "A") { $0 = try record }
        let root = try #require(
            try queue.integer("SELECT rootpage FROM sqlite_master WHERE name = 'app_migrations'"))
        let pageSize = try #require(try queue.integer("PRAGMA page_size"))
        let copy = folder.url.appendingPathComponent("damaged.sqlite")
        try queue.execute("VACUUM INTO '\(copy.path)'")
        let file = try FileHandle(forUpdating: copy)
        try file.seek(toOffset: UInt64((root - 1) * pageSize))
        try file.write(contentsOf: Data(count: Int(pageSize)))
        try file.close()
        let damaged = SQLiteStore(try DatabaseQueue(path: copy.path))
        let error = try #require(throws: MigrationError.self) { try damaged.read("A") }
        #expect(error.code == .unreadableStore)
        #expect(error.advice == .repair)
        #expect(
            error.remedy == "Save its rows with DatabaseFile.salvage(into:), or restore a backup.")
    }

    // MARK: Databases

    @Test("can be a separate file")
    func path() throws {
        let path = folder.path("own.sqlite")
        try SQLiteStore(DatabaseQueue(path: path)).changeRecord(of: "A") { $0 = try record }
        #expect(try SQLiteStore(DatabaseQueue(path: path)).record(of: "A") == record)
    }

    @Test("can be the app's own database of every kind")
    func databases() throws {
        let databases: [any DatabaseWriter] = [
            try folder.queue(), try folder.pool("pool.sqlite"), try DatabaseQueue(),
        ]
        for database in databases {
            try database.execute("CREATE TABLE entry(x)")
            let store = SQLiteStore(database)
            try store.changeRecord(of: "A") { $0 = try record }
            #expect(try store.record(of: "A") == record)
            #expect(try database.writeWithoutTransaction { _ in try store.record(of: "A") } == record)
        }
    }

    @Test("can be read inside a transaction, but not written")
    func insideTransaction() throws {
        try queue.write { _ in
            #expect(try store.read("A") == StoreState())
            let error = try #require(throws: MigrationError.self) { try store.update("A") { _ in } }
            #expect(error.code == .misuse)
            #expect(
                error.description == """
                    records.sqlite: is migrated from inside one of its own transactions. Migrate before db.write { … } \
                    or db.read { … }, not in it.
                    """)
        }
    }

    // MARK: Locks

    @Test("locks one manager against other store objects")
    func lock() throws {
        let path = folder.path("records.sqlite")
        let stores = [store, try SQLiteStore(DatabaseQueue(path: path))]
        for (first, second) in [(stores[0], stores[1]), (stores[1], stores[0])] {
            guard case .acquired(_, let release) = try first.lock("A/1") else {
                Issue.record("The lock is free.")
                return
            }
            #expect(holder(try second.lock("A/1")) == .thisProcess)
            let other = try second.lock("A/2")
            #expect(holder(other) == nil)
            if case .acquired(_, let release) = other { release() }
            release()
        }
        #expect(FileManager.default.fileExists(atPath: path + ".A%2f1.lock"))
    }

    @Test("is one place for connections by path and by URI, and locks one against the other")
    func uri() throws {
        let path = folder.path("my records.sqlite")
        let uri = URL(fileURLWithPath: path).absoluteString
        #expect(uri.databasePath == path)
        #expect("\(uri)?note=mode=memory&xvfs=memdb".databasePath == path)
        // Other builds of SQLite take it for a path.
        guard try queue.strings("PRAGMA compile_options").contains(where: { $0.hasPrefix("USE_URI") }) else {
            return
        }
        let stores = try [path, uri, uri].map { try SQLiteStore(DatabaseQueue(path: $0)) }
        #expect(stores[1].id == stores[0].id)
        #expect(stores[1].name == "my records.sqlite")
        guard case .acquired(_, let release) = try stores[1].lock("A") else {
            Issue.record("The lock is free.")
            return
        }
        #expect(holder(try stores[0].lock("A")) == .thisProcess)
        #expect(holder(try stores[2].lock("A")) == .thisProcess)
        release()
    }

    @Test(
        "is in memory where a URI says so",
        arguments: ["file::memory:", "file::memory:?cache=shared", "file:a?mode=memory", "file:/b?vfs=memdb"])
    func uriInMemory(uri: String) {
        #expect(uri.databasePath == nil)
    }

    @Test("lets whoever may write to the database take its lock", arguments: [0o600, 0o666])
    func lockPermissions(mode: Int) throws {
        let path = folder.path("records.sqlite")
        try Data().write(to: URL(fileURLWithPath: path + ".A.lock"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        guard case .acquired(_, let release) = try store.lock("A") else {
            Issue.record("The lock is free.")
            return
        }
        release()
        let attributes = try FileManager.default.attributesOfItem(atPath: path + ".A.lock")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
    }

    @Test("is known by its URI, as databases in memory are that have a name")
    func pathInMemory() throws {
        #expect(try SQLiteStore(DatabaseQueue()).path == ":memory:")
        let cache = try DatabaseQueue(named: "cache")
        #expect(SQLiteStore(cache).path == "file:cache?mode=memory&cache=shared")
    }

    @Test("locks managers of a database in memory")
    func lockInMemory() throws {
        let queue = try DatabaseQueue()
        guard case .acquired(_, let release) = try SQLiteStore(queue).lock("A") else {
            Issue.record("The lock is free.")
            return
        }
        #expect(holder(try SQLiteStore(queue).lock("A")) == .thisProcess)
        let other = try DatabaseQueue()
        guard case .acquired(_, let releaseOther) = try SQLiteStore(other).lock("A") else {
            Issue.record("Another database is another lock.")
            return
        }
        releaseOther()
        release()
        #expect(holder(try SQLiteStore(queue).lock("A")) == nil)
    }

    private func holder(_ lock: StoreLock) -> LockHolder? {
        if case .held(let holder) = lock { return holder }
        return nil
    }

    @Test(
        "is to be opened again if its file was moved or removed while it was open", arguments: [false, true])
    func movedFile(isRemoved: Bool) throws {
        try store.changeRecord(of: "A") { $0 = try record }
        let path = folder.path("records.sqlite")
        if isRemoved {
            try FileManager.default.removeItem(atPath: path)
        } else {
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        }
        let error = try #require(throws: MigrationError.self) {
            try store.changeRecord(of: "B") { $0 = try record }
        }
        #expect(error.code == .unwritable)
        #expect(
            error.description == """
                records.sqlite: cannot be written: the file of the open database is no longer found at its path (SQLite \
                1032). If the file was moved, replaced or removed, close the database, and open it at its path again. If \
                not, make its folder readable.
                """)
    }

    @Test("is unwritable if its lock file cannot be opened")
    func lockFile() throws {
        let lock = folder.url.appendingPathComponent("records.sqlite.A.lock")
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        let error = try #require(throws: MigrationError.self) { try store.lock("A") }
        #expect(error.code == .unwritable)
        #expect(
            error.description == """
                records.sqlite: cannot be written: Is a directory (\(lock.path)). Make it writable, then launch again. \
                A step that was not recorded runs again.
                """)
    }
}
