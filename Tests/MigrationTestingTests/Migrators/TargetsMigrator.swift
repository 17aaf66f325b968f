import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// A messenger of several targets: migrations named after them, some of which were removed; tables copied into others
    /// of the same name; search tables that follow others; what an account has decides what runs.
    static var targets: ShapedMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerTargetsTables()
        migrator.registerTargetsSearch()
        migrator.registerTargetsAccount()
        migrator.register(
            "ui.",
            (1...6).map {
                "CREATE TABLE ui_\($0)(id INTEGER PRIMARY KEY, title TEXT DEFAULT 'it''s', size REAL)"
            }
                + ["DROP TABLE ui_6", "ALTER TABLE ui_5 RENAME TO ui_final"])
        return ShapedMigrator(
            description: "targets", migrator: migrator,
            inSwift: [
                "messaging.import": "runs no statement",
                "messaging.removeImport": "runs no statement",
                "messaging.addSearchIfNeeded": "runs no statement",
                "messaging.removeHidden": "reads rows between its statements",
                "messaging.dumpConfig": "reads rows between its statements",
                "messaging.mergeStates": "reads rows between its statements",
            ],
            removed: ["messaging.fixOnce", "ui.0"],
            findings: [
                "messaging.receivedKey lost-index", "messaging.dropNodes drop-table",
                "messaging.dropNodes drop-table", "messaging.uniqueMembers lost-rows",
                "messaging.nullableNames lost-trigger", "messaging.nullableNames lost-trigger",
                "messaging.nullableNames lost-trigger", "messaging.nullableNames stale-full-text",
                "messaging.mergeStates drop-table", "ui.7 drop-table", "ui.8 renamed-table",
            ],
            rowCounts: [
                .dropped("node", by: "messaging.dropNodes"), .dropped("nodeSet", by: "messaging.dropNodes"),
                .uncounted("job", by: "messaging.dropNodes"),
                .uncounted("groupMember", by: "messaging.uniqueMembers"),
                .uncounted("setting", by: "messaging.theme"),
                .uncounted("thread", by: "messaging.removeHidden"),
                .uncounted("groupMember", by: "messaging.removeHidden"),
                .uncounted("interaction", by: "messaging.removeHidden"),
                .uncounted("interaction_fts", by: "messaging.removeHidden"),
                .uncounted("recipientState", by: "messaging.removeHidden"),
                .uncounted("configDump", by: "messaging.dumpConfig"),
                .dropped("recipientState", by: "messaging.mergeStates"), .dropped("ui_6", by: "ui.7"),
                .renamed("ui_5", to: "ui_final", by: "ui.8"),
            ])
    }
}

