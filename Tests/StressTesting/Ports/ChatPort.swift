import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import SchemaMigrations

/// A chat with two accounts, whose databases move into an app group, and that repairs one by dropping GRDB's table of migrations.
struct ChatPort: Port {
    static let name = "chat"
    static let releases = 3

    private let folder: URL
    private static let accounts = ["ana", "ben"]
    private var group: URL { folder.file("group") }

    init(in folder: URL) throws {
        self.folder = folder
        for account in Self.accounts {
            for parent in ["documents", "group"] {
                try FileManager.default.createDirectory(
                    at: folder.file(parent).file(account), withIntermediateDirectories: true)
            }
        }
    }

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        // They can be applied again, as the app's repair relies on.
        migrator.registerMigration("message") { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS message(id INTEGER PRIMARY KEY, text TEXT)")
        }
        migrator.registerMigration("preview") { db in
            guard try !db.columns(in: "message").contains(where: { $0.name == "preview" }) else { return }
            try db.execute(sql: "ALTER TABLE message ADD COLUMN preview TEXT")
        }
        migrator.registerMigration("search") { db in
            try db.execute(
                sql: "DROP TABLE IF EXISTS search; CREATE TABLE search(id INTEGER PRIMARY KEY, text TEXT)")
        }
        return migrator
    }

    func use(release: Int) throws {
        for account in Self.accounts {
            let file = folder.file("documents").file(account).file("chat.sqlite")
            let database = try DatabaseQueue(path: file.path)
            try migrator.migrate(database, upTo: ["message", "preview"][release])
            try write(1...20, database)
        }
    }

    private func write(_ ids: ClosedRange<Int>, _ database: DatabaseQueue) throws {
        try database.write { db in
            for id in ids {
                try db.execute(
                    sql: "INSERT INTO message(id, text) VALUES (?, ?)", arguments: [id, "Message \(id)"])
            }
        }
    }

    private func open(_ account: String) throws -> DatabaseQueue {
        try DatabaseFile(
            path: group.file(account).file("chat.sqlite").path,
            movedFrom: [folder.file("documents").file(account).file("chat.sqlite").path]
        ).openQueue()
    }

    func launch(_ process: SimulatedProcess) throws -> Int {
        var count = 0
        for account in Self.accounts {
            let database = try open(account)
            let manager = try MigrationManager(
                name: "Chat", currentVersion: "3.0", adopting: .databaseHasTables(database, means: "1.0"),
                store: .jsonFile(at: group.file(account).file("migrations.json")),
                options: MigrationOptions(maximumAttempts: 100))
            manager.whenMigratingToVersion(migrate: migrator, in: database)
            let lacksPreview: @Sendable (Database) throws -> Bool = { db in
                try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM message WHERE preview IS NULL)")
                    ?? false
            }
            manager.whenMigratingToVersion("2.0", in: database, again: lacksPreview) { db in
                try db.execute(sql: "UPDATE message SET preview = substr(text, 1, 4) WHERE preview IS NULL")
            }
            manager.afterMigratingToVersion(
                "3.0", in: database, overRowsOf: "message",
                again: "NOT EXISTS (SELECT 1 FROM search WHERE search.id = message.id)"
            ) { db, rows in
                try db.execute(
                    literal: "INSERT INTO search SELECT id, text FROM message WHERE \(rows.condition)")
            }
            count += try run(manager)
        }
        return count
    }

    func problem(from release: Int?) throws -> String? {
        for account in Self.accounts {
            let database = try open(account)
            let count = try database.number("SELECT count(*) FROM message")
            if release != nil, count < 20 { return "\(account) has \(count) messages left" }
            if try database.number("SELECT count(*) FROM message WHERE preview IS NULL") > 0 {
                return "\(account) lacks previews"
            }
            if try database.number("SELECT count(*) FROM search") != count {
                return "\(account) cannot search"
            }
            let old = folder.file("documents").file(account).fileNames
            if old.contains("chat.sqlite") { return "\(account) has \(old) at the old place" }
        }
        return nil
    }

    func disturb() throws {
        let database = try open("ben")
        try write(201...203, database)
        try database.write { try $0.execute(sql: "DROP TABLE grdb_migrations") }
    }
}
