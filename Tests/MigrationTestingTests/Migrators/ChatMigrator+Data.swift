import Foundation
import GRDB

extension DatabaseMigrator {
    mutating func registerChatFiles() {
        registerMigration("createSendLog", foreignKeyChecks: .immediate) { db in
            try db.create(table: "payload") {
                $0.autoIncrementedPrimaryKey("payloadID").notNull()
                $0.column("content", .blob).notNull()
                $0.column("sent", .date).notNull()
            }
            try db.create(table: "recipient") {
                $0.column("payloadID", .integer).notNull()
                $0.column("device", .integer).notNull()
                $0.primaryKey(["payloadID", "device"])
                $0.foreignKey(
                    ["payloadID"], references: "payload", columns: ["payloadID"], onDelete: .cascade,
                    onUpdate: .cascade)
            }
            try db.execute(
                sql: """
                    CREATE TRIGGER recipient_cleanup AFTER DELETE ON recipient
                    WHEN 0 = (SELECT COUNT(*) FROM recipient WHERE payloadID = old.payloadID)
                    BEGIN
                        DELETE FROM payload WHERE payloadID = old.payloadID;
                    END;
                    """)
        }
        registerMigration("dropSendLogTriggers", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    DROP TRIGGER IF EXISTS recipient_cleanup;
                    DROP TRIGGER IF EXISTS entry_cleanup;
                    """)
        }
        registerMigration("createFiles", foreignKeyChecks: .immediate) { db in
            try db.create(table: "leftover") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("path", .text)
            }
            try db.create(table: "file") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("path", .text)
                $0.column("kind", .integer).notNull()
                $0.column("encryptedSize", .integer)
                $0.column("mimeType", .text)
            }
            // Each file's path is kept when its row goes, so that the file can follow.
            try db.execute(
                sql: """
                    CREATE TRIGGER "__file_ad" AFTER DELETE ON "file" BEGIN
                        INSERT INTO leftover (path) VALUES (OLD.path);
                    END;
                    """)
        }
        registerMigration("galleryColumns", foreignKeyChecks: .immediate) { db in
            try db.alter(table: "file") {
                $0.addColumn(literal: "isVisual AS (kind = 2 OR kind = 3 OR kind = 4) VIRTUAL")
            }
            try db.create(index: "file_gallery", on: "file", columns: ["isVisual", "id"])
        }
        registerMigration("createDownloads", foreignKeyChecks: .immediate) { db in
            try db.create(table: "download") {
                $0.autoIncrementedPrimaryKey("id").notNull()
                $0.column("fileID", .integer).references("file", onDelete: .cascade).notNull()
                $0.column("priority", .integer).notNull()
                $0.column("retryAt", .integer)
            }
            try db.create(index: "download_on_fileID", on: "download", columns: ["fileID"])
            try db.execute(
                sql: """
                    CREATE INDEX "download_on_priority" ON "download" ("priority" DESC, "id")
                    WHERE retryAt IS NULL
                    """)
        }
        registerMigration("splitSizes", foreignKeyChecks: .immediate) { db in
            try db.alter(table: "file") {
                $0.drop(column: "encryptedSize")
                $0.add(column: "transitSize", .integer)
                $0.add(column: "storedSize", .integer)
            }
        }
        registerMigration("kindsByType", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    UPDATE file SET kind = CASE
                        WHEN mimeType IN ('video/mp4', 'video/mpeg', 'video/quicktime') THEN 3
                        WHEN mimeType IN ('audio/aac', 'audio/mp4') THEN 5
                        WHEN mimeType IN ('image/jpeg', 'image/png', 'image/gif') THEN 2
                        ELSE 1
                    END
                    """)
        }
        // The folder goes with the table.
        registerMigration("dropUploads", foreignKeyChecks: .immediate) { db in
            try? FileManager.default.removeItem(atPath: "/nowhere/at/all/Uploads")
            try db.drop(table: "upload")
        }
    }

    mutating func registerChatSearch() {
        registerMigration("createSearch", foreignKeyChecks: .immediate) { db in
            try db.create(virtualTable: "search", using: FTS5()) {
                $0.tokenizer = .unicode61()
                $0.column("body")
            }
            try db.execute(
                sql: """
                    CREATE TRIGGER entry_ai AFTER INSERT ON entry BEGIN
                        INSERT INTO search(rowid, body) VALUES (new.id, new.body);
                    END;
                    CREATE TRIGGER entry_ad AFTER DELETE ON entry BEGIN
                        DELETE FROM search WHERE rowid = old.id;
                    END;
                    """)
        }
        registerMigration("configureSearch", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: "INSERT INTO search(search, rank) VALUES ('automerge', 8)")
        }
        registerMigration("createHandles", foreignKeyChecks: .immediate) { db in
            try db.create(table: "handle") {
                $0.column("account", .blob).primaryKey().notNull()
                $0.column("name", .text).notNull()
            }
        }
        for (number, name) in ["name", "lower(name)"].enumerated() {
            registerMigration("uniqueHandles\(number + 1)", foreignKeyChecks: .immediate) { db in
                try db.execute(sql: "DROP INDEX IF EXISTS handle_name")
                try db.execute(
                    sql:
                        "DELETE FROM handle WHERE rowid NOT IN (SELECT max(rowid) FROM handle GROUP BY \(name))"
                )
                try db.execute(sql: "CREATE UNIQUE INDEX handle_name ON handle(\(name))")
            }
        }
        // Values of a general table become rows of their own.
        registerMigration("createSessions", foreignKeyChecks: .immediate) { db in
            try db.create(table: "session", options: [.withoutRowID]) {
                $0.column("peer", .text).notNull()
                $0.column("device", .integer).notNull()
                $0.column("data", .blob).notNull()
                $0.primaryKey(["peer", "device"])
            }
            let old = try Row.fetchAll(db, sql: "SELECT key, value FROM setting WHERE scope = 'sessions'")
            for row in old {
                guard let devices = try? JSONDecoder().decode([Int: Data].self, from: row["value"] as Data)
                else { continue }
                for (device, data) in devices {
                    try db.execute(
                        sql: "INSERT INTO session VALUES (?, ?, ?)",
                        arguments: [row["key"] as String, device, data])
                }
            }
            try db.execute(sql: "DELETE FROM setting WHERE scope = 'sessions'")
        }
        registerMigration("noteLastUpload", foreignKeyChecks: .immediate) { db in
            let last = try Int64.fetchOne(db, sql: "SELECT MAX(id) FROM file") ?? 0
            try db.execute(
                sql: "INSERT INTO setting (scope, key, value) VALUES (?, ?, ?)",
                arguments: ["uploads", "lastFile", last])
        }
    }

    mutating func registerChatData() {
        registerMigration("data_unmarkDeleted", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: "UPDATE entry SET isViewOnce = 0")
        }
        registerMigration("data_lockScreen", foreignKeyChecks: .immediate) { db in
            guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM profile)") == true else { return }
            try db.execute(
                sql: "INSERT OR REPLACE INTO setting (key, scope, value) VALUES (?, ?, ?)",
                arguments: ["lock", "preferences", Data([1])])
        }
        registerMigration("data_clearCaches", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: "DELETE FROM setting WHERE scope = ?", arguments: ["caches"])
        }
        // Members are in the archived model of each group.
        registerMigration("data_members", foreignKeyChecks: .immediate) { db in
            let groups = try Row.fetchCursor(db, sql: "SELECT uniqueID, [group] FROM conversation")
            while let row = try groups.next() {
                guard let data = row["group"] as Data?,
                    let names = try? JSONDecoder().decode([String].self, from: data)
                else { continue }
                for name in names {
                    try db.execute(
                        sql:
                            "INSERT OR IGNORE INTO member (uniqueID, conversationID, phoneNumber) VALUES (?, ?, ?)",
                        arguments: [UUID().uuidString, row["uniqueID"] as String, name])
                }
            }
        }
        registerMigration("data_moveArchived", foreignKeyChecks: .immediate) { db in
            try db.create(table: "conversationState") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("conversationID", .text).notNull().unique(onConflict: .fail)
                $0.column("isArchived", .boolean).notNull().defaults(to: false)
            }
            try db.execute(
                sql: """
                    INSERT INTO conversationState (conversationID, isArchived)
                    SELECT uniqueID, isArchived <> 0 FROM conversation
                    """)
        }
        registerMigration("data_indexEntries", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: "DELETE FROM search")
            let rows = try Row.fetchCursor(
                db, sql: "SELECT id, body FROM entry WHERE body IS NOT NULL ORDER BY id")
            while let row = try rows.next() {
                try db.execute(
                    sql: "INSERT INTO search(rowid, body) VALUES (?, ?)",
                    arguments: [row["id"] as Int64, row["body"] as String])
            }
        }
        registerMigration("data_removeFiles", foreignKeyChecks: .immediate) { _ in
            try? FileManager.default.removeItem(atPath: "/nowhere/at/all")
        }
        registerMigration("data_noteInstallDate", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO setting(key, scope, value) VALUES ('date', 'app', ?)",
                arguments: [Date().timeIntervalSince1970])
        }
    }
}
