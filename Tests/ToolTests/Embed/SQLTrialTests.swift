import Foundation
import TestSupport
import Testing

@Suite("The plugin's tool runs the SQL", .timed)
struct SQLTrialTests {
    @Test(
        "and reports what does not run by path, line and column",
        arguments: [
            (
                [
                    "1_a.sql": "CREATE TABLE a(x);\n",
                    "2_b.sql": "-- A comment.\n\nALTER TABLE b ADD COLUMN y;\n",
                ],
                "2_b.sql:3:1: error: no such table: b."
            ),
            (
                ["1_a.sql": "CREATE TABLE a(x);\nSELECT 1;\n  SELECT y FROM a;\n"],
                "1_a.sql:3:10: error: no such column: y."
            ),
            (["1_a.sql": "CREATE TABEL a(x);"], "1_a.sql:1:8: error: near \"TABEL\": syntax error."),
            (
                [
                    "1_a.sql":
                        "CREATE TABLE a(x NOT NULL);\n/* two\nlines */ INSERT INTO a VALUES (1); INSERT INTO a VALUES (NULL);"
                ],
                "1_a.sql:3:36: error: NOT NULL constraint failed: a.x."
            ),
        ] as [([String: String], String)])
    func error(files: [String: String], message: String) async throws {
        let tool = try EmbedTool(files)
        let run = try await tool()
        #expect(
            run.errors == """
                \(tool.migrations.path)/\(message) Correct the SQL. If only the app's own SQLite can run it, put an empty \
                file .unchecked-sql into the folder.

                """)
        #expect(run.status == 1)
        #expect(!FileManager.default.fileExists(atPath: tool.output.path))
    }

    @Test("each file with the settings of the connection, whatever the one before has set")
    func settings() async throws {
        let tool = try EmbedTool([
            "1_a.sql": """
            CREATE TABLE author(id INTEGER PRIMARY KEY); CREATE TABLE book(author REFERENCES author(id));
            INSERT INTO author VALUES (1); INSERT INTO book VALUES (1); PRAGMA foreign_keys = ON;
            """,
            "2_b.sql": """
            CREATE TABLE author_new(id INTEGER PRIMARY KEY, name); INSERT INTO author_new(id) SELECT id FROM author;
            DROP TABLE author; ALTER TABLE author_new RENAME TO author;
            """,
        ])
        let run = try await tool()
        #expect(run.errors == "")
        #expect(run.status == 0)
    }

    @Test(
        "in a transaction, which ignores the enforcement of foreign keys, and with SQLite's settings in the next file"
    )
    func transaction() async throws {
        let tool = try EmbedTool([
            "1_a.sql": """
            CREATE TABLE author(id INTEGER PRIMARY KEY); CREATE TABLE book(author REFERENCES author(id));
            INSERT INTO author VALUES (1); INSERT INTO book VALUES (1); PRAGMA foreign_keys = ON;
            DROP TABLE author;
            PRAGMA legacy_alter_table = ON; PRAGMA query_only = ON;
            """,
            "2_b.sql": """
            CREATE TABLE writer(id INTEGER PRIMARY KEY); CREATE VIEW writers AS SELECT id FROM writer;
            ALTER TABLE writer RENAME TO author; SELECT * FROM writers;
            """,
            "3_c.sql": "-- migrations: transaction=none\nPRAGMA user_version = 2;",
            "4_d.sql": """
            CREATE VIRTUAL TABLE words USING fts5(word); CREATE TABLE text(word);
            CREATE TRIGGER index_text AFTER INSERT ON text BEGIN INSERT INTO words VALUES (NEW.word); END;
            PRAGMA trusted_schema = OFF;
            """,
            "5_e.sql": "INSERT INTO text VALUES ('a');",
        ])
        let run = try await tool()
        #expect(run.errors == "")
        #expect(run.status == 0)
    }

    @Test(
        "with immediate foreign keys where a file begins with them",
        arguments: ["-- on\nPRAGMA foreign_keys = ON;", "-- migrations: foreign-keys=immediate"])
    func immediateForeignKeys(opening: String) async throws {
        let author = """
            CREATE TABLE author(id INTEGER PRIMARY KEY);
            CREATE TABLE book(author REFERENCES author(id) ON DELETE CASCADE, title);
            INSERT INTO author VALUES (1), (2); INSERT INTO book VALUES (1, 'x'), (2, 'x');
            """
        let cascading = try EmbedTool([
            "1_a.sql": author,
            "2_b.sql":
                "\(opening)\nDELETE FROM author WHERE id = 1; CREATE UNIQUE INDEX title ON book(title);",
        ])
        #expect(try await cascading().errors == "")
        let refused = try EmbedTool([
            "1_a.sql": author, "2_b.sql": "\(opening)\nINSERT INTO book VALUES (99, 'y');",
        ])
        #expect(try await refused().errors.contains("FOREIGN KEY constraint failed"))
    }

    @Test(
        "with the settings before the first statement, whatever other comments stand there",
        arguments: [
            "\u{FEFF}", "/* why\n create it */\n", "-- Create the new definition.\r\n",
            "/*\n * CREATE\n **/ ",
            "-- migrations: compatible\n;",
        ])
    func header(opening: String) async throws {
        let tables = """
            CREATE TABLE author(id INTEGER PRIMARY KEY, name); CREATE TABLE book(author REFERENCES author(id));
            """
        let redefining = try EmbedTool([
            "1_a.sql": tables,
            "2_b.sql":
                "\(opening)-- migrations: redefine\nCREATE TABLE author(id INTEGER PRIMARY KEY, name NOT NULL);",
        ])
        #expect(try await redefining().errors == "")
        let immediate = try EmbedTool([
            "1_a.sql": tables,
            "2_b.sql":
                "\(opening)-- migrations: foreign-keys=immediate\nINSERT INTO book VALUES (1);",
        ])
        #expect(try await immediate().errors.contains("FOREIGN KEY constraint failed"))
        let alone = try EmbedTool([
            "1_a.sql": tables,
            "2_b.sql": "\(opening)-- migrations: transaction=none\nBEGIN;",
        ])
        #expect(try await alone().errors == "")
    }

    @Test(
        "without the settings in other comments",
        arguments: ["/*\n-- migrations: redefine\n*/", "-- no migrations: redefine"])
    func otherComments(opening: String) async throws {
        let tool = try EmbedTool(["1_a.sql": "\(opening)\nCREATE TABLE author(id INTEGER PRIMARY KEY);"])
        #expect(try await tool().errors == "")
    }

    @Test("and counts a line without its byte order mark")
    func mark() async throws {
        let tool = try EmbedTool(["1_a.sql": "\u{FEFF}SELECT missing;"])
        #expect(try await tool().errors.contains("1_a.sql:1:8: error: no such column: missing"))
    }

    @Test("and redefines a table without losing the last key of AUTOINCREMENT")
    func autoincrement() async throws {
        let tool = try EmbedTool([
            "1_a.sql": """
            CREATE TABLE book(id INTEGER PRIMARY KEY AUTOINCREMENT, title);
            INSERT INTO book VALUES (3, 'x'), (7, 'y'); DELETE FROM book WHERE id = 7;
            """,
            "2_b.sql": """
            -- migrations: redefine
            CREATE TABLE Book(id INTEGER PRIMARY KEY AUTOINCREMENT, title NOT NULL);
            """,
            "3_c.sql": """
            INSERT INTO book(title) VALUES ('z'); CREATE TABLE cover(book CHECK (book IN (3, 8)));
            INSERT INTO cover SELECT id FROM book;
            """,
        ])
        #expect(try await tool().errors == "")
    }

    @Test("beside the migrator's ledger, which files may read and tidy")
    func ledger() async throws {
        let tool = try EmbedTool([
            "1_a.sql":
                "CREATE TABLE a(x CHECK (x = 1)); CREATE VIEW v AS SELECT version FROM schema_migrations;",
            "2_b.sql":
                "INSERT INTO a SELECT count(*) FROM v; DELETE FROM schema_migrations; PRAGMA query_only = 1;",
            "3_c.sql":
                "INSERT INTO a SELECT count(*) FROM v; UPDATE schema_migrations_details SET name = 'a';",
        ])
        #expect(try await tool().errors == "")
    }

    @Test(
        "up to what it cannot run, and says so",
        arguments: [
            (
                ["1_a.sql": "CREATE TABLE a(x);", "2_AddMoods.swift": "", "3_c.sql": "SELECT * FROM moods;"],
                "2_AddMoods.swift:1:1: note: the build did not run the SQL from here on, because AddMoods is written in Swift."
            ),
            (
                ["1_a.sql": "SELECT sha(1);", "2_b.sql": "SELECT * FROM b;"],
                "1_a.sql:1:1: note: the build did not run the SQL from here on, because no such function: sha."
            ),
            (
                ["1_a.sql": "CREATE VIRTUAL TABLE a USING special(x);"],
                "1_a.sql:1:1: note: the build did not run the SQL from here on, because no such module: special."
            ),
            (
                ["1_a.sql": "-- migrations: transaction=none\nVACUUM;"],
                "1_a.sql:1:1: note: the build did not run the SQL from here on, because it contains VACUUM."
            ),
            (
                ["1_a.sql": "SELECT 1; -- more\nattach 'b.sqlite' AS b; SELECT * FROM b.c;"],
                "1_a.sql:1:1: note: the build did not run the SQL from here on, because it contains ATTACH."
            ),
        ] as [([String: String], String)])
    func note(files: [String: String], message: String) async throws {
        let tool = try EmbedTool(files)
        let run = try await tool()
        #expect(run.errors == "\(tool.migrations.path)/\(message) The tests of the app have to run it.\n")
        #expect(run.status == 0)
        #expect(FileManager.default.fileExists(atPath: tool.output.path))
    }

    @Test("also where a comment, a text or a name holds the word of a statement that it does not run")
    func words() async throws {
        let tool = try EmbedTool([
            "1_a.sql": """
            -- People can attach a photo.
            CREATE TABLE vacuum(attach); INSERT INTO vacuum VALUES ('vacuum; attach');
            """,
            "2_b.sql": "SELECT missing;",
        ])
        #expect(try await tool().errors.contains("2_b.sql:1:8: error: no such column: missing."))
    }

    @Test("unless a file switches that off")
    func off() async throws {
        let tool = try EmbedTool(["1_a.sql": "SELECT * FROM nothing;", ".unchecked-sql": ""])
        let run = try await tool()
        #expect(run.errors == "")
        #expect(run.status == 0)
    }
}
