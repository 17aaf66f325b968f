import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A deferred rebuild keeps what belongs to the table", .timed)
struct RebuildKindsTests {
    /// A table, its new form, and writes to it.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let old: String
        let new: String
        var copying: [String: String] = [:]
        let writes: String

        static let all: [Kind] = [
            Kind(
                testDescription: "a text key that may be NULL",
                old:
                    "CREATE TABLE photo(id TEXT PRIMARY KEY, t); INSERT INTO photo VALUES (NULL, 1), (NULL, 2), ('a', 3)",
                new: "CREATE TABLE photo(id TEXT PRIMARY KEY, t TEXT NOT NULL)",
                writes: "INSERT INTO photo VALUES (NULL, 4); UPDATE photo SET id = NULL WHERE id = 'a'"),
            Kind(
                testDescription: "a key of two columns, without row ids",
                old: """
                    CREATE TABLE photo(a TEXT COLLATE NOCASE, b INTEGER, t, PRIMARY KEY (b, a)) WITHOUT ROWID;
                    INSERT INTO photo VALUES ('x', 1, 1), ('y', 1, 2), ('z', 2, 3)
                    """,
                new: """
                    CREATE TABLE photo(t INT, a TEXT COLLATE NOCASE, b INTEGER, PRIMARY KEY (b, a)) WITHOUT ROWID, STRICT
                    """,
                writes: "UPDATE photo SET a = 'X' WHERE a = 'x'; REPLACE INTO photo VALUES ('Y', 1, 9)"),
            Kind(
                testDescription: "generated columns, and quotes in names",
                old: #"""
                    CREATE TABLE photo("i d" INTEGER PRIMARY KEY, "t""t" TEXT, g AS ("t""t" || '!') STORED, h AS (1));
                    INSERT INTO photo("t""t") VALUES ('a'), ('b'), ('c')
                    """#,
                new:
                    #"CREATE TABLE "photo"("i d" INTEGER PRIMARY KEY, "t""t" TEXT NOT NULL, g TEXT, k AS (g || '?'))"#,
                writes: #"UPDATE photo SET "t""t" = 'z' WHERE "i d" = 2"#),
            Kind(
                testDescription: "references to itself",
                old: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, of REFERENCES photo(id) ON DELETE CASCADE);
                    INSERT INTO photo VALUES (1, 2), (2, NULL), (3, 2), (4, 3), (5, 5)
                    """,
                new: "CREATE TABLE photo(id INTEGER PRIMARY KEY, of REFERENCES photo(id), n DEFAULT 7)",
                writes: "DELETE FROM photo WHERE id = 3; INSERT INTO photo VALUES (6, 1)"),
            Kind(
                testDescription: "a sequence that goes on",
                old: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY AUTOINCREMENT, t);
                    INSERT INTO photo VALUES (1, 1), (2, 2), (900, 3); DELETE FROM photo WHERE id = 900
                    """,
                new: "CREATE TABLE photo(id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT)",
                writes: "INSERT INTO photo(t) VALUES (901)"),
            Kind(
                testDescription: "indexes of expressions and of parts, which REPLACE goes by",
                old: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, n INTEGER NOT NULL DEFAULT 5);
                    CREATE UNIQUE INDEX by_lower ON photo(lower(t));
                    CREATE UNIQUE INDEX by_part ON photo(n) WHERE t IS NULL;
                    INSERT INTO photo VALUES (1, 'a', 1), (2, NULL, 5), (3, 'b', 3)
                    """,
                new: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, n INTEGER)",
                writes: """
                    REPLACE INTO photo VALUES (7, 'A', 1); REPLACE INTO photo VALUES (8, NULL, NULL);
                    UPDATE OR REPLACE photo SET t = 'B' WHERE id = 7
                    """),
            Kind(
                testDescription: "indexes of expressions that compare a text with a number",
                old: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, n);
                    CREATE UNIQUE INDEX by_five ON photo(t = 5) WHERE t = 5;
                    INSERT INTO photo VALUES (1, '5', 1), (2, '6', 2)
                    """,
                new: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, n)",
                writes: "REPLACE INTO photo VALUES (3, 5, 3)"),
        ]
    }

    @Test("with any key and any columns", arguments: Kind.all, [true, false])
    func kinds(kind: Kind, isCopied: Bool) throws {
        let app = try RebuildApp(kind.old, as: kind.new, copying: kind.copying)
        if isCopied {
            try app.launchAndRun()
            try app.database.execute(kind.writes)
        }
        let plain = try DatabaseQueue()
        try plain.execute("\(kind.old); \(kind.writes)")
        let sequence = try app.database.read { try $0.tableExists("sqlite_sequence") }
        try app.rebuildInPieces { piece in
            if piece == 1, !isCopied { try app.database.execute(kind.writes) }
        }
        let columns = try app.database.strings(
            "SELECT '\"' || replace(name, '\"', '\"\"') || '\"' FROM pragma_table_info('photo')")
        let known = try Set(
            plain.strings(
                "SELECT '\"' || replace(name, '\"', '\"\"') || '\"' FROM pragma_table_xinfo('photo')"))
        let common = columns.filter(known.contains).joined(separator: ", ")
        func rows(_ database: DatabaseQueue) throws -> [String] {
            try database.read { db in
                try Row.fetchAll(db, sql: "SELECT \(common) FROM photo").map {
                    "\($0.map { "\($1)".replacing("\"", with: "") })"
                }
                .sorted()
            }
        }
        #expect(try rows(app.database) == rows(plain))
        #expect(try app.database.strings("PRAGMA integrity_check") == ["ok"])
        #expect(try app.database.strings("SELECT \"table\" FROM pragma_foreign_key_check").isEmpty)
        if sequence {
            try app.database.execute("INSERT INTO photo(t) VALUES (0)")
            #expect(try app.database.integer("SELECT max(id) FROM photo") == 902)
        }
    }

    @Test("triggers, views, full-text tables and the references of others")
    func others() throws {
        let app = try RebuildApp(
            """
            CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE tag(id INTEGER PRIMARY KEY, photo REFERENCES photo(id) ON DELETE CASCADE, t);
            CREATE VIEW titles AS SELECT title FROM photo;
            CREATE VIRTUAL TABLE search USING fts5(title, content='photo', content_rowid='id');
            CREATE TRIGGER searched AFTER INSERT ON photo BEGIN
                INSERT INTO search(rowid, title) VALUES (NEW.id, NEW.title); END;
            CREATE TRIGGER tagged AFTER INSERT ON tag BEGIN UPDATE photo SET title = title || '+' WHERE id = NEW.photo; END;
            INSERT INTO photo VALUES (1, 'one'), (2, 'two');
            INSERT INTO tag VALUES (1, 1, 'x');
            """, as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT NOT NULL, x DEFAULT 1)")
        try app.launchAndRun()
        try app.database.execute("INSERT INTO photo VALUES (3, 'three'); INSERT INTO tag VALUES (2, 3, 'y')")
        try app.rebuildInPieces()
        #expect(try app.database.strings("SELECT title FROM titles ORDER BY 1") == ["one+", "three+", "two"])
        #expect(try app.database.integers("SELECT rowid FROM search WHERE search MATCH 'three'") == [3])
        try app.database.execute(
            "INSERT INTO photo(id, title) VALUES (4, 'four'); DELETE FROM photo WHERE id = 1")
        #expect(try app.database.integers("SELECT rowid FROM search WHERE search MATCH 'four'") == [4])
        #expect(try app.database.integers("SELECT id FROM tag") == [2])
        let schema = try app.database.strings("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").joined()
        #expect(!schema.contains("app_migrations_new") && !schema.contains("app_migrations_old"))
    }

    @Test(
        "on the connection that swaps the tables, too: temporary triggers, and a temporary table of the same name"
    )
    func temporary() throws {
        let app = try RebuildApp(
            """
            CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT);
            CREATE TABLE photo_by_key(id INTEGER PRIMARY KEY);
            CREATE TABLE note(t);
            CREATE TRIGGER noted AFTER INSERT ON photo BEGIN INSERT INTO note VALUES (NEW.t); END;
            CREATE TEMP TRIGGER noted_here AFTER INSERT ON photo BEGIN INSERT INTO note VALUES (NEW.t || ' here'); END;
            """, as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL)")
        try app.launchAndRun()
        try app.manager().migrate()
        try app.database.execute("INSERT INTO photo VALUES (1, 'a')")
        #expect(try app.database.strings("SELECT t FROM note ORDER BY t") == ["a", "a here"])

        let other = try RebuildApp(
            "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT); CREATE TABLE note(t)",
            as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL)")
        try other.database.execute(
            """
            CREATE TRIGGER noted AFTER INSERT ON photo BEGIN INSERT INTO note VALUES (NEW.t); END;
            CREATE TEMP TABLE photo(x);
            CREATE TEMP TRIGGER counted AFTER INSERT ON temp.photo BEGIN INSERT INTO note VALUES (NEW.x); END;
            """)
        try other.launchAndRun()
        try other.manager().migrate()
        try other.database.execute(
            "INSERT INTO main.photo VALUES (1, 'a'); INSERT INTO temp.photo VALUES ('temporary')")
        #expect(try other.database.strings("SELECT t FROM note ORDER BY t") == ["a", "temporary"])
    }

    @Test("and lets a migration drop a column of a parent that no index has")
    func parentColumn() throws {
        let app = try RebuildApp(
            """
            CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT, other);
            CREATE UNIQUE INDEX album_by_name ON album(lower(name));
            CREATE TABLE photo(id INTEGER PRIMARY KEY, album REFERENCES album(id) ON DELETE SET NULL);
            """,
            as:
                "CREATE TABLE photo(id INTEGER PRIMARY KEY, album NOT NULL REFERENCES album(id) ON DELETE CASCADE)"
        )
        try app.launchAndRun()
        try app.database.execute("ALTER TABLE album DROP COLUMN other")
        try app.database.execute("INSERT INTO album VALUES (1, 'a'); INSERT INTO photo VALUES (1, 1)")
        try app.rebuildInPieces()
        #expect(try app.rows() == ["1, 1"])
    }

    @Test(
        "and lets the app delete and change parents, before the swap and after it",
        arguments: ["", "ON DELETE SET NULL", "ON DELETE RESTRICT ON UPDATE CASCADE", "ON DELETE CASCADE"])
    func parents(action: String) throws {
        let app = try RebuildApp(
            """
            CREATE TABLE album(id INTEGER PRIMARY KEY, name UNIQUE);
            CREATE TABLE photo(id INTEGER PRIMARY KEY, album INTEGER REFERENCES album(id) ON DELETE CASCADE ON UPDATE CASCADE);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) INSERT INTO album SELECT i, i FROM n;
            INSERT INTO photo SELECT id, id FROM album;
            """,
            as:
                "CREATE TABLE photo(id INTEGER PRIMARY KEY, album INTEGER NOT NULL REFERENCES album(id) \(action))"
        )
        try app.launchAndRun()
        try app.database.execute(
            "DELETE FROM album WHERE id = 1; UPDATE album SET id = 20 WHERE id = 2; REPLACE INTO album VALUES (30, 3)"
        )
        #expect(try app.database.integers("SELECT album FROM photo ORDER BY id") == [20, 4, 5, 6, 7, 8, 9])
        let manager = try app.manager()
        try manager.migrate()
        #expect(try app.leftovers().contains("app_migrations_old_photo"))
        try app.database.execute(
            "DELETE FROM photo WHERE album > 3; DELETE FROM album WHERE id > 3 AND id < 20")
        #expect(try manager.runDeferred().pending.isEmpty)
        #expect(try app.leftovers() == [])
    }

    @Test(
        "and copies no row again because the app upserts its parent",
        arguments: ["", "ON DELETE CASCADE", "ON DELETE SET NULL"])
    func upsertedParents(action: String) throws {
        let app = try RebuildApp(
            """
            CREATE TABLE album(id INTEGER PRIMARY KEY, name);
            CREATE TABLE photo(id INTEGER PRIMARY KEY, album INTEGER REFERENCES album(id), t TEXT);
            INSERT INTO album VALUES (1, 'a'); INSERT INTO photo VALUES (1, 1, 'x'), (2, 1, 'y');
            """,
            as:
                "CREATE TABLE photo(id INTEGER PRIMARY KEY, album INTEGER REFERENCES album(id) \(action), t TEXT NOT NULL)"
        )
        try app.launchAndRun()
        let noted = "SELECT count(*) FROM app_migrations_log_photo WHERE todo < 2"
        try app.database.execute(
            "INSERT INTO album VALUES (1, 'b') ON CONFLICT(id) DO UPDATE SET name = excluded.name")
        #expect(try app.database.integer(noted) == 0)
        try app.database.execute(
            "PRAGMA foreign_keys = 0; REPLACE INTO album VALUES (1, 'c'); PRAGMA foreign_keys = 1")
        #expect(try app.database.integer(noted) == 0)
        try app.rebuildInPieces()
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE album = 1") == 2)
    }

    @Test("and leaves nothing of its own to snapshots and fixtures")
    func hidden() throws {
        let app = try RebuildApp(RebuildTests.photos, as: RebuildTests.newPhotos, copying: ["title": "''"])
        try app.launchAndRun()
        let names = try app.database.read { try SchemaObject.fetchAll($0).map(\.name.text) }
        #expect(names == ["photo", "photo_by_title"])
    }
}

@Suite("A deferred rebuild refuses", .timed)
struct RebuildRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var table = "photo"
        var setUp = "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT); INSERT INTO photo VALUES (1, 'a')"
        var schema = "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL)"
        var copying: [String: String] = [:]
        var dropping: [String] = []
        let reason: String
        var testDescription: String { reason }

        static let all: [Case] = [
            Case(
                table: "new", setUp: "CREATE TABLE new(id INTEGER PRIMARY KEY)",
                schema: "CREATE TABLE new(id INTEGER PRIMARY KEY, t DEFAULT 1)",
                reason: "table new has the name of a row in triggers"),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT);
                    CREATE UNIQUE INDEX by_server ON photo(coalesce(t, id));
                    """,
                reason:
                    "the unique index by_server of table photo is over what is computed from id, which SQLite gives"
            ),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, g AS (coalesce(t, (id))));
                    CREATE UNIQUE INDEX by_server ON photo(g);
                    """,
                reason:
                    "the unique index by_server of table photo is over what is computed from id, which SQLite gives"
            ),
            Case(
                setUp: """
                    CREATE TABLE album(id INTEGER PRIMARY KEY, k NOT NULL DEFAULT 'd', g AS (k || 'x') UNIQUE);
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT REFERENCES album(id));
                    """,
                reason: """
                    the unique index sqlite_autoindex_album_1 of table album is over a generated column, where a default takes \
                    the place of NULL
                    """),
            Case(
                setUp: "CREATE TABLE photo(t TEXT)",
                reason: "table photo has no primary key, by which its rows could be copied"),
            Case(
                setUp: "CREATE VIEW photo AS SELECT 1",
                reason: "photo is a view, and cannot be rebuilt while the app uses it"),
            Case(
                setUp: "CREATE VIRTUAL TABLE photo USING fts5(t)",
                reason: "photo is a virtual table, and cannot be rebuilt while the app uses it"),
            Case(
                table: "app_migrations", schema: "CREATE TABLE app_migrations(a)",
                reason: "table app_migrations is not the app's own"),
            Case(
                schema: "CREATE TABLE image(id INTEGER PRIMARY KEY)",
                reason: "the new schema of table photo names the table image"),
            Case(
                schema: "CREATE TABLE photo(id INTEGER PRIMARY KEY); DROP TABLE album",
                reason: "the new schema of table photo has the statement `DROP TABLE album`"),
            Case(
                copying: ["t": "(SELECT 1)"],
                reason: "the expression that fills column t of table photo has a SELECT"),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT);
                    CREATE VIEW covers AS SELECT t FROM photo;
                    """,
                copying: ["t": "t NOT IN covers"],
                reason: "the expression that fills column t of table photo looks for a value in a table"),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, g AS (')' || coalesce(t, id)));
                    CREATE UNIQUE INDEX by_server ON photo(g);
                    """,
                reason:
                    "the unique index by_server of table photo is over what is computed from id, which SQLite gives"
            ),
            Case(
                setUp:
                    "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT UNIQUE, of_ TEXT REFERENCES photo(t))",
                schema:
                    "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT UNIQUE, of_ TEXT REFERENCES photo(t))",
                copying: ["t": "lower(t)"],
                reason: "table photo refers to column t of table photo, which does not stay as it is"),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL);
                    CREATE INDEX by_t ON photo(t);
                    """,
                schema: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL);
                    CREATE UNIQUE INDEX by_t ON photo(t);
                    """,
                reason: "there is an index, a table or a view by_t already"),
            Case(
                schema: "CREATE TABLE photo(id TEXT PRIMARY KEY, t TEXT)",
                reason: "column id of the primary key of table photo does not stay as it is"),
            Case(
                schema: "CREATE TABLE photo(id INTEGER, t TEXT PRIMARY KEY)",
                reason: "the new table photo has no index that begins with id"),
            Case(
                copying: ["x": "1"],
                reason: "`copying` fills column x, and the new table photo has no such column"),
            Case(
                setUp: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT); CREATE INDEX by_t ON photo(t)",
                schema:
                    "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL); CREATE INDEX by_t ON photo(t)",
                reason: "there is an index, a table or a view by_t already"),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT UNIQUE); CREATE TABLE tag(t REFERENCES photo(t));
                    """, copying: ["t": "upper(t)"],
                reason: "table tag refers to column t of table photo, which does not stay as it is"),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT UNIQUE); CREATE TABLE tag(t REFERENCES photo(t));
                    """,
                reason:
                    "table tag refers to t of table photo, and in the new table these are not unique together"
            ),
            Case(
                setUp:
                    "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, o); CREATE VIEW v AS SELECT o FROM photo",
                dropping: ["O"], reason: "the new table photo leaves view v broken: no such column: o"),
            Case(
                setUp: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, o TEXT, g AS (o))",
                reason: "the new table photo has no column o, whose values would be lost"),
            Case(copying: ["t": "nowhere"], reason: "no such column: nowhere"),
            Case(copying: ["t": "max(t)"], reason: "misuse of aggregate"),
            Case(copying: ["t": "row_number() OVER ()"], reason: "misuse of window function row_number()"),
            Case(
                setUp:
                    "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT); CREATE TABLE fav(id INTEGER PRIMARY KEY)",
                copying: ["t": "id IN fav"],
                reason: "the expression that fills column t of table photo looks for a value in a table"),
            Case(
                setUp: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, date TEXT)",
                copying: ["t": "date(t)"],
                reason: "the new table photo has no column date, whose values would be lost"),
            Case(
                setUp:
                    "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT); CREATE TABLE album(id INTEGER PRIMARY KEY, n)",
                schema: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL REFERENCES album(n))",
                reason:
                    "the new table photo refers to n of table album, where these are not unique together"),
            Case(
                schema: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT UNIQUE, p REFERENCES photo(t))",
                reason: "the new table photo refers to t of table photo, where these are not unique together"),
            Case(
                setUp: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT COLLATE NOCASE UNIQUE);
                    CREATE TABLE tag(t REFERENCES photo(t));
                    """, schema: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT UNIQUE)",
                reason: "table tag refers to column t of table photo, which does not stay as it is"),
        ]
    }

    @Test("what it cannot do, with the reason", arguments: Case.all)
    func refuses(_ refused: Case) throws {
        var app = try RebuildApp(refused.setUp, as: refused.schema, copying: refused.copying)
        app.table = refused.table
        app.dropping = refused.dropping
        let manager = try app.manager()
        var text = ""
        do {
            try manager.migrate()
            text = try manager.runDeferred().failures.map(\.message).joined()
        } catch let error as MigrationError {
            text = error.message
        }
        #expect(text.contains(refused.reason), "\(text)")
        #expect(try app.leftovers().filter { $0 != "app_migrations" } == [])
    }
}
