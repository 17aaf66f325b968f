import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Migrating with nothing pending", .timed)
struct NothingPendingTests {
    let folder: TemporaryFolder
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        schema = try folder.migrator(["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)"])
    }

    /// The contents and modification date of each file.
    private func files() throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        where name.hasPrefix("app") {
            let date =
                try FileManager.default.attributesOfItem(atPath: folder.path(name))[.modificationDate]
                as? Date
            let contents = try Data(contentsOf: folder.url.appendingPathComponent(name))
            files[name] = "\(date?.timeIntervalSince1970 ?? 0) \(contents.base64EncodedString())"
        }
        return files
    }

    @Test("writes to no file")
    func unwritten() throws {
        try schema.migrate(folder.queue())
        let before = try files()
        #expect(before.count == 1)
        let queue = try folder.queue()
        let changes = try queue.integer("SELECT total_changes()")
        #expect(try schema.migrate(queue).applied == [])
        #expect(try schema.migrate(queue, upTo: 1).applied == [])
        #expect(try queue.integer("SELECT total_changes()") == changes)
        #expect(try files() == before)
    }

    @Test("writes to no file in WAL mode")
    func unwrittenWAL() throws {
        let pool = try folder.pool()
        try schema.migrate(pool)
        let before = try files().filter { $0.key != "app.sqlite-shm" }
        #expect(before.count == 2)
        #expect(try schema.migrate(pool).applied == [])
        #expect(try files().filter { $0.key != "app.sqlite-shm" } == before)
    }

    @Test("accepts a read-only database")
    func readOnly() throws {
        try schema.migrate(folder.queue())
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try folder.queue("app.sqlite", configuration)
        #expect(try schema.migrate(queue).applied == [])
        #expect(try queue.read(schema.status).pendingVersions.isEmpty)
    }

    @Test("accepts a database that another connection is writing to")
    func whileWriting() throws {
        try schema.migrate(folder.queue())
        let writer = try folder.queue()
        let queue = try folder.queue()
        try writer.write { db in
            try db.execute(sql: "INSERT INTO a VALUES (1)")
            #expect(try schema.migrate(queue).applied == [])
        }
    }

    @Test("a pending migration makes a read-only database an error")
    func readOnlyPending() throws {
        try schema.migrate(folder.queue(), upTo: 1)
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try folder.queue("app.sqlite", configuration)
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .unwritable)
        #expect(
            error.description == """
                2_b.sql:1: attempt to write a readonly database (SQLite 8). Make the file and its folder writable, \
                and open it for writing, then retry.
                """)
    }

    @Test("reports a file that is not a database")
    func noDatabase() throws {
        try Data(repeating: 0x41, count: 4096).write(to: folder.url.appendingPathComponent("app.sqlite"))
        let error = try #require(throws: (any Error).self) { try schema.migrate(folder.queue()) }
        #expect((error as? DatabaseError)?.resultCode == .SQLITE_NOTADB)
    }
}
