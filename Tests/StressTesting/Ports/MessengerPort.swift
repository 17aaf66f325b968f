import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations

/// A messenger with two databases, whose migrations have down migrations, and whose people go back to older versions.
struct MessengerPort: Port {
    static let name = "messenger"
    static let releases = 3

    private let folder: URL
    init(in folder: URL) { self.folder = folder }

    private func open(_ name: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: folder.file("\(name).sqlite").path)
    }

    private static let chat = [
        SQLMigration(version: 1, name: "chat", sql: "CREATE TABLE chat(id INTEGER PRIMARY KEY, name TEXT)"),
        SQLMigration(
            version: 2, name: "order", sql: "ALTER TABLE chat ADD COLUMN position INTEGER",
            down: "ALTER TABLE chat DROP COLUMN position"),
        SQLMigration(
            version: 3, name: "muted", sql: "ALTER TABLE chat ADD COLUMN muted INTEGER NOT NULL DEFAULT 0",
            down: "ALTER TABLE chat DROP COLUMN muted"),
    ]
    private static let agent = [
        SQLMigration(
            version: 1, name: "server", sql: "CREATE TABLE server(id INTEGER PRIMARY KEY, host TEXT)"),
        SQLMigration(
            version: 2, name: "port", sql: "ALTER TABLE server ADD COLUMN port INTEGER",
            down: "ALTER TABLE server DROP COLUMN port"),
    ]

    private func manager(_ release: Int) throws -> MigrationManager {
        let (chat, agent) = (try open("chat"), try open("agent"))
        let manager = try MigrationManager(
            name: "Messenger", currentVersion: ["1.0", "2.0", "3.0"][release], adopting: .newApp,
            store: .jsonFile(at: folder.file("migrations.json")),
            options: MigrationOptions(maximumAttempts: 100))
        let options = SchemaOptions(newerDatabases: .rollBack)
        manager.whenMigratingToVersion(
            migrate: try SchemaMigrator(migrations: Array(Self.chat.prefix(release + 1)), options: options),
            in: chat)
        manager.whenMigratingToVersion(
            migrate: try SchemaMigrator(migrations: Array(Self.agent.prefix(release + 1)), options: options),
            in: agent)
        guard release > 0 else { return manager }
        let lacksPosition: @Sendable (Database) throws -> Bool = { try $0.lacks("position", in: "chat") }
        manager.whenMigratingToVersion("2.0", in: chat, again: lacksPosition) { db in
            try db.execute(sql: "UPDATE chat SET position = id * 10 WHERE position IS NULL")
        }
        let lacksPort: @Sendable (Database) throws -> Bool = { try $0.lacks("port", in: "server") }
        manager.whenMigratingToVersion("2.0", in: agent, again: lacksPort) { db in
            try db.execute(sql: "UPDATE server SET port = 443 WHERE port IS NULL")
        }
        return manager
    }

    private func write(_ ids: ClosedRange<Int>) throws {
        for (name, sql) in [
            ("chat", "INSERT INTO chat(id, name) VALUES (?, 'c')"),
            ("agent", "INSERT INTO server(id, host) VALUES (?, 's')"),
        ] {
            try open(name).write { db in for id in ids { try db.execute(sql: sql, arguments: [id]) } }
        }
    }

    func use(release: Int) throws {
        try manager(release).migrate()
        try write(1...10)
    }

    func launch(_ process: SimulatedProcess) throws -> Int { try run(manager(2)) }

    func problem(from release: Int?) throws -> String? {
        let (chat, agent) = (try open("chat"), try open("agent"))
        let counts = try [
            chat.number("SELECT count(*) FROM chat"), agent.number("SELECT count(*) FROM server"),
        ]
        if release != nil, counts[0] < 10 || counts[0] != counts[1] {
            return "rows are lost: \(counts) are left"
        }
        if try chat.number("SELECT count(*) FROM chat WHERE position IS NOT id * 10 OR muted <> 0") > 0 {
            return "a chat has no position"
        }
        return try agent.number("SELECT count(*) FROM server WHERE port IS NOT 443") == 0
            ? nil : "a server has no port"
    }

    /// Goes back to 1.0, which undoes what it does not know, and writes rows.
    func disturb() throws {
        try manager(0).migrate()
        try write(11...12)
    }
}

extension Database {
    /// Returns true if a row has no value in a column.
    fileprivate func lacks(_ column: String, in table: String) throws -> Bool {
        try Bool.fetchOne(self, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(column) IS NULL)")
            ?? false
    }
}
