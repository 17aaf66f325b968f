import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import Testing

@testable import MigrationTools

@Suite("A generated migration", .timed)
struct MigrationGeneratorTests {
    private func generator(
        _ old: String, _ new: String, renaming renames: SchemaRenames = SchemaRenames()
    ) throws -> MigrationGenerator {
        let first = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "first", sql: old)])
        return try MigrationGenerator(
            first, to: SchemaFile(Data(new.utf8), name: "schema.sql"), renaming: renames, redefining: false)
    }

    @Test(
        "follows renames that the schema records in any order, and through two names",
        arguments: ["\n", "\r\n"])
    func chainedRenames(lineEnd: String) throws {
        let chained = try generator(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)",
            """
            -- renamed: entry.body=text
            -- renamed: note=entry
            CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT)
            """.replacing("\n", with: lineEnd))
        #expect(
            chained.sql
                == "ALTER TABLE note RENAME TO entry;\nALTER TABLE entry RENAME COLUMN body TO text;\n")
        #expect(chained.questions == [])

        let twice = try generator(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)",
            """
            -- renamed: note=entry
            -- renamed: note.body=text
            -- renamed: entry=page
            CREATE TABLE page(id INTEGER PRIMARY KEY, text TEXT)
            """)
        #expect(
            twice.sql == """
                ALTER TABLE note RENAME TO entry;
                ALTER TABLE entry RENAME TO page;
                ALTER TABLE page RENAME COLUMN body TO text;

                """)
    }

    @Test("renames nothing whose old name has come back")
    func renamedLongAgo() throws {
        let table = try generator(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, x TEXT)",
            """
            -- renamed: note=entry
            CREATE TABLE note(id INTEGER PRIMARY KEY, x TEXT);
            CREATE INDEX note_x ON note(x)
            """)
        #expect(table.sql == "CREATE INDEX note_x ON note(x);\n")
        let column = try generator(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)",
            """
            -- renamed: note.body=text
            -- renamed: note.text=body
            CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)
            """)
        #expect(column.sql == "")
    }

    private static let numberedItems = """
        CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE part(id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES item(id));
        """
    private static let namedItems = """
        CREATE TABLE item(uuid TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE part(id INTEGER PRIMARY KEY, item_uuid TEXT REFERENCES item(uuid));
        """

    @Test("proposes no rename between a column of numbers and one of texts")
    func noRenameOfOtherType() throws {
        let questions = try generator(Self.numberedItems, Self.namedItems).questions
        #expect(questions.contains { $0.missing?.path == "part.item_id" })
        #expect(!questions.contains { $0.text.contains("--rename") || $0.missing?.newNames.isEmpty == false })
        let others = try generator("CREATE TABLE a(k, x INTEGER)", "CREATE TABLE a(k, y NUMERIC, z TEXT)")
            .questions
        #expect(others.map { $0.missing?.newNames } == [["y"]])
    }

    @Test("does all of what it is told by name, or nothing")
    func allOrNothing() throws {
        let part = try generator(
            Self.numberedItems, Self.namedItems,
            renaming: SchemaRenames(columns: ["part.item_id=item_uuid"], drops: ["item.id"]))
        let error = try #require(throws: MigrationError.self) { try part.checkThatAnswersAreDone() }
        #expect(error.code == .misuse)
        #expect(
            error.message.hasPrefix(
                "Cannot be done: --drop item.id and the rename of column `part.item_id` to `item_uuid`. "))
        #expect(
            error.message.contains("column `part.item_uuid`: INTEGER becomes TEXT, which may change values."))

        let all = try generator(
            "CREATE TABLE a(x INTEGER, y TEXT, z TEXT); CREATE TABLE b(x)",
            "CREATE TABLE a(w INTEGER, y TEXT)",
            renaming: SchemaRenames(columns: ["a.x=w"], drops: ["a.z", "b"]))
        try all.checkThatAnswersAreDone()
        #expect(all.questions == [])
    }

    @Test(
        "uses ALTER TABLE where SQLite can",
        arguments: [
            (
                "CREATE TABLE a(x INTEGER, UNIQUE (x))",
                "CREATE TABLE a(x INTEGER, y TEXT NOT NULL DEFAULT '', UNIQUE (x))",
                "ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT '';\n"
            ),
            // The order of columns is worth no rebuild.
            (
                "CREATE TABLE a(x INTEGER UNIQUE)",
                "CREATE TABLE a(y TEXT REFERENCES a(x), x INTEGER UNIQUE)",
                "ALTER TABLE a ADD COLUMN y TEXT REFERENCES a(x);\n"
            ),
            (
                "CREATE TABLE a(x, y AS (x + 1))", "CREATE TABLE a(x)", "ALTER TABLE a DROP COLUMN y;\n"
            ),
            (
                #"CREATE TABLE "na me"(x); CREATE INDEX i ON "na me"(x)"#,
                #"CREATE TABLE "na me"(x, "select" INT); CREATE INDEX i ON "na me"(x) WHERE x > 1"#,
                """
                DROP INDEX i;

                ALTER TABLE "na me" ADD COLUMN "select" INT;

                CREATE INDEX i ON "na me"(x) WHERE x > 1;

                """
            ),
            (
                "CREATE TABLE a(x); CREATE VIEW v AS SELECT 1",
                "CREATE TABLE b(y); CREATE VIEW v AS SELECT 2; CREATE TABLE a(x)",
                """
                DROP VIEW v;

                CREATE TABLE b(y);

                CREATE VIEW v AS SELECT 2;

                """
            ),
            // Only the writing differs.
            (
                "CREATE TABLE a(x INTEGER NOT NULL DEFAULT 1)",
                "create table \"A\" (X integer default 1 not null)", ""
            ),
        ])
    func alter(old: String, new: String, sql: String) throws {
        let generator = try generator(old, new)
        #expect(generator.sql == sql)
        #expect(generator.questions == [])
        if !sql.isEmpty { _ = try generator.check(goingBack: true) { _ in } }
    }

    @Test("rebuilds a table with all that belongs to it")
    func rebuild() throws {
        let rest = """
            CREATE INDEX note_by_text ON note(text);
            CREATE VIEW recent AS SELECT text FROM note;
            CREATE VIEW newest AS SELECT text FROM recent;
            CREATE TABLE tag(note INTEGER REFERENCES note(id));
            CREATE TRIGGER tagged AFTER INSERT ON tag BEGIN
                UPDATE note SET text = text WHERE id = new.note;
            END;
            CREATE TRIGGER noted AFTER INSERT ON note BEGIN SELECT 1; END;
            """
        let generator = try generator(
            "CREATE TABLE note(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);" + rest,
            "CREATE TABLE note(\n    id INTEGER PRIMARY KEY AUTOINCREMENT,\n    text TEXT NOT NULL DEFAULT '',\n    CHECK (note.id > 0)\n);"
                + rest)
        #expect(
            generator.sql == """
                DROP TRIGGER tagged;
                DROP VIEW newest;
                DROP VIEW recent;

                -- Rebuild note: column `text` changes, its constraints change.
                CREATE TABLE note_new(
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    text TEXT NOT NULL DEFAULT '',
                    CHECK (note_new.id > 0)
                );
                -- No id is given twice.
                INSERT INTO sqlite_sequence(name, seq) SELECT 'note_new', seq FROM sqlite_sequence WHERE name = 'note';
                INSERT INTO note_new(id, text) SELECT id, coalesce(text, '') FROM note;
                DROP TABLE note;
                ALTER TABLE note_new RENAME TO note;

                CREATE INDEX note_by_text ON note(text);

                CREATE VIEW recent AS SELECT text FROM note;
                CREATE VIEW newest AS SELECT text FROM recent;

                CREATE TRIGGER tagged AFTER INSERT ON tag BEGIN
                    UPDATE note SET text = text WHERE id = new.note;
                END;

                CREATE TRIGGER noted AFTER INSERT ON note BEGIN SELECT 1; END;

                """)
        #expect(
            generator.summary == ["~ table `note`, rebuilt: column `text` changes, its constraints change"])
        #expect(generator.tightened == ["table `note` gets other constraints"])
        let trial = try generator.check(goingBack: true) { db in
            try db.execute(
                sql:
                    "INSERT INTO note(text) VALUES ('a'), (NULL), ('c'); DELETE FROM note WHERE id = 3; INSERT INTO tag VALUES (1)"
            )
        }
        #expect(trial.rows == 3)
        #expect(trial.tables == 2)
    }

    @Test("keeps the ids that an AUTOINCREMENT table has given")
    func sequence() throws {
        let generator = try generator(
            "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x)",
            "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x INTEGER)")
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x);
                    INSERT INTO a(x) VALUES (1), (2);
                    DELETE FROM a;
                    """)
        }
        #expect(generator.sql == "")
        #expect(generator.questions.map(\.subject) == ["column `a.x`"])
        let wider = try self.generator(
            "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x INTEGER)",
            "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x)")
        try queue.write { db in
            try db.execute(sql: wider.sql)
            try db.execute(sql: "INSERT INTO a(x) VALUES (3)")
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM a") == [3])
        }
    }

    @Test(
        "asks about what would lose data, and leaves it out",
        arguments: [
            ("CREATE TABLE a(x); CREATE TABLE b(y)", "CREATE TABLE a(x)", "table `b`", ""),
            ("CREATE TABLE a(x, y)", "CREATE TABLE a(x)", "column `a.y`", ""),
            ("CREATE TABLE a(x)", "CREATE TABLE a(x, y TEXT NOT NULL)", "column `a.y`", ""),
            ("CREATE TABLE a(x TEXT)", "CREATE TABLE a(x TEXT NOT NULL)", "column `a.x`", ""),
            ("CREATE TABLE a(x TEXT)", "CREATE TABLE a(x INTEGER)", "column `a.x`", ""),
            ("CREATE TABLE a(x REAL)", "CREATE TABLE a(x TEXT)", "column `a.x`", ""),
            ("CREATE TABLE a(x, y)", "CREATE TABLE a(x, y AS (x))", "column `a.y`", ""),
            (
                "CREATE VIRTUAL TABLE a USING fts5(x, y)", "CREATE VIRTUAL TABLE a USING fts5(x)",
                "table `a`", ""
            ),
            // What can be done is done, and what needs the rest waits.
            (
                "CREATE TABLE a(x, y)",
                "CREATE TABLE a(x, z TEXT NOT NULL, w); CREATE INDEX i ON a(z); CREATE VIEW v AS SELECT z FROM a; CREATE INDEX j ON a(w)",
                "column `a.z` column `a.y`", "ALTER TABLE a ADD COLUMN w;\n\nCREATE INDEX j ON a(w);\n"
            ),
            // A column that stays is part of a rebuild.
            (
                "CREATE TABLE a(x, y TEXT)", "CREATE TABLE a(x, CHECK (x > 0))", "column `a.y`",
                """
                -- Rebuild a: its constraints change.
                CREATE TABLE a_new(x, y TEXT, CHECK (x > 0));
                INSERT INTO a_new(rowid, x, y) SELECT rowid, x, y FROM a;
                DROP TABLE a;
                ALTER TABLE a_new RENAME TO a;

                """
            ),
        ])
    func questions(old: String, new: String, subjects: String, sql: String) throws {
        let generator = try generator(old, new)
        #expect(generator.questions.map(\.subject).joined(separator: " ") == subjects)
        #expect(generator.sql == sql)
        #expect(!generator.isEmpty)
    }

    @Test(
        "leaves out what does not go with what is left out",
        arguments: [
            // Rows in which x is null would get ids.
            (
                "CREATE TABLE a(x INTEGER)", "CREATE TABLE a(x INTEGER, PRIMARY KEY (x)); CREATE TABLE b(y)",
                [
                    """
                    table `a`: It stays as it is, because column `x` becomes the row's id, and SQLite would make one up \
                    where it is NULL. Make the column NOT NULL in a migration before, or rebuild the table by hand.
                    """
                ],
                "CREATE TABLE b(y);\n"
            ),
            (
                "CREATE TABLE a(x INTEGER, y)",
                "CREATE TABLE a(x INTEGER PRIMARY KEY, y, z); CREATE INDEX i ON a(z)",
                [
                    """
                    table `a`: It stays as it is, because column `x` becomes the row's id, and SQLite would make one up \
                    where it is NULL. Make the column NOT NULL in a migration before, or rebuild the table by hand. \
                    (index `i`)
                    """
                ], ""
            ),
            // The trigger cannot write to a column that stays generated.
            (
                "CREATE TABLE a(x, y AS (x || 'x'))",
                """
                CREATE TABLE a(x, y TEXT);
                CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET y = NULL; END;
                CREATE TRIGGER u AFTER INSERT ON a BEGIN SELECT new.y; END;
                """,
                [
                    """
                    column `a.y`: A column without a type becomes TEXT, which may change values. Add a column of the new \
                    type, or rebuild the table by hand. (trigger `t`)
                    """
                ], "CREATE TRIGGER u AFTER INSERT ON a BEGIN SELECT new.y; END;\n"
            ),
            // A full-text index needs the column that is left out, and its trigger needs the index.
            (
                "CREATE TABLE a(x)",
                """
                CREATE TABLE a(x, z TEXT NOT NULL); CREATE VIRTUAL TABLE f USING fts5(z, content='a');
                CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO f(f) VALUES ('rebuild'); END;
                """,
                [
                    """
                    column `a.z`: It is NOT NULL, and has no default for the rows that exist. Give it a DEFAULT, or allow \
                    NULL, in the schema. (table `f`, trigger `t`)
                    """
                ], ""
            ),
            // A table that stays needs the key of its parent.
            (
                "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(a REFERENCES a(id))",
                "CREATE TABLE a(id INTEGER, x)",
                [
                    "table `b`: The schema has no such table. It stays, because dropping it loses its rows.",
                    """
                    table `a`: It stays as it is, because table `b` stays, and refers to columns that are unique now. \
                    Answer the other questions first, or change it by hand.
                    """,
                ], ""
            ),
            (
                """
                CREATE TABLE a(x); CREATE UNIQUE INDEX i ON a(x); CREATE INDEX j ON a(x);
                CREATE TABLE b(a REFERENCES a(x))
                """,
                "CREATE TABLE a(x)",
                [
                    "table `b`: The schema has no such table. It stays, because dropping it loses its rows.",
                    """
                    index `i`: It stays as it is, because table `b` stays, and refers to columns that are unique now. \
                    Answer the other questions first, or change it by hand.
                    """,
                ], "DROP INDEX j;\n"
            ),
            // A new table needs a key that is left out.
            (
                "CREATE TABLE a(x TEXT)",
                "CREATE TABLE a(x INTEGER UNIQUE); CREATE TABLE b(a REFERENCES a(x)); CREATE INDEX i ON b(a)",
                [
                    """
                    column `a.x`: TEXT becomes INTEGER, which may change values. Add a column of the new type, or rebuild \
                    the table by hand. (table `b`, index `i`)
                    """
                ], ""
            ),
            // A trigger that stays, because its new form cannot be, needs the column that goes.
            (
                """
                CREATE TABLE a(x, g AS (x)); CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT new.g; END;
                """,
                """
                CREATE TABLE a(x, z TEXT NOT NULL); CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT new.z; END;
                """,
                [
                    """
                    column `a.z`: It is NOT NULL, and has no default for the rows that exist. Give it a DEFAULT, or allow \
                    NULL, in the schema. (trigger `t`)
                    """,
                    """
                    table `a`: It stays as it is, because trigger `t` stays, and needs it. Answer the other questions \
                    first, or change it by hand.
                    """,
                ], ""
            ),
        ] as [(String, String, [String], String)])
    func leftOut(old: String, new: String, questions: [String], sql: String) throws {
        let generator = try generator(old, new)
        #expect(
            generator.questions.map { question in
                let waiting = question.waiting.isEmpty ? "" : " (\(question.waiting.joined(separator: ", ")))"
                return "\(question.subject): \(question.text)\(waiting)"
            } == questions)
        #expect(generator.sql == sql)
        #expect(generator.tightened == [])
        if !sql.isEmpty {
            _ = try generator.check(goingBack: true) { db in
                try db.execute(sql: "INSERT INTO a(x) VALUES (NULL), (NULL), (1)")
            }
        }
    }

    @Test("says that a default may come twice, forward and back")
    func defaultsForNulls() throws {
        let loosened = try generator(
            "CREATE TABLE a(x INTEGER UNIQUE)", "CREATE TABLE a(x INTEGER NOT NULL DEFAULT 0)")
        #expect(loosened.tightened == [])
        #expect(loosened.downTightened == ["column `a.x` gets UNIQUE"])
        // The rows that are 0 now do not fit the schema before, and say nothing about the down migration.
        let trial = try loosened.check(goingBack: true) {
            try $0.execute(sql: "INSERT INTO a VALUES (NULL), (NULL), (1)")
        }
        #expect(trial.rows == 3)

        let unique = try generator(
            "CREATE TABLE a(x INTEGER, y, UNIQUE (x, y))",
            "CREATE TABLE a(x INTEGER NOT NULL DEFAULT 0, y, UNIQUE (x, y))")
        #expect(unique.tightened == ["column `a.x` takes its default where it is NULL, and is unique"])
        _ = try unique.check(goingBack: true) {
            try $0.execute(sql: "INSERT INTO a VALUES (NULL, 1), (NULL, 1), (1, 1)")
        }
        #expect(
            try generator(
                "CREATE TABLE a(x INTEGER NOT NULL)", "CREATE TABLE a(x INTEGER NOT NULL PRIMARY KEY)"
            )
            .tightened == [
                "column `a.x` becomes the row's id, and takes only integers", "column `a.x` gets PRIMARY KEY",
            ])
    }

    @Test("renames what a person names, and nothing else")
    func renames() throws {
        let old =
            "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); CREATE VIEW v AS SELECT body FROM note; CREATE VIEW w AS SELECT body FROM v"
        let new =
            "CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT); CREATE VIEW v AS SELECT text FROM entry; CREATE VIEW w AS SELECT text FROM v"
        let generator = try generator(
            old, new, renaming: SchemaRenames(tables: ["note=entry"], columns: ["note.body=text"]))
        #expect(
            generator.sql == """
                ALTER TABLE note RENAME TO entry;

                DROP VIEW w;
                DROP VIEW v;

                ALTER TABLE entry RENAME COLUMN body TO text;

                CREATE VIEW v AS SELECT text FROM entry;
                CREATE VIEW w AS SELECT text FROM v;

                """)
        _ = try generator.check(goingBack: true) {
            try $0.execute(sql: "INSERT INTO note(body) VALUES ('a')")
        }
        #expect(try self.generator(old, new).questions.map(\.subject) == ["table `note`"])
        for (renames, message) in [
            (
                SchemaRenames(columns: ["note.boby=text"]),
                "--rename note.boby=text names no column that the migrations make. Pass --rename table.old=new, with names as the migrations have them. Nothing was written."
            ),
            (
                SchemaRenames(tables: ["note"]),
                "--rename-table note names no table that the migrations make. Pass --rename-table old=new, with names as the migrations have them. Nothing was written."
            ),
        ] {
            #expect {
                _ = try self.generator(old, new, renaming: renames)
            } throws: { "\($0)" == message }
        }
    }

    @Test("lets two columns exchange their names, and goes back")
    func exchangedNames() throws {
        let generator = try generator(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, a TEXT, b INTEGER)",
            "CREATE TABLE note(id INTEGER PRIMARY KEY, b TEXT, a INTEGER)",
            renaming: SchemaRenames(columns: ["note.a=b", "note.b=a"]))
        #expect(
            generator.sql == """
                ALTER TABLE note RENAME COLUMN a TO b_new;
                ALTER TABLE note RENAME COLUMN b TO a;
                ALTER TABLE note RENAME COLUMN b_new TO b;

                """)
        try generator.checkThatAnswersAreDone()
        _ = try generator.check(goingBack: true) {
            try $0.execute(sql: "INSERT INTO note(a, b) VALUES ('a', 1)")
        }
    }

    @Test(
        "says how to free a name that something else has",
        arguments: [
            (
                SchemaRenames(tables: ["note=entry"], drops: ["entry"]),
                "--rename-table note=entry cannot be done: there is already another table or index with this name: entry."
            ),
            (
                SchemaRenames(columns: ["note.body=text"], drops: ["note.text"]),
                "--rename note.body=text cannot be done: error in table note after rename: duplicate column name: text."
            ),
        ])
    func takenNames(renames: SchemaRenames, problem: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try self.generator(
                "CREATE TABLE note(body TEXT, text TEXT); CREATE TABLE entry(x)",
                "CREATE TABLE entry(text TEXT)", renaming: renames)
        }
        #expect(
            "\(error)" == """
                \(problem) Drop or rename what has the name in a migration of its own first. Nothing was written.
                """)
    }

    @Test("keeps the rows of a table whose constraints have a conflict clause of their own")
    func conflictClause() throws {
        let generator = try generator(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, UNIQUE (a, b) ON CONFLICT IGNORE)")
        #expect(generator.sql.contains("INSERT OR ABORT INTO t_new(id, a, b) SELECT id, a, b FROM t;"))
    }

    @Test("leaves a table STRICT if the values of a column ANY would change otherwise")
    func strictAny() throws {
        let generator = try generator(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a ANY) STRICT",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a ANY)")
        #expect(generator.sql == "")
        #expect(
            generator.questions.last?.text == """
                It stays as it is, because the values of column `a`, which would stay, may change in it. Answer the questions \
                about its columns, or rebuild it by hand.
                """)
    }

    @Test("asks about a key that is no row id, because it is descending")
    func descendingKey() throws {
        let generator = try generator(
            "CREATE TABLE t(id INTEGER PRIMARY KEY DESC, v)", "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
        #expect(generator.sql == "")
        #expect(generator.questions.first?.text.contains("SQLite would make one up where it is NULL") == true)
    }

    @Test("copies the rows' ids by a name that no column hides")
    func hiddenRowID() throws {
        let generator = try generator(
            "CREATE TABLE t(rowid TEXT, v)", "CREATE TABLE t(rowid TEXT, v, CHECK (v > 0))")
        #expect(
            generator.sql.contains(
                "INSERT INTO t_new(_rowid_, rowid, v) SELECT _rowid_, rowid, v FROM t;"))
    }

    @Test("keeps the ids of rows that a full-text table indexes, and indexes again what changes")
    func fullText() throws {
        let generator = try generator(
            """
            CREATE TABLE note(text TEXT);
            CREATE VIRTUAL TABLE note_fts USING fts5(text, content='note');
            CREATE VIRTUAL TABLE search USING fts5(title);
            """,
            """
            CREATE TABLE note(text TEXT, UNIQUE (text));
            CREATE VIRTUAL TABLE note_fts USING fts5(text, content='note');
            CREATE VIRTUAL TABLE search USING fts5(title, body);
            """)
        #expect(
            generator.sql == """
                -- Rebuild note: its constraints change.
                CREATE TABLE note_new(text TEXT, UNIQUE (text));
                -- As in schema.sql: fails where rows break a new UNIQUE.
                -- allow: new-unique
                INSERT INTO note_new(rowid, text) SELECT rowid, text FROM note;
                DROP TABLE note;
                ALTER TABLE note_new RENAME TO note;

                -- Rebuild search: its definition changes.
                CREATE VIRTUAL TABLE search_new USING fts5(title, body);
                INSERT INTO search_new(rowid, title) SELECT rowid, title FROM search;
                DROP TABLE search;
                ALTER TABLE search_new RENAME TO search;

                """)
        // The second row breaks the new constraint, and so says nothing about the migration.
        let trial = try generator.check(goingBack: false) {
            try $0.execute(sql: "INSERT INTO note VALUES ('a'), ('a'); INSERT INTO search VALUES ('b')")
        }
        #expect(trial.rows == 1)
    }

    @Test("keeps the texts of a full-text table whose new column goes again")
    func narrowerFullText() throws {
        let generator = try generator(
            "CREATE VIRTUAL TABLE search USING fts5(title)",
            "CREATE VIRTUAL TABLE search USING fts5(title, body)")
        #expect(
            generator.downSQL == """
                -- Rebuild search: its definition changes.
                CREATE VIRTUAL TABLE search_new USING fts5(title);
                INSERT INTO search_new(rowid, title) SELECT rowid, title FROM search;
                DROP TABLE search;
                ALTER TABLE search_new RENAME TO search;

                """)
    }

    @Test("makes no table STRICT of which a column keeps its type, and may hold what the new one takes")
    func strictWithoutItsType() throws {
        let generator = try generator(
            "CREATE TABLE kv(k TEXT PRIMARY KEY, v BLOB, w TEXT)",
            "CREATE TABLE kv(k TEXT PRIMARY KEY, v TEXT, w TEXT) STRICT")
        #expect(generator.sql == "")
        let questions = generator.questions.map { "\($0.subject): \($0.text)" }
        #expect(
            questions.contains { $0.contains("STRICT goes with the new type of column `v`") }, "\(questions)")
    }

    @Test("fills the index of a view's texts once the view is there")
    func fullTextOfView() throws {
        func schema(_ expression: String, _ collation: String = "") -> String {
            """
            CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT\(collation));
            CREATE VIEW plain AS SELECT id, \(expression) AS body FROM note;
            CREATE VIRTUAL TABLE search USING fts5(body, content='plain', content_rowid='id');
            """
        }
        let rebuilt = "INSERT INTO search(search) VALUES ('rebuild');"
        let table = "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);"
        for (old, new) in [
            (table, schema("lower(body)")), (schema("lower(body)"), schema("upper(body)")),
            (schema("lower(body)"), schema("lower(body)", " COLLATE NOCASE")),
        ] {
            let generator = try generator(old, new)
            let view = try #require(generator.sql.range(of: "CREATE VIEW plain"))
            let index = try #require(generator.sql.range(of: rebuilt), "\(generator.sql)")
            #expect(view.lowerBound < index.lowerBound)
            let trial = try generator.check(goingBack: true) {
                try $0.execute(sql: "INSERT INTO note(body) VALUES ('Ada')")
            }
            #expect(trial.rows == 1)
        }
    }

    @Test("keeps the settings of a full-text table, up and down")
    func fullTextSettings() throws {
        let settings = "INSERT INTO search(search, rank) VALUES ('rank', 'bm25(10.0)');"
        let generator = try generator(
            "CREATE VIRTUAL TABLE search USING fts5(title); \(settings)",
            "CREATE VIRTUAL TABLE search USING fts5(title, body)")
        for (sql, columns) in [(generator.sql, "title, body"), (generator.downSQL, "title")] {
            #expect(
                sql == """
                    -- Rebuild search: its definition changes.
                    CREATE VIRTUAL TABLE search_new USING fts5(\(columns));
                    INSERT INTO search_new(rowid, title) SELECT rowid, title FROM search;
                    DROP TABLE search;
                    ALTER TABLE search_new RENAME TO search;

                    \(settings)

                    """)
        }
        #expect(try generator.check(goingBack: true) { _ in }.rows == 0)
    }

    @Test("indexes a generated column again whose expression changes")
    func indexedExpression() throws {
        func note(_ expression: String) -> String {
            """
            CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, plain TEXT AS (\(expression)) STORED);
            CREATE VIRTUAL TABLE note_fts USING fts5(plain, content='note', content_rowid='id');
            """
        }
        let generator = try generator(note("lower(body)"), note("upper(body)"))
        #expect(generator.sql.contains("INSERT INTO note_fts(note_fts) VALUES ('rebuild');"))
    }

    @Test("is not accepted if it loses a row, or makes another schema")
    func trial() throws {
        let generator = try generator("CREATE TABLE a(x TEXT)", "CREATE TABLE a(x TEXT CHECK (x <> ''))")
        #expect {
            _ = try generator.check(goingBack: false) { db in
                // A trigger of the app's keeps the rows that the new schema does not accept.
                try db.execute(
                    sql: """
                        INSERT INTO a VALUES ('');
                        CREATE TEMP TRIGGER keep BEFORE DELETE ON main.a BEGIN SELECT RAISE(ABORT, 'kept'); END;
                        """)
            }
        } throws: {
            "\($0)" == """
                The migration to schema.sql was not written, because it failed on generated rows: CHECK constraint failed: \
                x <> '' (SQLite 275). Look at it with `app-migrations diff --from schema.sql`, and write it by hand.
                """
        }
    }

    @Test("says where the wanted schema does not run")
    func badFile() throws {
        #expect {
            _ = try generator("CREATE TABLE a(x)", "CREATE TABLE a(x);\nCREATE TABLE a(y);")
        } throws: {
            "\($0)" == "schema.sql:2: table a already exists (SQLite 1). Correct it. Nothing was written."
        }
        for sql in [
            "CREATE TABLE a(x);\nCREATE TABLE sqlite_sequence(name,seq);",
            "BEGIN TRANSACTION;\nCREATE TABLE a(x);",
        ] {
            #expect {
                _ = try generator("CREATE TABLE a(x)", sql)
            } throws: {
                "\($0)".hasSuffix(
                    "`app-migrations dump --database FILE` writes a schema that fits, other than .schema and .dump do. Nothing was written."
                )
            }
        }
    }

    @Test(
        "names every change that rows may not fit",
        arguments: [
            (
                "(a)", "(a, b TEXT UNIQUE DEFAULT 'x')",
                "column `t.b` takes its default in every row, and is unique"
            ),
            (
                "(a)", "(a, b INTEGER DEFAULT 0 CHECK (b > 0))",
                "column `t.b` takes its default in every row, and gets CHECK"
            ),
            (
                "(a)", "(a, b INTEGER DEFAULT 5 REFERENCES t(a), UNIQUE (a))",
                "table `t` gets other constraints; column `t.b` takes its default in every row, and gets REFERENCES"
            ),
            ("(a CHECK (a > 0))", "(a CHECK (a > 1))", "column `t.a` gets CHECK"),
            (
                "(a TEXT UNIQUE)", "(a TEXT COLLATE NOCASE UNIQUE)",
                "column `t.a` compares other values as equal"
            ),
            (
                "(a, b UNIQUE REFERENCES t(b))", "(a, b UNIQUE REFERENCES u(id))",
                "column `t.b` gets REFERENCES"
            ),
            ("(a)", "(a, b AS (a) UNIQUE)", "column `t.b` is generated, and gets UNIQUE"),
            (
                "(a INT NOT NULL PRIMARY KEY)", "(a INTEGER NOT NULL PRIMARY KEY)",
                "column `t.a` becomes the row's id, and takes only integers"
            ),
            ("(a); CREATE INDEX i ON t(a)", "(a); CREATE UNIQUE INDEX i ON t(a)", "index `i` is UNIQUE"),
            (
                "(a); CREATE UNIQUE INDEX i ON t(a) WHERE a > 5",
                "(a); CREATE UNIQUE INDEX i ON t(a) WHERE a > 1",
                "index `i` is UNIQUE"
            ),
            (
                "(a TEXT); CREATE UNIQUE INDEX i ON t(a)",
                "(a TEXT COLLATE NOCASE); CREATE UNIQUE INDEX i ON t(a)",
                "index `i` is UNIQUE"
            ),
        ])
    func tightened(old: String, new: String, sentences: String) throws {
        let rest = "; CREATE TABLE u(id INTEGER PRIMARY KEY)"
        let generator = try generator("CREATE TABLE t\(old)\(rest)", "CREATE TABLE t\(new)\(rest)")
        #expect(generator.tightened.joined(separator: "; ") == sentences)
    }

    @Test("counts the rows that do not fit, and says why")
    func misfits() throws {
        let trial = try generator("CREATE TABLE t(a)", "CREATE TABLE t(a, b TEXT UNIQUE DEFAULT 'x')")
            .check(goingBack: false) { try $0.execute(sql: "INSERT INTO t VALUES (1), (2), (3)") }
        #expect(trial.rows == 1)
        #expect(trial.misfits == 2)
        #expect(trial.misfitReasons == ["2 rows of table `t`: UNIQUE constraint failed: t.b"])
    }

    @Test("loses no row to a constraint that ignores or replaces rows", arguments: ["IGNORE", "REPLACE"])
    func conflictClauses(clause: String) throws {
        let trial = try generator("CREATE TABLE t(a)", "CREATE TABLE t(a UNIQUE ON CONFLICT \(clause))")
            .check(goingBack: false) { try $0.execute(sql: "INSERT INTO t VALUES (1), (1), (2)") }
        #expect(trial.rows == 2)
        #expect(trial.misfitReasons == ["1 row of table `t`: UNIQUE constraint failed: t.a"])
    }

    @Test("compares the rows of a table with as many columns as SQLite allows, or nearly so")
    func manyColumns() throws {
        let columns = (1...1_100).map { "c\($0)" }.joined(separator: ", ")
        let trial = try generator("CREATE TABLE t(\(columns))", "CREATE TABLE t(\(columns), d CHECK (d > 0))")
            .check(goingBack: false) { try $0.execute(sql: "INSERT INTO t(c1, c1100) VALUES (1, 'x')") }
        #expect(trial.rows == 1)
    }

    @Test(
        "keeps a sequence that a constraint of the table declares, or whose table is written in another case",
        arguments: [
            (
                #"CREATE TABLE note("id" INTEGER, a INTEGER, PRIMARY KEY("id" AUTOINCREMENT))"#,
                #"CREATE TABLE note("id" INTEGER, a INTEGER NOT NULL DEFAULT 0, PRIMARY KEY("id" AUTOINCREMENT))"#
            ),
            (
                "CREATE TABLE Note(id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER)",
                "CREATE TABLE note(id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER NOT NULL DEFAULT 0)"
            ),
        ])
    func sequenceOfConstraint(old: String, new: String) throws {
        let generator = try generator(old, new)
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "\(old); INSERT INTO note(a) VALUES (1), (2); DELETE FROM note WHERE id = 2")
            try db.execute(sql: generator.sql)
            try db.execute(sql: "INSERT INTO note(a) VALUES (3)")
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM note") == [1, 3])
        }
    }

    @Test("asks before an INTEGER becomes TEXT, since it may hold reals")
    func integerAsText() throws {
        let asked = try generator("CREATE TABLE t(a INTEGER)", "CREATE TABLE t(a TEXT)")
        #expect(asked.questions.map(\.subject) == ["column `t.a`"])
        // A STRICT table holds only integers there.
        let strict = try generator("CREATE TABLE t(a INTEGER) STRICT", "CREATE TABLE t(a TEXT) STRICT")
        #expect(strict.questions == [])
    }

    @Test("allows what the wanted schema asks for, in comments that say so")
    func allowed() throws {
        let generator = try generator(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL CHECK (length(a) > 0)); CREATE INDEX i ON t(a)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
        #expect(
            generator.sql == """
                -- Rebuild t: column `a` changes.
                -- As in schema.sql: rebuilding table `t` loses `CHECK (length(a) > 0)`.
                -- As in schema.sql: rebuilding table `t` loses the NOT NULL of column `a`.
                -- allow: lost-check, lost-not-null
                CREATE TABLE t_new(id INTEGER PRIMARY KEY, a TEXT);
                INSERT INTO t_new(id, a) SELECT id, a FROM t;
                -- As in schema.sql: rebuilding table `t` loses index `i`, which goes with the old table.
                -- allow: lost-index
                DROP TABLE t;
                ALTER TABLE t_new RENAME TO t;

                """)
        let first =
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL CHECK (length(a) > 0)); CREATE INDEX i ON t(a);"
        #expect(try ReviewedMigrations(generator.sql, after: first).findings == [])
    }

    @Test("asks before it drops a search index whose texts another table holds")
    func searchIndex() throws {
        let generator = try generator(
            "CREATE TABLE t(a); CREATE VIRTUAL TABLE search USING fts5(a, content='t')", "CREATE TABLE t(a)")
        #expect(generator.sql == "")
        #expect(
            generator.questions.map(\.text) == [
                "The schema has no such table. It stays, because dropping it loses the index."
            ])
    }

    @Test("drops what a person names, and allows it")
    func drops() throws {
        let old = "CREATE TABLE t(a, b); CREATE TABLE u(a)"
        let generator = try generator(
            old, "CREATE TABLE t(a)", renaming: SchemaRenames(drops: ["t.b", "u"]))
        #expect(generator.questions == [])
        #expect(
            generator.sql == """
                -- As in schema.sql: table `u` is dropped: its rows are lost.
                -- allow: drop-table
                DROP TABLE u;

                -- As in schema.sql: column `b` of table `t` is dropped: its values are lost.
                -- allow: drop-column
                ALTER TABLE t DROP COLUMN b;

                """)
        #expect(try ReviewedMigrations(generator.sql, after: "\(old);").findings == [])
        #expect {
            _ = try self.generator(old, "CREATE TABLE t(a)", renaming: SchemaRenames(drops: ["t.c"]))
        } throws: {
            "\($0)" == """
                --drop t.c names no table and no column that the migrations make. Pass --drop table or table.column, with \
                names as the migrations have them. Nothing was written.
                """
        }
    }

    @Test("renames what a comment in the schema records, once")
    func recordedRenames() throws {
        let schema = """
            -- renamed: note=entry
            CREATE TABLE entry(
                -- renamed: note.body=text
                text TEXT
            );
            """
        #expect(
            try generator("CREATE TABLE note(body TEXT)", schema).sql == """
                ALTER TABLE note RENAME TO entry;
                ALTER TABLE entry RENAME COLUMN body TO text;

                """)
        #expect(try generator("CREATE TABLE entry(text TEXT)", schema).isEmpty)
    }

    @Test("copies the rows' ids into a new key that names them")
    func newRowID() throws {
        let generator = try generator("CREATE TABLE t(a)", "CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
        #expect(generator.sql.contains("INSERT INTO t_new(id, a) SELECT rowid, a FROM t;"))
        _ = try generator.check(goingBack: true) {
            try $0.execute(sql: "INSERT INTO t(rowid, a) VALUES (5, 1), (9, 2)")
        }
    }
}
