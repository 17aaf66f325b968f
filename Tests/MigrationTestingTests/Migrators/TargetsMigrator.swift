import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// A messenger of several targets: more than forty migrations named after them, some of which were removed.
    static var targets: ShapedMigrator {
        var migrator = DatabaseMigrator()
        migrator.register(
            "utilities.",
            [
                "CREATE TABLE setting(key TEXT NOT NULL PRIMARY KEY, value BLOB) WITHOUT ROWID",
                "CREATE TABLE job(id INTEGER PRIMARY KEY, variant INTEGER NOT NULL, nextRun REAL NOT NULL DEFAULT 0)",
                "CREATE INDEX job_by_run ON job(nextRun)",
                "ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
            ])
        migrator.register(
            "snode.",
            [
                "CREATE TABLE snode(address TEXT NOT NULL, port INTEGER NOT NULL, PRIMARY KEY (address, port))",
                """
                CREATE TABLE snodeSet(
                    key TEXT NOT NULL, address TEXT NOT NULL, port INTEGER NOT NULL, PRIMARY KEY (key, address, port),
                    FOREIGN KEY (address, port) REFERENCES snode(address, port) ON DELETE CASCADE)
                """,
                "CREATE INDEX snodeSet_by_node ON snodeSet(address, port)",
                "DELETE FROM snodeSet WHERE port = 0; DELETE FROM snode WHERE port = 0",
            ])
        migrator.registerMigration("messaging.1") { db in
            try db.create(table: "contact") {
                $0.primaryKey("id", .text)
                $0.column("name", .text)
                $0.column("isTrusted", .boolean).notNull().defaults(to: false)
            }
            try db.create(table: "thread") {
                $0.primaryKey("id", .text)
                $0.column("contactId", .text).indexed().references("contact", onDelete: .setNull)
                $0.column("draft", .text)
            }
            try db.create(table: "interaction") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("threadId", .text).notNull().indexed().references("thread", onDelete: .cascade)
                $0.column("body", .text)
            }
            try db.create(virtualTable: "interaction_fts", using: FTS5()) {
                $0.synchronize(withTable: "interaction")
                $0.tokenizer = .porter()
                $0.column("body")
            }
        }
        // The library that the next one would import is not on this machine.
        migrator.registerMigration("messaging.2_import") { db in
            guard let old = try? Data(contentsOf: URL(fileURLWithPath: "/nowhere/library")) else { return }
            try db.execute(sql: "INSERT INTO setting VALUES ('library', ?)", arguments: [old])
        }
        migrator.registerMigration("messaging.3_settings") { db in
            for (key, value) in [("sound", 1), ("preview", 0), ("screenLock", 300)] {
                try db.execute(
                    sql: "INSERT OR IGNORE INTO setting(key, value) VALUES (?, ?)", arguments: [key, value])
            }
        }
        migrator.register(
            "messaging.column",
            [
                "mutedUntil", "pinnedAt", "markedUnread", "onlyMentions", "theme", "expires", "version",
                "lastSeen",
            ]
            .map { "ALTER TABLE thread ADD COLUMN \($0) INTEGER" })
        migrator.registerMigration("messaging.4_ids") { db in
            let old = try String.fetchAll(db, sql: "SELECT id FROM contact WHERE length(id) = 64")
            for id in old {
                try db.execute(
                    sql: "UPDATE OR IGNORE contact SET id = ? WHERE id = ?", arguments: ["05" + id, id])
            }
        }
        migrator.registerMigration("messaging.5_rebuild") { db in
            try db.execute(
                sql: """
                    CREATE TABLE tmpThread(
                        id TEXT NOT NULL PRIMARY KEY, contactId TEXT REFERENCES contact(id) ON DELETE SET NULL,
                        draft TEXT, mutedUntil INTEGER, pinnedAt INTEGER, markedUnread INTEGER,
                        onlyMentions INTEGER, theme INTEGER, expires INTEGER, version INTEGER, lastSeen INTEGER);
                    INSERT INTO tmpThread SELECT * FROM thread;
                    DROP TABLE thread;
                    ALTER TABLE tmpThread RENAME TO thread;
                    CREATE INDEX thread_on_contactId ON thread(contactId);
                    """)
        }
        migrator.registerMigration("messaging.6_config") { db in
            try db.create(table: "configDump") {
                $0.column("variant", .text).notNull()
                $0.column("publicKey", .text).notNull()
                $0.column("data", .blob).notNull()
                $0.primaryKey(["variant", "publicKey"])
            }
            if try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM contact)") ?? false {
                try db.execute(
                    sql: "INSERT INTO configDump VALUES ('user', ?, ?)", arguments: ["05", Data([1, 2, 3])])
            }
        }
        migrator.register(
            "ui.",
            (1...12).map {
                "CREATE TABLE ui_\($0)(id INTEGER PRIMARY KEY, title TEXT DEFAULT 'it''s', size REAL)"
            }
                + ["DROP TABLE ui_12", "ALTER TABLE ui_11 RENAME TO ui_final"])
        return ShapedMigrator(
            description: "targets", migrator: migrator,
            inSwift: [
                "messaging.2_import": "runs no statement",
                "messaging.4_ids": "reads rows between its statements",
                "messaging.6_config": "reads rows between its statements",
            ],
            removed: ["messaging.0_fix", "ui.0"],
            findings: ["ui.13 drop-table", "ui.14 renamed-table"],
            rowCounts: [
                .uncounted("setting", by: "messaging.3_settings"), .uncounted("snode", by: "snode.4"),
                .uncounted("snodeSet", by: "snode.4"), .dropped("ui_12", by: "ui.13"),
                .renamed("ui_11", to: "ui_final", by: "ui.14"),
            ])
    }
}
