import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A SQLite store that has been read", .timed)
struct KnownRecordsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let replacement = """
        UPDATE app_migrations SET value = json_set(value, '$.completed', '9.0') WHERE part = 'managers'
        """

    private func open(_ kind: String) throws -> any DatabaseWriter {
        switch kind {
        case "queue": try folder.queue("records.sqlite")
        case "pool": try folder.pool("records.sqlite")
        default: try DatabaseQueue()
        }
    }

    private func write(_ version: AppVersion, of manager: String = "A", to store: SQLiteStore) throws {
        try store.update(manager) { state in
            var record = MigrationRecord(start: "1.0")
            record.completed = version
            try state.setRecord(record, of: manager)
        }
    }

    private func completed(_ store: SQLiteStore, of manager: String = "A") throws -> AppVersion? {
        try store.read(manager).record(of: manager)?.completed
    }

    @Test("sees what its own connection changes", arguments: ["queue", "pool", "memory"])
    func ownConnection(kind: String) throws {
        let database = try open(kind)
        let store = SQLiteStore(database)
        #expect(try completed(store) == nil)
        try write("1.1", to: store)
        #expect(try completed(store) == "1.1")
        try write("1.2", to: SQLiteStore(database))
        #expect(try completed(store) == "1.2")
        try write("3.0", of: "B", to: store)
        #expect(try completed(store) == "1.2")
        #expect(try completed(store, of: "B") == "3.0")
        try database.execute(Self.replacement)
        #expect(try completed(store) == "9.0")
        try database.execute("DROP TABLE app_migrations")
        #expect(try completed(store) == nil)
    }

    @Test("sees what another connection changes", arguments: ["queue", "pool"])
    func otherConnection(kind: String) throws {
        let store = SQLiteStore(try open(kind))
        let other = try folder.queue("records.sqlite")
        try write("1.1", to: store)
        #expect(try completed(store) == "1.1")
        try other.execute(Self.replacement)
        #expect(try completed(store) == "9.0")
        try write("9.1", to: SQLiteStore(other))
        #expect(try completed(store) == "9.1")
        try other.execute("DROP TABLE app_migrations")
        #expect(try completed(store) == nil)
    }

    @Test("sees what an open transaction changes, and forgets it with the transaction")
    func transaction() throws {
        let database = try folder.queue("records.sqlite")
        let store = SQLiteStore(database)
        try write("1.1", to: store)
        #expect(try completed(store) == "1.1")
        try database.inDatabase { db in
            try db.inTransaction {
                try db.execute(sql: Self.replacement)
                #expect(try completed(store) == "9.0")
                return .rollback
            }
        }
        #expect(try completed(store) == "1.1")
    }

    @Test("does not read a table again that nobody has changed")
    func unchanged() throws {
        let database = try folder.queue("records.sqlite")
        let store = SQLiteStore(database)
        try write("1.1", to: store)
        try write("1.1", of: "B", to: store)
        let queries = Locked<[String]>([])
        database.inDatabase { db in
            db.trace { event in queries.withLock { $0.append("\(event)") } }
        }
        for manager in ["A", "B", "A"] { #expect(try completed(store, of: manager) == "1.1") }
        #expect(queries.withLock { $0.filter { $0.contains("app_migrations") }.count } == 1)
    }
}
