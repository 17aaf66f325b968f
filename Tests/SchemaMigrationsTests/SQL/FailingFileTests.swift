import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A failing SQL file", .timed)
struct FailingFileTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private static let remedy = "It was rolled back. Fix it and migrate again."

    @Test("is rolled back, keeps earlier files, and runs after it is fixed")
    func thirdStatement() throws {
        var files = [
            "1_first.sql": "CREATE TABLE a(x);", "2_second.sql": "CREATE TABLE b(x);",
            "3_third.sql": """
            CREATE TABLE c(x);
            -- Fill it.
            INSERT INTO c VALUES (1);

            INSERT INTO
                nowhere
            VALUES (1); -- no such table
            INSERT INTO c VALUES (2);
            """,
            "4_fourth.sql": "CREATE TABLE d(x);",
        ]
        let schema = try folder.migrator(files)
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(error.description == "3_third.sql:5: no such table: nowhere (SQLite 1). \(Self.remedy)")
        #expect(error.file == "3_third.sql")
        #expect(error.line == 5)
        #expect(error.statement == "INSERT INTO\n    nowhere\nVALUES (1)")
        #expect(error.schemaVersion == 3)
        #expect(error.sqliteCode == 1)
        #expect(error.committed == [1, 2])
        #expect((error.underlyingError as? DatabaseError)?.message == "no such table: nowhere")

        #expect(try queue.tables() == ["a", "b"])
        #expect(try queue.ledger() == [1, 2])
        #expect(try queue.integers("SELECT version FROM schema_migrations_details ORDER BY 1") == [1, 2])

        files["3_third.sql"] = "CREATE TABLE c(x); INSERT INTO c VALUES (1);"
        #expect(try folder.migrator(files).migrate(queue).applied == [3, 4])
        #expect(try queue.tables() == ["a", "b", "c", "d"])
    }

    @Test(
        "is refused if it holds both directions, by the marks of other tools",
        arguments: [
            "-- +goose Down", "-- +migrate Down", "-- migrate:down", "-- //@UNDO", "--//@UNDO",
            "-- +goose Down\r", "-- migrate:down transaction:false",
            "---- create above / drop below ----",
        ])
    func bothDirections(mark: String) throws {
        let files = ["1_a.sql": "CREATE TABLE a(x);\n\n\(mark)\nDROP TABLE a;\n"]
        let error = try failure { try folder.migrator(files).migrate(queue) }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                1_a.sql:3: `\(mark.filter { $0 != "\r" })` begins statements that undo the file, which would run as well. \
                Move them to 1_a.down.sql.
                """)
        #expect(try queue.tables() == [])
    }

    @Test("runs if nothing follows the mark of another tool, or if it only goes one way")
    func oneDirection() throws {
        let files = [
            "1_a.sql": "-- +goose Up\nCREATE TABLE a(x);\n-- +goose Down\n",
            "2_b.sql": "-- A table to migrate:down there.\nCREATE TABLE b(x);",
            "2_b.down.sql": "-- migrate:down\nDROP TABLE b;",
        ]
        let schema = try folder.migrator(files)
        #expect(try schema.migrate(queue).applied == [1, 2])
        try schema.rollback(queue, to: 1)
        #expect(try queue.tables() == ["a"])
    }

    @Test("reports its own error, although SQLite cannot commit after undoing its full-text table")
    func fullText() throws {
        let schema = try folder.migrator([
            "1_first.sql": "CREATE TABLE a(x);",
            "2_second.sql": """
            CREATE VIRTUAL TABLE search USING fts5(body);
            INSERT INTO search(body) VALUES ('text');
            INSERT INTO nowhere VALUES (1);
            """,
        ])
        let error = try failure { try schema.migrate(queue) }
        #expect(error.message == "2_second.sql:3: no such table: nowhere (SQLite 1).")
        #expect(error.committed == [1])
        #expect(try queue.tables() == ["a"])
        #expect(try queue.ledger() == [1])
    }

    @Test(
        "reports the line, the statement and SQLite's message",
        arguments: [
            (
                "CREATE TABLE c(x UNIQUE);\nINSERT INTO c VALUES (1);\nINSERT INTO c VALUES (1);", 3,
                "UNIQUE constraint failed: c.x (SQLite 2067)", "INSERT INTO c VALUES (1)"
            ),
            (
                "CREATE TABLE c(x NOT NULL);\r\nSELECT 1;\r\n\r\nINSERT INTO c\r\nVALUES (NULL)", 4,
                "NOT NULL constraint failed: c.x (SQLite 1299)", "INSERT INTO c\r\nVALUES (NULL)"
            ),
            ("SELECT ';';; ;\n SELEC 2;\nSELECT 3;", 2, "near \"SELEC\": syntax error (SQLite 1)", "SELEC 2"),
            ("\u{FEFF}SELECT 1;\n/* ; \n */ SELECT y;", 3, "no such column: y (SQLite 1)", "SELECT y"),
            ("SELECT 1;\n\nSELECT (2", 3, "incomplete input (SQLite 1)", "SELECT (2"),
            (
                "SELECT 1; SELECT 2;\nDROP TABLE c -- ;\n ;\nSELECT 3", 2, "no such table: c (SQLite 1)",
                "DROP TABLE c"
            ),
            (
                """
                CREATE TABLE c(x);
                CREATE TRIGGER t AFTER INSERT ON c BEGIN
                    SELECT CASE WHEN new.x > 1 THEN RAISE(ABORT, 'too; large') END;
                END;
                -- Fine.
                INSERT INTO c VALUES (1);
                INSERT INTO c VALUES (2);
                """, 7, "too; large (SQLite 1811)", "INSERT INTO c VALUES (2)"
            ),
            (
                "SELECT '\(String(repeating: "é", count: 300))' FROM c", 1, "no such table: c (SQLite 1)",
                "SELECT '\(String(repeating: "é", count: 192))…"
            ),
        ])
    func statement(sql: String, line: Int, message: String, statement: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try folder.migrator(["7_x.sql": sql]).migrate(queue)
        }
        #expect(error.description == "7_x.sql:\(line): \(message). \(Self.remedy)")
        #expect(error.line == line)
        #expect(error.statement == statement)
        #expect(error.committed == [])
        #expect(try queue.schema() == [])
    }

    @Test("reports a remedy even if the app runs it directly")
    func byItself() throws {
        let migration = SQLMigration(version: 1, name: "a", sql: "SELECT 1;\nSELECT nonsense;")
        let error = try failure { try queue.write { try migration.migrate($0) } }
        #expect(error.description == "1_a.sql:2: no such column: nonsense (SQLite 1). \(Self.remedy)")
    }

    @Test("that is refused before it runs leaves the database unchanged")
    func refused() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x);\nCOMMIT;",
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(
            error.description == """
                2_b.sql:2: COMMIT is not allowed in a file that runs in a transaction. Remove it: the file and its \
                record are committed together.
                """)
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
        #expect(try schema.migrate(queue, upTo: 1).applied == [1])
    }

    @Test(
        "that rolls back the whole transaction keeps earlier files",
        arguments: [
            "INSERT INTO a VALUES (1); INSERT OR ROLLBACK INTO a VALUES (1);",
            """
            CREATE TRIGGER t BEFORE INSERT ON a BEGIN SELECT RAISE(ROLLBACK, 'UNIQUE constraint failed: a.x'); END;
            INSERT INTO a VALUES (1);
            """,
        ])
    func rollback(sql: String) throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x UNIQUE);", "2_b.sql": "CREATE TABLE b(x);",
            "3_c.sql": "CREATE TABLE c(x); \(sql)", "4_d.sql": "CREATE TABLE d(x);",
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(error.message.hasPrefix("3_c.sql:"))
        #expect(error.message.contains(": UNIQUE constraint failed: a.x (SQLite "))
        #expect(error.remedy == Self.remedy)
        #expect(error.committed == [1, 2])
        #expect(try queue.tables() == ["a", "b"])
        #expect(try queue.ledger() == [1, 2])
        #expect(try queue.integers("SELECT x FROM a") == [])

        try folder.folder(["3_c.sql": "CREATE TABLE c(x);"])
        #expect(try schema.migrate(queue).applied == [3, 4])
    }
}
