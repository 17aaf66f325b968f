import AppMigrations
import GRDB
import SchemaMigrations

/// The app's table that a deferred step rebuilds, and what the app writes to it meanwhile.
enum Photos {
    /// Rebuilds the table.
    static let rebuild: AppVersion = "3.1"
    /// Finishes the rebuild, in a launch.
    static let finish: AppVersion = "3.2"

    static let table = "deferred_photo"

    /// Makes the table, with everything that hangs on it, and enough rows for some batches.
    static let tables = """
        CREATE TABLE deferred_album(id INTEGER PRIMARY KEY);
        INSERT INTO deferred_album(id) VALUES (1), (2), (3);
        CREATE TABLE deferred_photo(
            id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, tag TEXT UNIQUE,
            album INTEGER REFERENCES deferred_album(id) ON DELETE CASCADE);
        CREATE INDEX deferred_photo_by_title ON deferred_photo(title);
        CREATE TABLE deferred_comment(photo INTEGER REFERENCES deferred_photo(id) ON DELETE CASCADE);
        CREATE TABLE deferred_renamed(id INTEGER PRIMARY KEY);
        CREATE TRIGGER deferred_photo_renamed AFTER UPDATE OF title ON deferred_photo BEGIN
            INSERT INTO deferred_renamed(id) SELECT NEW.id
            WHERE NOT EXISTS (SELECT 1 FROM deferred_renamed WHERE id = NEW.id);
        END;
        CREATE VIEW deferred_titles AS SELECT id, title FROM deferred_photo;
        INSERT INTO deferred_photo(id, title, tag, album)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        SELECT i, CASE WHEN i % 5 > 0 THEN 'Photo ' || i END, 't' || i, CASE WHEN i % 20 = 0 THEN 2 ELSE 1 END
        FROM n;
        INSERT INTO deferred_comment(photo) VALUES (6), (7), (9);
        """

    /// The table as the app wants it.
    static let schema = """
        CREATE TABLE deferred_photo(
            id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, tag TEXT UNIQUE,
            album INTEGER REFERENCES deferred_album(id) ON DELETE CASCADE, stars INTEGER NOT NULL DEFAULT 3);
        CREATE INDEX deferred_photo_by_title_2 ON deferred_photo(title);
        """

    static let copying = ["title": "coalesce(title, '')"]

    /// Everything that the app writes, in this order, each as often as it likes: done again, none changes anything.
    ///
    /// With rows that other ones replace, and those that go with what they refer to.
    static let writes = [
        "UPDATE deferred_photo SET title = 'Renamed' WHERE id = 3",
        "INSERT OR REPLACE INTO deferred_photo(id, title, tag, album) VALUES (1000, 'New', 't6', 1)",
        "DELETE FROM deferred_photo WHERE id = 9",
        "UPDATE OR REPLACE deferred_photo SET tag = 't15' WHERE id = 12",
        """
        INSERT INTO deferred_photo(id, title, tag, album) VALUES (1001, 'Never', 't30', 3)
        ON CONFLICT(tag) DO UPDATE SET title = 'Upserted', album = 3
        """,
        "DELETE FROM deferred_album WHERE id = 2",
        "INSERT OR IGNORE INTO deferred_photo(id, title, tag, album) VALUES (1002, 'Ignored', 't1', 1)",
        "UPDATE deferred_photo SET title = 'Last' WHERE id IN (1, 59)",
    ]

    /// A condition for what a rebuild leaves until its end.
    private static let isLeftover =
        "name LIKE 'app\\_migrations\\_%' ESCAPE '\\' AND name <> 'app_migrations_history'"

    /// The rows of the table, as far as the old table and the new one must agree.
    static func rows(_ db: PlainDatabase) throws -> [String] {
        try db.column(
            """
            SELECT id || ',' || coalesce(title, '') || ',' || quote(tag) || ',' || quote(album) FROM deferred_photo
            UNION ALL SELECT 'comment on ' || photo FROM deferred_comment
            UNION ALL SELECT 'renamed ' || id FROM deferred_renamed ORDER BY 1
            """)
    }

    /// The columns of the table, and everything else that is there because of it.
    static func objects(_ db: PlainDatabase) throws -> [String] {
        try db.column(
            """
            SELECT 'column ' || name || ' ' || type || ' ' || "notnull" FROM pragma_table_info('deferred_photo')
            UNION ALL SELECT type || ' ' || name FROM sqlite_master
            WHERE name LIKE 'deferred\\_%' ESCAPE '\\' AND type <> 'table'
                OR \(isLeftover) ORDER BY 1
            """)
    }

    /// The rows after each number of writes.
    static func expectedRows() throws -> [[String]] {
        let db = try PlainDatabase()
        try db.execute("PRAGMA foreign_keys = 1;" + tables)
        return try [rows(db)]
            + writes.map { write in
                try db.execute(write)
                return try rows(db)
            }
    }

    /// The objects when the table has been rebuilt: those of the new table, and what stays.
    static func expectedObjects() throws -> [String] {
        let db = try PlainDatabase()
        try db.execute(tables)
        let kept = try objects(db).filter { $0.hasPrefix("trigger") || $0.hasPrefix("view") }
        try db.execute("DROP VIEW deferred_titles; DROP TABLE deferred_photo;" + schema)
        return try (objects(db) + kept).sorted()
    }

    /// True if the table has been rebuilt, and nothing is left of the old one.
    static func isRebuilt(_ db: Database) throws -> Bool {
        let isNew = try db.columns(in: table).contains { $0.name == "stars" }
        let leftovers = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM sqlite_master WHERE \(isLeftover)")
        return isNew && leftovers == 0
    }
}
