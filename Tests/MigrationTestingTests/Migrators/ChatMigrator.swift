import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// A messenger: tables first, then data, in one list; keys enforced at once; models kept as blobs; repairs of earlier
    /// migrations that went wrong for some.
    static var chat: ShapedMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerChatTables()
        migrator.registerChatColumns()
        migrator.registerChatCalls()
        migrator.registerChatFiles()
        migrator.registerChatSearch()
        // Data migrations come after the schema, since models can be read only then.
        migrator.registerChatData()
        return ShapedMigrator(
            description: "chat", migrator: migrator,
            inSwift: [
                "fixPayments": "runs no statement",
                "createSessions": "reads rows between its statements",
                "noteLastUpload": "reads rows between its statements",
                "data_lockScreen": "reads rows between its statements",
                "data_members": "reads rows between its statements",
                "data_indexEntries": "reads rows between its statements",
                "data_removeFiles": "runs no statement",
                "data_noteInstallDate": "writes the time at which it runs",
            ],
            findings: [
                "createTables duplicate-index", "muteByMilliseconds update-without-where",
                "dropHandle drop-column", "replaceCalls drop-table", "stampCalls delete-without-where",
                "linkCalls lost-not-null", "linkCalls lost-not-null", "splitSizes drop-column",
                "kindsByType changed-values", "dropUploads drop-table",
                "data_unmarkDeleted update-without-where", "data_lockScreen replace-into",
                "data_noteInstallDate replace-into",
            ],
            rowCounts: [
                .dropped("oldCall", by: "replaceCalls"), .uncounted("call", by: "stampCalls"),
                .dropped("upload", by: "dropUploads"), .uncounted("handle", by: "uniqueHandles1"),
                .uncounted("handle", by: "uniqueHandles2"), .uncounted("setting", by: "noteLastUpload"),
                .uncounted("setting", by: "data_lockScreen"),
                .uncounted("setting", by: "data_noteInstallDate"),
                .uncounted("search", by: "data_indexEntries"),
            ])
    }
}

extension DatabaseMigrator {
    fileprivate mutating func register(
        _ identifier: String, _ sql: String, foreignKeyChecks: ForeignKeyChecks = .immediate
    ) {
        registerMigration(identifier, foreignKeyChecks: foreignKeyChecks) { try $0.execute(sql: sql) }
    }

    fileprivate mutating func registerChatTables() {
        register(
            "createTables",
            """
            CREATE TABLE IF NOT EXISTS "conversation" (
                "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
                "uniqueID" TEXT NOT NULL UNIQUE ON CONFLICT FAIL,
                "isArchived" INTEGER NOT NULL,
                "mutedUntil" DOUBLE,
                "group" BLOB
            );
            CREATE INDEX "conversation_on_uniqueID" ON "conversation"("uniqueID");
            CREATE TABLE IF NOT EXISTS "entry" (
                "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
                "uniqueID" TEXT NOT NULL UNIQUE ON CONFLICT FAIL,
                "conversationID" TEXT NOT NULL,
                "body" TEXT,
                "timestamp" INTEGER NOT NULL,
                "kind" INTEGER NOT NULL
            );
            CREATE INDEX "entry_on_conversationID_and_id" ON "entry"("conversationID", "id");
            CREATE TABLE IF NOT EXISTS "setting" (
                "key" TEXT NOT NULL, "scope" TEXT NOT NULL, "value" BLOB NOT NULL, PRIMARY KEY ("key", "scope")
            );
            CREATE TABLE IF NOT EXISTS "upload" (
                "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
                "entryID" TEXT,
                "size" INTEGER NOT NULL,
                "mimeType" TEXT NOT NULL,
                "state" INTEGER
            );
            CREATE TABLE IF NOT EXISTS "profile" (
                "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "phoneNumber" TEXT, "handle" TEXT
            );
            CREATE INDEX "profile_on_handle" ON "profile"("handle");
            """)
        registerMigration("createMembers", foreignKeyChecks: .immediate) { db in
            try db.create(table: "member") {
                $0.autoIncrementedPrimaryKey("id").notNull()
                $0.column("uniqueID", .text).notNull().unique(onConflict: .fail)
                $0.column("conversationID", .text).notNull()
                $0.column("phoneNumber", .text)
                $0.column("lastEntry", .integer).notNull().defaults(to: 0)
            }
            try db.create(
                index: "member_on_phoneNumber", on: "member", columns: ["phoneNumber", "conversationID"],
                unique: true)
        }
        // An untyped column, which nobody dares to change.
        registerMigration("createSpamTokens", foreignKeyChecks: .immediate) { db in
            try db.create(table: "spamToken") {
                $0.column("source").primaryKey().notNull()
                $0.column("token", .blob).notNull()
            }
        }
    }

