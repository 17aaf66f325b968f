import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// Lists and reminders in strict tables, with triggers, tags and a full-text index, all written as SQL.
    static var reminders: ShapedMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("Create initial tables") { db in
            try db.execute(
                sql: """
                    CREATE TABLE "remindersLists" (
                        "id" TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16)))),
                        "color" INTEGER NOT NULL DEFAULT 1248820223,
                        "position" INTEGER NOT NULL DEFAULT 0,
                        "title" TEXT NOT NULL
                    ) STRICT;
                    CREATE TABLE "reminders" (
                        "id" TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16)))),
                        "dueDate" TEXT,
                        "isFlagged" INTEGER NOT NULL DEFAULT 0,
                        "notes" TEXT NOT NULL DEFAULT '',
                        "listID" TEXT NOT NULL REFERENCES "remindersLists"("id") ON DELETE CASCADE,
                        "title" TEXT NOT NULL
                    ) STRICT;
                    CREATE TABLE "tags" ("title" TEXT PRIMARY KEY COLLATE NOCASE NOT NULL) STRICT;
                    CREATE TABLE "remindersTags" (
                        "id" INTEGER PRIMARY KEY,
                        "reminderID" TEXT NOT NULL REFERENCES "reminders"("id") ON DELETE CASCADE,
                        "tag" TEXT NOT NULL REFERENCES "tags"("title") ON DELETE CASCADE ON UPDATE CASCADE
                    ) STRICT;
                    """)
        }
        migrator.registerMigration("Create foreign key indexes") { db in
            try db.execute(
                sql: """
                    CREATE INDEX "idx_reminders_listID" ON "reminders"("listID");
                    CREATE INDEX "idx_remindersTags_reminderID" ON "remindersTags"("reminderID");
                    CREATE INDEX "idx_remindersTags_tag" ON "remindersTags"("tag");
                    """)
        }
        migrator.registerMigration("Keep positions unique") { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER "after_insert_list" AFTER INSERT ON "remindersLists"
                    WHEN new."position" = 0 BEGIN
                        UPDATE "remindersLists" SET "position" = (SELECT max("position") + 1 FROM "remindersLists")
                        WHERE "id" = new."id";
                    END
                    """)
        }
        migrator.registerMigration("Seed the first list") { db in
            try db.execute(
                sql: "INSERT INTO remindersLists(id, title) VALUES (?, ?)", arguments: ["first", "Personal"])
        }
        migrator.registerMigration("Create search") { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE "reminderTexts" USING fts5("title", "notes", "tags", tokenize = 'trigram');
                    CREATE TRIGGER "search_insert" AFTER INSERT ON "reminders" BEGIN
                        INSERT INTO "reminderTexts"(rowid, "title", "notes", "tags")
                        VALUES (new.rowid, new."title", replace(new."notes", char(10), ' '), '');
                    END;
                    CREATE TRIGGER "search_delete" AFTER DELETE ON "reminders" BEGIN
                        DELETE FROM "reminderTexts" WHERE rowid = old.rowid;
                    END;
                    INSERT INTO "reminderTexts"(rowid, "title", "notes", "tags")
                    SELECT rowid, "title", replace("notes", char(10), ' '), '' FROM "reminders";
                    """)
        }
        for column in [
            "priority", "status", "position", "url", "location", "completedAt", "createdAt", "cover",
        ] {
            migrator.registerMigration("Add \(column) to reminders") { db in
                try db.execute(sql: "ALTER TABLE \"reminders\" ADD COLUMN \"\(column)\" TEXT")
            }
        }
        migrator.registerMigration("Complete by status") { db in
            try db.execute(
                sql:
                    "UPDATE \"reminders\" SET \"status\" = CASE WHEN \"completedAt\" IS NULL THEN 0 ELSE 1 END WHERE \"status\" IS NULL"
            )
        }
        migrator.registerMigration("Sample tags") { db in
            for title in ["car", "kids", "someday", "optional", "social", "night"] {
                try db.execute(sql: "INSERT OR IGNORE INTO tags(title) VALUES (?)", arguments: [title])
            }
        }
        migrator.registerMigration("Unique identifiers of devices") { db in
            try db.execute(sql: "CREATE TABLE device(id TEXT PRIMARY KEY NOT NULL, name TEXT) STRICT")
            try db.execute(
                sql: "INSERT INTO device(id, name) VALUES (?, 'this one')", arguments: [UUID().uuidString])
        }
        migrator.registerMigration("Assets") { db in
            try db.execute(
                sql: """
                    CREATE TABLE assets(
                        listID TEXT PRIMARY KEY NOT NULL REFERENCES remindersLists(id) ON DELETE CASCADE,
                        coverImage BLOB) STRICT
                    """)
        }
        for number in 1...8 {
            migrator.registerMigration("Create view \(number)") { db in
                try db.execute(
                    sql: """
                        CREATE VIEW "open\(number)" AS SELECT "id", "title" FROM "reminders"
                        WHERE "isFlagged" = \(number % 2)
                        """)
            }
        }
        return ShapedMigrator(
            description: "reminders", migrator: migrator,
            inSwift: ["Unique identifiers of devices": "writes other values each time"],
            findings: [],
            rowCounts: [
                .changed("remindersLists", by: "Seed the first list") { $0 + 1 },
                .uncounted("tags", by: "Sample tags"),
            ])
    }
}