extension DatabaseMigrator {
    fileprivate mutating func registerTargetsTables() {
        register(
            "utilities.",
            [
                "CREATE TABLE identity(variant TEXT NOT NULL PRIMARY KEY, data BLOB NOT NULL)",
                "CREATE TABLE setting(key TEXT NOT NULL PRIMARY KEY, value BLOB) WITHOUT ROWID",
                "CREATE TABLE job(id INTEGER PRIMARY KEY, variant INTEGER NOT NULL, nextRun REAL NOT NULL DEFAULT 0)",
                "CREATE INDEX job_by_run ON job(nextRun)",
                "ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
            ])
        register(
            "network.",
            [
                "CREATE TABLE node(address TEXT NOT NULL, port INTEGER NOT NULL, PRIMARY KEY (address, port))",
                """
                CREATE TABLE nodeSet(
                    key TEXT NOT NULL, address TEXT NOT NULL, port INTEGER NOT NULL, PRIMARY KEY (key, address, port),
                    FOREIGN KEY (address, port) REFERENCES node(address, port) ON DELETE CASCADE)
                """,
                "CREATE TABLE received(key TEXT NOT NULL, hash TEXT NOT NULL, expires INTEGER NOT NULL, UNIQUE (key, hash))",
            ])
        registerMigration("messaging.initialSetup") { db in
            try db.create(table: "contact") {
                $0.column("id", .text).notNull().primaryKey()
                $0.column("name", .text).notNull()
                $0.column("nickname", .text)
                $0.column("isTrusted", .boolean).notNull().defaults(to: false)
            }
            try db.create(virtualTable: "contact_fts", using: FTS5()) {
                $0.synchronize(withTable: "contact")
                $0.tokenizer = .porter(wrapping: .unicode61())
                $0.column("nickname")
                $0.column("name")
            }
            try db.create(table: "thread") {
                $0.column("id", .text).notNull().primaryKey()
                $0.column("variant", .integer).notNull()
                $0.column("isVisible", .boolean).notNull()
                $0.column("draft", .text)
            }
            try db.create(table: "groupMember") {
                $0.column("groupID", .text).notNull().indexed().references("thread", onDelete: .cascade)
                $0.column("profileID", .text).notNull().indexed()
                $0.column("role", .integer).notNull()
            }
            try db.create(table: "interaction") {
                $0.column("id", .integer).notNull().primaryKey(autoincrement: true)
                $0.column("hash", .text)
                $0.column("threadID", .text).notNull().indexed().references("thread", onDelete: .cascade)
                $0.column("variant", .integer).notNull()
                $0.column("body", .text)
                $0.column("wasRead", .boolean).notNull().indexed().defaults(to: false)
                $0.uniqueKey(["threadID", "hash"])
            }
            try db.create(virtualTable: "interaction_fts", using: FTS5()) {
                $0.synchronize(withTable: "interaction")
                $0.tokenizer = .porter(wrapping: .unicode61())
                $0.column("body")
            }
            try db.create(table: "recipientState") {
                $0.column("interactionID", .integer).notNull().indexed().references(
                    "interaction", onDelete: .cascade)
                $0.column("recipientID", .text).notNull()
                $0.column("state", .integer).notNull().indexed()
                $0.primaryKey(["interactionID", "recipientID"])
            }
        }
        // The library that the first one imports is not on this machine, and the second one removes it.
        registerMigration("messaging.import") { db in
            guard let old = try? Data(contentsOf: URL(fileURLWithPath: "/nowhere/library")) else { return }
            try db.execute(sql: "INSERT INTO setting VALUES ('library', ?)", arguments: [old])
        }
        registerMigration("messaging.removeImport") { _ in
            try? FileManager.default.removeItem(atPath: "/nowhere/library")
        }
        registerMigration("messaging.flagDeleted") { db in
            try db.alter(table: "received") { $0.add(column: "wasDeleted", .boolean).indexed() }
        }
        registerMigration("messaging.receivedKey") { db in
            try db.create(table: "tmpReceived") {
                $0.column("key", .text).notNull()
                $0.column("hash", .text).notNull()
                $0.column("expires", .integer).notNull()
                $0.column("wasDeleted", .boolean)
                $0.primaryKey(["key", "hash"])
            }
            try db.execute(
                literal: "INSERT INTO tmpReceived SELECT key, hash, expires, wasDeleted FROM received")
            try db.drop(table: "received")
            try db.rename(table: "tmpReceived", to: "received")
            try db.create(indexOn: "received", columns: ["key"])
            try db.create(indexOn: "received", columns: ["expires"])
        }
        registerMigration("messaging.dropNodes") { db in
            try db.drop(table: "nodeSet")
            try db.drop(table: "node")
            let variants = [10, 11, 12].map { "\($0)" }.joined(separator: ", ")
            try db.execute(sql: "DELETE FROM job WHERE variant IN (\(variants))")
        }
        // Members are unique from now on; the hidden ones win.
        registerMigration("messaging.uniqueMembers") { db in
            try db.create(table: "tmpGroupMember") {
                $0.column("groupID", .text).notNull().references("thread", onDelete: .cascade)
                $0.column("profileID", .text).notNull()
                $0.column("role", .integer).notNull()
                $0.primaryKey(["groupID", "profileID", "role"])
            }
            try db.execute(
                sql: """
                    INSERT INTO tmpGroupMember (groupID, profileID, role)
                    SELECT groupID, profileID, role FROM groupMember GROUP BY groupID, profileID, role
                    """)
            try db.drop(table: "groupMember")
            try db.rename(table: "tmpGroupMember", to: "groupMember")
            try db.create(indexOn: "groupMember", columns: ["groupID"])
            try db.create(indexOn: "groupMember", columns: ["profileID"])
        }
    }