    fileprivate mutating func registerChatColumns() {
        registerMigration("addSeen", foreignKeyChecks: .immediate) { db in
            try db.alter(table: "entry") { $0.add(column: "seen", .boolean) }
            try db.execute(sql: "UPDATE entry SET seen = 0")
        }
        registerMigration("muteByMilliseconds", foreignKeyChecks: .immediate) { db in
            try db.alter(table: "conversation") {
                $0.add(column: "mutedUntilTimestamp", .integer).notNull().defaults(to: 0)
            }
            try db.execute(
                sql: """
                    UPDATE conversation SET mutedUntilTimestamp = CAST(mutedUntil * 1000 AS INT)
                    WHERE mutedUntil IS NOT NULL
                    """)
            try db.execute(sql: "UPDATE conversation SET mutedUntil = NULL")
        }
        registerMigration("createPayments", foreignKeyChecks: .immediate) { db in
            // Some test devices had them.
            try db.execute(sql: "DROP TABLE IF EXISTS payment")
            try db.execute(sql: "DROP TABLE IF EXISTS paymentRequest")
            try db.create(table: "payment") {
                $0.autoIncrementedPrimaryKey("id").notNull()
                $0.column("amount", .blob)
                $0.column("state", .integer).notNull()
                $0.column("isUnread", .boolean).notNull()
            }
            try db.create(index: "payment_on_state", on: "payment", columns: ["state"])
            try db.alter(table: "entry") { $0.add(column: "payment", .blob) }
        }
        // A build had shipped without the column.
        registerMigration("fixPayments", foreignKeyChecks: .immediate) { db in
            try? db.alter(table: "entry") { $0.add(column: "payment", .blob) }
        }
        for column in ["editState", "isViewOnce", "expiresAt", "story", "wasVerified", "serverTime"] {
            registerMigration("add_\(column)", foreignKeyChecks: .immediate) { db in
                try db.alter(table: "entry") { $0.add(column: column, .integer).notNull().defaults(to: 0) }
            }
        }
        registerMigration("dropHandle", foreignKeyChecks: .immediate) { db in
            try db.drop(index: "profile_on_handle")
            try db.alter(table: "profile") { $0.drop(column: "handle") }
        }
        register(
            "dropIndexesOfUniqueColumns",
            """
            DROP INDEX IF EXISTS "conversation_on_uniqueID";
            DROP INDEX IF EXISTS "entry_on_uniqueID";
            DROP INDEX IF EXISTS "member_on_uniqueID";
            """)
    }

