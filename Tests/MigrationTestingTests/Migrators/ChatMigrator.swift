import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// A messenger: schema first, then data, all in one list; full-text search by triggers; lazy indexes.
    static var chat: ShapedMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("createInitialSchema") { db in
            try db.create(table: "model_TSThread") {
                $0.autoIncrementedPrimaryKey("id").notNull()
                $0.column("uniqueId", .text).notNull().unique(onConflict: .fail)
                $0.column("contactPhoneNumber", .text)
                $0.column("isArchived", .integer).notNull().defaults(to: 0)
            }
            try db.create(table: "model_TSInteraction") {
                $0.autoIncrementedPrimaryKey("id").notNull()
                $0.column("uniqueThreadId", .text).notNull()
                $0.column("body", .text)
                $0.column("timestamp", .integer).notNull()
                $0.column("recordType", .integer).notNull()
            }
            try db.create(table: "keyvalue") {
                $0.column("key", .text).notNull()
                $0.column("collection", .text).notNull()
                $0.column("value", .blob).notNull()
                $0.primaryKey(["key", "collection"])
            }
            try db.create(
                index: "index_interactions_on_thread", on: "model_TSInteraction",
                columns: ["uniqueThreadId", "id"])
        }
        let columns = [
            "isMarkedUnread", "mutedUntil", "editState", "isViewOnce", "storyParent", "isSmsRestored",
        ]
        for column in columns {
            migrator.registerMigration("add_\(column)") { db in
                try db.alter(table: "model_TSInteraction") {
                    $0.add(column: column, .integer).notNull().defaults(to: 0)
                }
            }
        }
        migrator.registerMigration("createFTS") { db in
            try db.create(virtualTable: "indexable_text_fts", using: FTS5()) {
                $0.tokenizer = .unicode61()
                $0.column("body")
            }
            try db.execute(
                sql: """
                    CREATE TRIGGER interaction_ai AFTER INSERT ON model_TSInteraction BEGIN
                        INSERT INTO indexable_text_fts(rowid, body) VALUES (new.id, new.body);
                    END;
                    CREATE TRIGGER interaction_ad AFTER DELETE ON model_TSInteraction BEGIN
                        DELETE FROM indexable_text_fts WHERE rowid = old.id;
                    END;
                    """)
        }
        migrator.registerMigration("indexExistingMessages") { db in
            try db.execute(sql: "DELETE FROM indexable_text_fts")
            let rows = try Row.fetchCursor(
                db, sql: "SELECT id, body FROM model_TSInteraction WHERE body IS NOT NULL ORDER BY id")
            while let row = try rows.next() {
                try db.execute(
                    sql: "INSERT OR IGNORE INTO indexable_text_fts(rowid, body) VALUES (?, ?)",
                    arguments: [row["id"] as Int64, row["body"] as String])
            }
        }
        migrator.registerMigration("createReactions") { db in
            try db.create(table: "model_OWSReaction") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("emoji", .text).notNull()
                $0.column("messageId", .integer).notNull().indexed()
                    .references("model_TSInteraction", onDelete: .cascade)
            }
        }
        for (table, column) in [("model_TSThread", "uniqueId"), ("model_TSInteraction", "timestamp")] {
            migrator.registerMigration("index_\(table)_\(column)") { db in
                try db.create(index: "by_\(table)_\(column)", on: table, columns: [column])
            }
        }
        migrator.registerMigration("replaceRecipientTable") { db in
            try db.create(table: "Recipient") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("phoneNumber", .text).unique()
            }
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO Recipient(phoneNumber)
                    SELECT contactPhoneNumber FROM model_TSThread WHERE contactPhoneNumber IS NOT NULL
                    """)
        }
        // Data migrations come after the schema.
        migrator.registerMigration("dataMigration_markOnboarded") { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO keyvalue(key, collection, value) VALUES (?, ?, ?)",
                arguments: ["onboarded", "app", Data([1])])
        }
        migrator.registerMigration("dataMigration_clearCaches") { db in
            try db.execute(sql: "DELETE FROM keyvalue WHERE collection = ?", arguments: ["caches"])
        }
        migrator.registerMigration("dataMigration_trimBodies") { db in
            for id in try Int64.fetchAll(db, sql: "SELECT id FROM model_TSInteraction ORDER BY id") {
                try db.execute(
                    sql: "UPDATE model_TSInteraction SET body = trim(body) WHERE id = ?", arguments: [id])
            }
        }
        migrator.registerMigration("dataMigration_removeFiles") { _ in
            try? FileManager.default.removeItem(atPath: "/nowhere/at/all")
        }
        migrator.registerMigration("dataMigration_installDate") { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO keyvalue(key, collection, value) VALUES ('date', 'app', ?)",
                arguments: [Date().timeIntervalSince1970])
        }
        let names = ["Attachment", "CallRecord", "StoryMessage", "PaymentModel", "Backup"]
        for name in names {
            migrator.registerMigration("create_\(name)") { db in
                try db.create(table: name) {
                    $0.autoIncrementedPrimaryKey("id")
                    $0.column("uniqueId", .text).notNull().unique()
                    $0.column("interactionId", .integer).indexed().references(
                        "model_TSInteraction", onDelete: .setNull)
                    $0.column("data", .blob)
                }
            }
        }
        return ShapedMigrator(
            description: "chat", migrator: migrator,
            inSwift: [
                "indexExistingMessages": "reads rows between its statements",
                "dataMigration_trimBodies": "reads rows between its statements",
                "dataMigration_removeFiles": "runs no statement",
                "dataMigration_installDate": "writes the time at which it runs",
            ],
            findings: [
                "indexExistingMessages delete-without-where",
                "index_model_TSThread_uniqueId duplicate-index", "dataMigration_markOnboarded replace-into",
                "dataMigration_installDate replace-into",
            ],
            rowCounts: [
                .uncounted("keyvalue", by: "dataMigration_markOnboarded"),
                .uncounted("keyvalue", by: "dataMigration_clearCaches"),
                .uncounted("keyvalue", by: "dataMigration_installDate"),
                .uncounted("indexable_text_fts", by: "indexExistingMessages"),
            ])
    }
}
