import AppMigrations
import DatabaseFiles
import Dispatch
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The connections of a backup", .timed)
struct CopyConfigurationTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func migrator() throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: [
                CodeMigration(1, sql: "CREATE TABLE a(x TEXT COLLATE app); INSERT INTO a VALUES ('one')"),
                CodeMigration(2, sql: "INSERT INTO a VALUES ('two')"),
            ], options: SchemaOptions(backupFolder: folder.url))
    }

    @Test("are prepared as the app's own, even when it restores", arguments: [true, false])
    func prepared(isPool: Bool) throws {
        let opened = Opened()
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(collation: DatabaseCollation("app") { $0.compare($1) })
            opened.note(db)
        }
        let path = folder.path("app.sqlite")
        let database: any DatabaseWriter =
            isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        try migrator().migrate(database, upTo: 1)
        opened.forget()
        let backup = try #require(try migrator().migrate(database).backup)
        // A reader of the app's own database, and a writer of the copy.
        #expect(opened.connections.contains("app.sqlite, read-only"))
        #expect(opened.connections.contains { $0.hasSuffix(".backup.partial") })
        opened.forget()
        try migrator().restore(backup, to: database)
        #expect(opened.connections.contains("copy.sqlite"))
        #expect(try database.strings("SELECT x FROM a ORDER BY x") == ["one"])
    }

    @Test("sync the copy, also where the app's own do not")
    func durable() throws {
        let statements = Locked<[String]>([])
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = OFF")
            let path = try String.fetchOne(db, sql: "SELECT file FROM pragma_database_list") ?? ""
            guard path.hasSuffix(".partial") else { return }
            db.trace { event in statements.withLock { $0.append("\(event)") } }
        }
        let queue = try folder.queue("app.sqlite", configuration)
        let schema = try SchemaMigrator(
            migrations: [CodeMigration(1, sql: "CREATE TABLE a(x)"), CodeMigration(2, sql: "DROP TABLE a")],
            options: SchemaOptions(backupFolder: folder.url))
        try schema.migrate(queue, upTo: 1)
        try schema.migrate(queue)
        let settings = statements.withLock { $0 }.filter { $0.contains("synchronous") }
        #expect(settings.contains("PRAGMA main.synchronous = 3"))
    }

    @Test("do not wait for the queue on which the app's own connection works")
    func targetQueue() throws {
        var configuration = Configuration()
        configuration.targetQueue = DispatchQueue(label: "app")
        let queue = try folder.queue("app.sqlite", configuration)
        let schema = try SchemaMigrator(
            migrations: [CodeMigration(1, sql: "CREATE TABLE a(x)"), CodeMigration(2, sql: "DROP TABLE a")],
            options: SchemaOptions(backupFolder: folder.url))
        try schema.migrate(queue, upTo: 1)
        let backup = try #require(try schema.migrate(queue).backup)
        try schema.restore(backup, to: queue)
        #expect(try queue.tables() == ["a"])
    }
}

/// The files of opened connections.
private final class Opened: @unchecked Sendable {
    private let lock = NSLock()
    private var files: [String] = []

    func note(_ db: Database) {
        let path = (try? String.fetchOne(db, sql: "SELECT file FROM pragma_database_list")) ?? ""
        let file = URL(fileURLWithPath: path).lastPathComponent
        lock.withLock { files.append(db.configuration.readonly ? "\(file), read-only" : file) }
    }

    func forget() { lock.withLock { files = [] } }

    var connections: [String] { lock.withLock { files } }
}