    fileprivate mutating func registerChatCalls() {
        registerMigration("createCalls", foreignKeyChecks: .immediate) { db in
            try db.create(table: "oldCall") {
                $0.column("id", .integer).primaryKey().notNull()
                $0.column("callID", .text).unique(onConflict: .ignore).notNull()
                $0.column("entryID", .text).notNull().references(
                    "entry", column: "uniqueID", onDelete: .cascade)
            }
            try db.create(index: "oldCall_on_entryID", on: "oldCall", columns: ["entryID"])
        }
        registerMigration("replaceCalls", foreignKeyChecks: .immediate) { db in
            try db.drop(index: "oldCall_on_entryID")
            try db.drop(table: "oldCall")
            try db.create(table: "call") {
                $0.column("id", .integer).primaryKey().notNull()
                $0.column("callID", .text).notNull()
                $0.column("entryRow", .integer).notNull().unique().references("entry", onDelete: .cascade)
                $0.column("conversationRow", .integer).notNull().references(
                    "conversation", onDelete: .restrict)
                $0.column("status", .integer).notNull()
            }
            try db.create(
                index: "call_on_callID", on: "call", columns: ["callID", "conversationRow"], unique: true)
        }
        registerMigration("stampCalls", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: "DELETE FROM call")
            try db.alter(table: "call") { $0.add(column: "began", .integer).notNull() }
        }
        registerMigration("createLinks", foreignKeyChecks: .immediate) { db in
            try db.create(table: "link") {
                $0.column("id", .integer).primaryKey().notNull()
                $0.column("room", .blob).notNull().unique()
                $0.column("key", .blob).notNull()
                $0.column("isUpcoming", .boolean)
                $0.column("expiration", .integer)
                $0.check(sql: #"LENGTH("room") IS 32"#)
                $0.check(sql: #"LENGTH("key") IS 16"#)
                $0.check(sql: #"NOT("isUpcoming" IS TRUE AND "expiration" IS NULL)"#)
            }
            try db.create(
                index: "link_upcoming", on: "link", columns: ["expiration"],
                condition: Column("isUpcoming") == true)
        }
        registerMigration("linkCalls", foreignKeyChecks: .immediate) { db in
            try db.drop(index: "call_on_callID")
            try db.create(table: "new_call") {
                $0.column("id", .integer).primaryKey().notNull()
                $0.column("callID", .text).notNull()
                $0.column("entryRow", .integer).unique().references(
                    "entry", onDelete: .restrict, onUpdate: .cascade)
                $0.column("conversationRow", .integer).references(
                    "conversation", onDelete: .restrict, onUpdate: .cascade)
                $0.column("linkRow", .integer).references("link", onDelete: .restrict, onUpdate: .cascade)
                $0.column("status", .integer).notNull()
                $0.column("began", .integer).notNull()
                $0.check(
                    sql: #"IIF("conversationRow" IS NOT NULL, "linkRow" IS NULL, "linkRow" IS NOT NULL)"#)
            }
            try db.execute(
                sql: """
                    INSERT INTO "new_call" ("id", "callID", "entryRow", "conversationRow", "status", "began")
                    SELECT "id", "callID", "entryRow", "conversationRow", "status", "began" FROM "call"
                    """)
            try db.drop(table: "call")
            try db.rename(table: "new_call", to: "call")
            try db.create(
                index: "call_conversationRow_callID", on: "call", columns: ["conversationRow", "callID"],
                options: [.unique], condition: Column("conversationRow") != nil)
            try db.create(index: "call_linkRow", on: "call", columns: ["linkRow"])
        }
        registerMigration("loosenKeys", foreignKeyChecks: .deferred) { db in
            try db.create(table: "new_link") {
                $0.column("id", .integer).primaryKey().notNull()
                $0.column("room", .blob).notNull().unique()
                $0.column("key", .blob).notNull()
                $0.column("isUpcoming", .boolean)
                $0.column("expiration", .integer)
                $0.check(sql: #"LENGTH("room") IS 32"#)
                $0.check(sql: #"LENGTH("key") >= 16"#)
                $0.check(sql: #"NOT("isUpcoming" IS TRUE AND "expiration" IS NULL)"#)
            }
            try db.execute(
                sql: """
                    INSERT INTO new_link (id, room, key, isUpcoming, expiration)
                    SELECT id, room, key, isUpcoming, expiration FROM link
                    """)
            try db.drop(table: "link")
            try db.rename(table: "new_link", to: "link")
            try db.create(
                index: "link_upcoming", on: "link", columns: ["expiration"],
                condition: Column("isUpcoming") == true)
        }
    }
}
