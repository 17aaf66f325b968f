import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// Lists and tasks in strict tables, all written as SQL: defaults by a function of the app's, numbers as keys that
    /// become UUIDs, a table that gets a key, and a full-text index.
    static var reminders: ShapedMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerReminderTables()
        migrator.registerReminderKeys()
        migrator.registerReminderRows()
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("uuid", argumentCount: 0) { _ in
                    UUID().uuidString.lowercased()
                })
        }
        return ShapedMigrator(
            description: "reminders", migrator: migrator, configuration: configuration,
            inSwift: ["Unique identifiers of devices": "writes other values each time"],
            findings: ["Convert keys to UUIDs lost-trigger"],
            rowCounts: [
                .changed("list", by: "Seed the first list") { $0 + 1 },
                .uncounted("tag", by: "Sample tags"),
            ])
    }
}

extension DatabaseMigrator {
    fileprivate mutating func register(_ identifier: String, _ sql: String) {
        registerMigration(identifier) { try $0.execute(sql: sql) }
    }

    fileprivate mutating func registerReminderTables() {
        register(
            "Create initial tables",
            """
            CREATE TABLE "list" (
                "id" INTEGER PRIMARY KEY AUTOINCREMENT,
                "color" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 1248820223,
                "position" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0,
                "title" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT ''
            ) STRICT;
            CREATE TABLE "task" (
                "id" INTEGER PRIMARY KEY AUTOINCREMENT,
                "due" TEXT,
                "isFlagged" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0,
                "notes" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '',
                "listID" INTEGER NOT NULL REFERENCES "list"("id") ON DELETE CASCADE,
                "title" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT ''
            ) STRICT;
            CREATE TABLE "tag" ("title" TEXT COLLATE NOCASE PRIMARY KEY NOT NULL) STRICT;
            CREATE TABLE "taskTag" (
                "taskID" INTEGER NOT NULL REFERENCES "task"("id") ON DELETE CASCADE,
                "tagID" TEXT NOT NULL REFERENCES "tag"("title") ON DELETE CASCADE ON UPDATE CASCADE
            ) STRICT;
            """)
        register(
            "Create foreign key indexes",
            """
            CREATE INDEX IF NOT EXISTS "idx_task_listID" ON "task"("listID");
            CREATE INDEX IF NOT EXISTS "idx_taskTag_taskID" ON "taskTag"("taskID");
            CREATE INDEX IF NOT EXISTS "idx_taskTag_tagID" ON "taskTag"("tagID");
            """)
        register(
            "Keep positions unique",
            """
            CREATE TRIGGER "after_insert_list" AFTER INSERT ON "list" WHEN new."position" = 0 BEGIN
                UPDATE "list" SET "position" = (SELECT max("position") + 1 FROM "list") WHERE "id" = new."id";
            END
            """)
        for column in ["priority", "status", "position", "url", "completed", "created", "cover"] {
            register("Add \(column) to tasks", "ALTER TABLE \"task\" ADD COLUMN \"\(column)\" TEXT")
        }
        register(
            "Complete by status",
            """
            UPDATE "task" SET "status" = CASE WHEN "completed" IS NULL THEN '0' ELSE '1' END WHERE "status" IS NULL
            """)
    }

    /// Registers migrations that give each table a key that is unique on all devices: 1 becomes 00000000-…-000000000001.
    fileprivate mutating func registerReminderKeys() {
        register(
            "Convert keys to UUIDs",
            """
            CREATE TABLE "new_list" (
                "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
                "color" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 1248820223,
                "position" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0,
                "title" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT ''
            ) STRICT;
            INSERT INTO "new_list" ("id", "color", "position", "title")
            SELECT '00000000-0000-0000-0000-' || printf('%012x', "id"), "color", "position", "title" FROM "list";
            DROP TABLE "list";
            ALTER TABLE "new_list" RENAME TO "list";
            CREATE TABLE "new_task" (
                "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
                "due" TEXT,
                "isFlagged" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0,
                "notes" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '',
                "listID" TEXT NOT NULL REFERENCES "list"("id") ON DELETE CASCADE,
                "title" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '',
                "priority" TEXT, "status" TEXT, "position" TEXT, "url" TEXT, "completed" TEXT, "created" TEXT, "cover" TEXT
            ) STRICT;
            INSERT INTO "new_task"
            SELECT '00000000-0000-0000-0000-' || printf('%012x', "id"), "due", "isFlagged", "notes",
                '00000000-0000-0000-0000-' || printf('%012x', "listID"), "title", "priority", "status", "position", "url",
                "completed", "created", "cover"
            FROM "task";
            DROP TABLE "task";
            ALTER TABLE "new_task" RENAME TO "task";
            CREATE INDEX "idx_task_listID" ON "task"("listID");
            CREATE TABLE "new_taskTag" (
                "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
                "taskID" TEXT NOT NULL REFERENCES "task"("id") ON DELETE CASCADE,
                "tagID" TEXT NOT NULL REFERENCES "tag"("title") ON DELETE CASCADE ON UPDATE CASCADE
            ) STRICT;
            INSERT INTO "new_taskTag" ("taskID", "tagID")
            SELECT '00000000-0000-0000-0000-' || printf('%012x', "taskID"), "tagID" FROM "taskTag";
            DROP TABLE "taskTag";
            ALTER TABLE "new_taskTag" RENAME TO "taskTag";
            CREATE INDEX "idx_taskTag_taskID" ON "taskTag"("taskID");
            CREATE INDEX "idx_taskTag_tagID" ON "taskTag"("tagID");
            """)
        register(
            "Create search",
            """
            CREATE VIRTUAL TABLE "taskText" USING fts5("title", "notes", "tags", tokenize = 'trigram');
            CREATE TRIGGER "search_insert" AFTER INSERT ON "task" BEGIN
                INSERT INTO "taskText"(rowid, "title", "notes", "tags")
                VALUES (new.rowid, new."title", replace(new."notes", char(10), ' '), '');
            END;
            CREATE TRIGGER "search_delete" AFTER DELETE ON "task" BEGIN
                DELETE FROM "taskText" WHERE rowid = old.rowid;
            END;
            INSERT INTO "taskText"(rowid, "title", "notes", "tags")
            SELECT rowid, "title", replace("notes", char(10), ' '), '' FROM "task";
            """)
    }

    fileprivate mutating func registerReminderRows() {
        registerMigration("Seed the first list") { db in
            try db.execute(
                sql: "INSERT INTO list(id, title) VALUES (?, ?)", arguments: ["first", "Personal"])
        }
        registerMigration("Sample tags") { db in
            for title in ["car", "kids", "someday", "optional", "social", "night"] {
                try db.execute(sql: "INSERT OR IGNORE INTO tag(title) VALUES (?)", arguments: [title])
            }
        }
        registerMigration("Unique identifiers of devices") { db in
            try db.execute(sql: "CREATE TABLE device(id TEXT PRIMARY KEY NOT NULL, name TEXT) STRICT")
            try db.execute(
                sql: "INSERT INTO device(id, name) VALUES (?, 'this one')", arguments: [UUID().uuidString])
        }
        register(
            "Covers",
            """
            CREATE TABLE cover(listID TEXT PRIMARY KEY NOT NULL REFERENCES list(id) ON DELETE CASCADE, image BLOB) STRICT
            """)
        for number in 1...5 {
            register(
                "Create view \(number)",
                """
                CREATE VIEW "open\(number)" AS SELECT "id", "title" FROM "task" WHERE "isFlagged" = \(number % 2)
                """)
        }
    }
}