    fileprivate mutating func registerTargetsSearch() {
        registerMigration("messaging.searchThreads") { db in
            if try db.tableExists("interaction_fts") {
                try db.drop(table: "interaction_fts")
                try db.dropFTS5SynchronizationTriggers(forTable: "interaction_fts")
            }
            try Self.createSearch(db)
        }
        registerMigration("messaging.addSearchIfNeeded") { db in
            if try !db.tableExists("interaction_fts") { try Self.createSearch(db) }
        }
        // The triggers that fill the search table go with the old table.
        registerMigration("messaging.nullableNames") { db in
            try db.create(table: "tmpContact") {
                $0.column("id", .text).notNull().primaryKey()
                $0.column("name", .text)
                $0.column("nickname", .text)
                $0.column("isTrusted", .boolean).notNull().defaults(to: false)
            }
            try db.execute(sql: "INSERT INTO tmpContact SELECT contact.* FROM contact")
            try db.drop(table: "contact")
            try db.rename(table: "tmpContact", to: "contact")
        }
        registerMigration("messaging.repairSearch") { db in
            guard try !db.triggerExists("__contact_fts_ai") else { return }
            try db.execute(sql: "DROP TABLE IF EXISTS 'contact_fts'")
            try db.dropFTS5SynchronizationTriggers(forTable: "contact_fts")
            try db.create(virtualTable: "contact_fts", using: FTS5()) {
                $0.synchronize(withTable: "contact")
                $0.tokenizer = .porter(wrapping: .unicode61())
                $0.column("nickname")
                $0.column("name")
            }
        }
    }

    private static func createSearch(_ db: Database) throws {
        try db.create(virtualTable: "interaction_fts", using: FTS5()) {
            $0.synchronize(withTable: "interaction")
            $0.tokenizer = .porter(wrapping: .unicode61())
            $0.column("body")
            $0.column("threadID")
        }
    }

    fileprivate mutating func registerTargetsAccount() {
        // What another store says decides, and that has nothing in a test.
        registerMigration("messaging.theme") { db in
            let isLight = UserDefaults.standard.dictionaryRepresentation().keys.contains("h.appMode")
            try db.execute(sql: "DELETE FROM setting WHERE key IN ('theme', 'followsSystem')")
            try db.execute(
                sql: "INSERT INTO setting (key, value) VALUES ('theme', ?), ('followsSystem', ?)",
                arguments: [Data((isLight ? "light" : "dark").utf8), Data([0])])
        }
        register(
            "messaging.thread",
            ["pinned", "markedUnread", "mutedUntil", "onlyMentions", "version", "expires"]
                .map { "ALTER TABLE thread ADD COLUMN \($0) INTEGER" })
        registerMigration("messaging.removeHidden") { db in
            let ids = try String.fetchAll(db, sql: "SELECT id FROM thread WHERE isVisible = 0")
                .map { "'\($0.replacing("'", with: "''"))'" }.joined(separator: ", ")
            try db.execute(sql: "DELETE FROM thread WHERE id IN (\(ids))")
            try db.execute(sql: "DELETE FROM groupMember WHERE groupID IN (\(ids))")
            try db.execute(
                sql: """
                    DELETE FROM recipientState WHERE interactionID IN (
                        SELECT id FROM interaction WHERE threadID IN (\(ids)))
                    """)
            try db.execute(sql: "DELETE FROM interaction WHERE threadID IN (\(ids))")
        }
        registerMigration("messaging.config") { db in
            try db.create(table: "configDump") {
                $0.column("variant", .text).notNull()
                $0.column("publicKey", .text).notNull().indexed()
                $0.column("data", .blob).notNull()
                $0.column("timestamp", .integer).notNull().defaults(to: 0)
                $0.primaryKey(["variant", "publicKey"])
            }
        }
        // Only an account has a configuration. The time stands in the SQL.
        registerMigration("messaging.dumpConfig") { db in
            guard let key = try Data.fetchOne(db, sql: "SELECT data FROM identity") else { return }
            let now = Int64(Date().timeIntervalSince1970 * 1_000)
            try db.execute(
                sql: """
                    INSERT INTO configDump (variant, publicKey, data, timestamp)
                    VALUES ('profile', '05', ?, \(now))
                    ON CONFLICT(variant, publicKey) DO UPDATE SET data = ?, timestamp = \(now)
                    """, arguments: [key, key])
        }
        registerMigration("messaging.mergeStates") { db in
            try db.alter(table: "interaction") {
                $0.add(column: "state", .integer).notNull().indexed().defaults(to: 0)
            }
            try db.execute(sql: "UPDATE interaction SET state = 4 WHERE variant = 1")
            try db.execute(
                sql: """
                    UPDATE recipientState SET state = 1 -- failed
                    WHERE state = 0 -- sending
                    """)
            let rows = try Row.fetchAll(db, sql: "SELECT interactionID, state FROM recipientState")
            for (state, rows) in Dictionary(grouping: rows, by: { $0["state"] as Int }).sorted(by: {
                $0.key < $1.key
            }) {
                let ids = rows.map { "\($0["interactionID"] as Int64)" }.joined(separator: ", ")
                try db.execute(sql: "UPDATE interaction SET state = \(state) WHERE id IN (\(ids))")
            }
            try db.drop(table: "recipientState")
        }
    }
}
