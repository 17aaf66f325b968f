import AppMigrations
import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("A SQL file", .timed)
struct SQLScriptTests {
    private func script(_ sql: String) throws -> SQLScript {
        try SQLScript(Data(sql.utf8), fileName: "7_x.sql")
    }

    /// The texts of the statements.
    private func statements(_ sql: String) throws -> [String] {
        let bytes = Array(sql.utf8)
        return try script(sql).statements.map { String(decoding: bytes[$0.range], as: UTF8.self) }
    }

    @Test(
        "is split into statements",
        arguments: [
            ("-- nothing to do", []),
            (";;;", []),
            ("SELECT 1", ["SELECT 1"]),
            ("SELECT ';' ; ;; SELECT 2 -- ;\n;", ["SELECT ';'", "SELECT 2"]),
            ("SELECT\n1;\r\nSELECT\r\n2;\r\n", ["SELECT\n1", "SELECT\r\n2"]),
            (
                "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; SELECT 3; END; SELECT 4",
                [
                    "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; SELECT 3; END",
                    "SELECT 4",
                ]
            ),
            (
                "create /**/ temp -- \n trigger t after insert on a begin select 1;; end ; select 4",
                ["create /**/ temp -- \n trigger t after insert on a begin select 1;; end", "select 4"]
            ),
            (
                "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END x; SELECT 2; END; SELECT 3",
                ["CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END x; SELECT 2; END", "SELECT 3"]
            ),
            ("PRAGMA; EXPLAIN", ["PRAGMA", "EXPLAIN"]),
            ("-- migrations: transaction=none\nEXPLAIN VACUUM", ["EXPLAIN VACUUM"]),
            ("CREATE TABLE \"TRIGGER\"(x); SELECT 1", ["CREATE TABLE \"TRIGGER\"(x)", "SELECT 1"]),
            ("EXPLAIN SELECT 1; SELECT 2", ["EXPLAIN SELECT 1", "SELECT 2"]),
        ])
    func statements(sql: String, expected: [String]) throws {
        #expect(try statements(sql) == expected)
    }

    @Test("has the lines at which its statements begin")
    func lines() throws {
        let script = try script("-- one\n\nSELECT\n 1; SELECT 2;\r\n/* \n */ SELECT 3")
        #expect(script.statements.map(\.line) == [3, 4, 6])
    }

    @Test("is read without its byte order mark")
    func byteOrderMark() throws {
        #expect(
            try script("\u{FEFF}-- migrations: foreign-keys=immediate\nSELECT 1").settings.foreignKeys
                == .immediate)
    }

    // MARK: Settings

    @Test(
        "has settings in a comment or a pragma",
        arguments: [
            ("SELECT 1", .deferred, .wrapped),
            ("SAVEPOINT s; SELECT 1; ROLLBACK TRANSACTION TO SAVEPOINT s; RELEASE s", .deferred, .wrapped),
            ("-- migrations: foreign-keys=deferred\nSELECT 1", .deferred, .wrapped),
            ("-- About it.\n--migrations:foreign-keys = immediate\nSELECT 1", .immediate, .wrapped),
            (";-- migrations: foreign-keys=unchecked\nSELECT 1", .unchecked, .wrapped),
            ("-- migrations: foreign-keys=immediate, transaction=none\r\nANALYZE", .immediate, .none),
            ("-- migrations: transaction=none\nVACUUM", .deferred, .none),
            ("-- migrations: transaction=none\nPRAGMA journal_mode=WAL", .deferred, .none),
            ("-- Migrations: see the handbook\nSELECT 1", .deferred, .wrapped),
            ("PRAGMA foreign_keys=OFF; SELECT 1; PRAGMA foreign_keys=ON", .deferred, .wrapped),
            ("PRAGMA foreign_keys=ON; SELECT 1; PRAGMA foreign_keys=OFF;", .immediate, .wrapped),
            ("SELECT 1; PRAGMA foreign_keys=ON;", .deferred, .wrapped),
            ("pragma main . \"foreign_keys\" ( 'true' ); SELECT 1", .immediate, .wrapped),
            ("PRAGMA foreign_keys = no; SELECT 1", .deferred, .wrapped),
            ("SELECT 1; PRAGMA foreign_keys; SELECT 2", .deferred, .wrapped),
            ("-- migrations: foreign-keys=unchecked\nPRAGMA foreign_keys=ON; SELECT 1", .unchecked, .wrapped),
            (
                "SELECT 1; PRAGMA foreign_keys=ON; SELECT 2; PRAGMA foreign_keys=OFF; SELECT 3", .deferred,
                .wrapped
            ),
            ("PRAGMA foreign_keys = +1; SELECT 1", .immediate, .wrapped),
        ] as [(String, ForeignKeys, SQLFileSettings.Transaction)])
    func settings(sql: String, foreignKeys: ForeignKeys, transaction: SQLFileSettings.Transaction) throws {
        let settings = try script(sql).settings
        #expect(settings.foreignKeys == foreignKeys)
        #expect(settings.transaction == transaction)
    }

    // MARK: Refusals

    private static let drop = "Remove it: the file and its record are committed together."
    private static let close = "Close it: SQLite would silently ignore the rest of the file."
    private static let values =
        """
        Write foreign-keys=deferred, foreign-keys=immediate, foreign-keys=unchecked, transaction=none, compatible or \
        redefine; several with commas between them.
        """

    @Test(
        "is refused if it cannot run as a whole in one transaction",
        arguments: [
            ("SELECT 1;\nBEGIN;", 2, "BEGIN is not allowed in a file that runs in a transaction.", drop),
            ("\n begin immediate;", 2, "BEGIN is not allowed in a file that runs in a transaction.", drop),
            ("SELECT 1;\n\nCOMMIT", 3, "COMMIT is not allowed in a file that runs in a transaction.", drop),
            ("SELECT 1; /* \n */ END;", 2, "END is not allowed in a file that runs in a transaction.", drop),
            (
                "ROLLBACK TRANSACTION", 1, "ROLLBACK is not allowed in a file that runs in a transaction.",
                drop
            ),
            ("ROLLBACK", 1, "ROLLBACK is not allowed in a file that runs in a transaction.", drop),
            (
                "EXPLAIN QUERY PLAN\nCOMMIT", 1,
                "COMMIT is not allowed in a file that runs in a transaction.", drop
            ),
            ("EXPLAIN COMMIT", 1, "COMMIT is not allowed in a file that runs in a transaction.", drop),
            (
                "SELECT 1;\n\u{FEFF}BEGIN;", 2, "BEGIN is not allowed in a file that runs in a transaction.",
                drop
            ),
            (
                "SELECT 1;\nVACUUM;", 2, "VACUUM cannot run in a transaction.",
                "Put it in a file of its own that begins with `-- migrations: transaction=none`."
            ),
            (
                "SELECT 1;\nPRAGMA main.wal_checkpoint(TRUNCATE);", 2,
                "PRAGMA wal_checkpoint cannot run in a transaction.",
                "Put it in a file of its own that begins with `-- migrations: transaction=none`."
            ),
            (
                "PRAGMA journal_mode = WAL;", 1, "PRAGMA journal_mode cannot be changed in a transaction.",
                "Set it where the app opens the database."
            ),
            (
                "SELECT 1;\nPRAGMA main.synchronous(off)", 2,
                "PRAGMA synchronous cannot be changed in a transaction.",
                "Set it where the app opens the database."
            ),
            (
                "PRAGMA foreign_keys=ON;\nPRAGMA foreign_keys=OFF;\nSELECT 2;", 2,
                "PRAGMA foreign_keys does nothing in the middle of a transaction.",
                "Put it at the very start of the file, or split the file there."
            ),
            (
                "SELECT 1;\n-- migrations: foreign-keys=immediate\nSELECT 2", 2,
                "a migrations: comment stands after a statement.", "Put it at the start of the file."
            ),
            (
                "SELECT 1\n-- migrations: foreign-keys=immediate", 2,
                "a migrations: comment stands after a statement.",
                "Put it at the start of the file."
            ),
            (
                "--\n-- migrations: foreign_keys=immediate", 2,
                "\"foreign_keys=immediate\" is not a setting of a migration.", values
            ),
            (
                "-- migrations: foreign-keys=on", 1,
                "\"foreign-keys=on\" is not a setting of a migration.", values
            ),
            (
                "-- migrations: foreign-keys=off", 1,
                "\"foreign-keys=off\" is not a setting of a migration.", values
            ),
            ("-- migrations:", 1, "\"\" is not a setting of a migration.", values),
            (
                "-- migrations: compatible redefine", 1,
                "\"compatibleredefine\" is not a setting of a migration.", values
            ),
            (
                "-- migrations: foreign-keys=immediate, transaction=off", 1,
                "\"transaction=off\" is not a setting of a migration.", values
            ),
            (
                "-- migrations: transaction=none\nVACUUM;\nVACUUM;", 3,
                "a file without a transaction holds more than one statement.",
                "Put each statement in a file of its own: a crash could leave one of two undone."
            ),
        ])
    func refusedStatements(sql: String, line: Int, problem: String, remedy: String) throws {
        let error = try #require(throws: MigrationError.self) { try script(sql) }
        #expect(error.code == .invalidMigration)
        #expect(error.file == "7_x.sql")
        #expect(error.line == line)
        #expect(error.description == "7_x.sql:\(line): \(problem) \(remedy)")
    }

    @Test(
        "without a transaction cannot begin or end one",
        arguments: [
            "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT a", "RELEASE a", "EXPLAIN BEGIN",
            "DETACH a",
        ])
    func bareTransactionStatements(sql: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try script("-- migrations: transaction=none\n\(sql)")
        }
        let word = sql.split(separator: " ").first { $0 != "EXPLAIN" } ?? ""
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                7_x.sql:2: \(word) is not allowed in a file without a transaction. Remove it: one file cannot end what \
                another began.
                """)
    }

    @Test(
        "without a transaction holds nothing that could not run again",
        arguments: [
            "CREATE INDEX i ON a(x)", "UPDATE a SET x = x + 1",
            "WITH b AS (SELECT 1) INSERT INTO a SELECT * FROM b",
            "SELECT 1", "ATTACH 'b' AS b", "ALTER TABLE a RENAME TO b", "EXPLAIN",
        ])
    func notRepeatable(sql: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try script("-- migrations: transaction=none\n\(sql)")
        }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                7_x.sql:2: \(sql.prefix { $0 != " " }) is not allowed in a file without a transaction. Remove \
                transaction=none from its header: the statement and its record are committed together.
                """)
    }

    @Test(
        "without a transaction does not write another file, which exists when it runs again",
        arguments: ["VACUUM INTO 'b'", "VACUUM main INTO 'b'"])
    func vacuumInto(sql: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try script("-- migrations: transaction=none\n\(sql)")
        }
        #expect(
            error.description == """
                7_x.sql:2: VACUUM INTO cannot run again, because its file exists then. Do that in a step of the manager.
                """)
    }

    @Test(
        "without a transaction cannot give up the journal, by any spelling that SQLite reads",
        arguments: [
            "= OFF", "= o", "(off)", "= 'Off'", "= \"off\"", "= MEMORY", "(mem)", "= [memory]",
        ], ["", "main.", "\"main\"."])
    func noJournal(value: String, schema: String) throws {
        let sql = "PRAGMA \(schema)journal_mode \(value)"
        let error = try #require(throws: MigrationError.self) {
            try script("-- migrations: transaction=none\n\(sql)")
        }
        #expect(error.code == .invalidMigration)
        #expect(error.message.hasSuffix("keeps no journal that survives a crash."))
        #expect(error.remedy == "Remove it: a later migration could be left half-applied.")
        let folder = try TemporaryFolder()
        let mode = try folder.queue().writeWithoutTransaction { try String.fetchOne($0, sql: sql) }
        #expect(["off", "memory"].contains(mode))
        #expect(try folder.fileNames == ["app.sqlite"])
    }

    @Test(
        "without a transaction can set a journal that survives a crash",
        arguments: ["= WAL", "= delete", "(truncate)", "= PERSIST", ""])
    func journal(value: String) throws {
        _ = try script("-- migrations: transaction=none\nPRAGMA journal_mode \(value)")
    }

    @Test(
        "is refused if SQLite would ignore a part of it",
        arguments: [
            (
                "SELECT 1;\nSELECT 'a;\nSELECT 2", 2,
                "a comment, text or quoted name begins here and does not end.", close
            ),
            ("SELECT \"a", 1, "a comment, text or quoted name begins here and does not end.", close),
            (
                "SELECT 1;\n\nSELECT [a;\n", 3,
                "a comment, text or quoted name begins here and does not end.", close
            ),
            ("SELECT `a", 1, "a comment, text or quoted name begins here and does not end.", close),
            (
                "SELECT 1; -- a\n/* b", 2, "a comment, text or quoted name begins here and does not end.",
                close
            ),
            (
                "SELECT 1;\n-- a\r SELECT 2;\nSELECT 3", 2,
                "a comment holds a carriage return without a line feed.",
                "Save the file with ordinary line ends: the comment reaches to the next line feed."
            ),
            (
                "SELECT 1\nWHERE ?", 2, "? is a parameter, and a file has no arguments.",
                "Write the value itself."
            ),
            ("SELECT :a", 1, ":a is a parameter, and a file has no arguments.", "Write the value itself."),
            ("SELECT @a", 1, "@a is a parameter, and a file has no arguments.", "Write the value itself."),
            ("SELECT $a", 1, "$a is a parameter, and a file has no arguments.", "Write the value itself."),
            ("SELECT #a", 1, "#a is a parameter, and a file has no arguments.", "Write the value itself."),
        ])
    func unreadable(sql: String, line: Int, problem: String, remedy: String) throws {
        let error = try #require(throws: MigrationError.self) { try script(sql) }
        #expect(error.code == .invalidMigration)
        #expect(error.line == line)
        #expect(error.description == "7_x.sql:\(line): \(problem) \(remedy)")
    }

    @Test(
        "is refused if it has a NUL byte",
        arguments: [
            "SELECT 1;\n\0SELECT 2", "\n/* \0 */ SELECT 1", "\n-- \0\nSELECT 1", "\nSELECT '\0'", "\n\0",
        ])
    func nul(sql: String) throws {
        let error = try #require(throws: MigrationError.self) { try script(sql) }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                7_x.sql:2: holds a NUL byte. Remove it: SQLite would silently ignore the rest of the file.
                """)
    }

    @Test("is refused if it is empty", arguments: ["", " \n\t\r\n", "\u{FEFF}", "\u{FEFF}\n"])
    func empty(sql: String) throws {
        let error = try #require(throws: MigrationError.self) { try script(sql) }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == "7_x.sql: is empty. If it is meant to do nothing, write a comment into it.")
    }

    @Test("has the same comments with every line end")
    func lineEnds() throws {
        let comments = ["-- one", "/* two\r\n */", "-- three"]
        for end in ["\n", "\r\n"] {
            let sql = "-- one\(end)SELECT 1; /* two\r\n */\(end)-- three\(end)"
            #expect(try script(sql).comments.map(\.text) == comments)
        }
    }

    // MARK: Checksum

    @Test(
        "has the same checksum if only white space, comments and line ends change",
        arguments: [
            "CREATE TABLE a(x);\nSELECT 'b  c';\n", "CREATE TABLE a(x);\r\nSELECT 'b  c';",
            "-- New.\nCREATE  TABLE a ( x ) ;/**/SELECT\t'b  c';", "\u{FEFF}CREATE TABLE a(x);SELECT 'b  c';",
        ])
    func sameChecksum(sql: String) throws {
        #expect(try script(sql).checksum == script("CREATE TABLE a(x); SELECT 'b  c';").checksum)
    }

    @Test(
        "has another checksum if anything else changes",
        arguments: [
            "CREATE TABLE a(y); SELECT 'b  c';", "CREATE TABLE a(x); SELECT 'b c';", "CREATE TABLE a(x);",
            "CREATE TABLE ax(); SELECT 'b  c';", "CREATE TABLE a(x); SELECT \"b  c\";",
        ])
    func otherChecksum(sql: String) throws {
        let checksum = try script(sql).checksum
        #expect(checksum.count == 16)
        #expect(try checksum != script("CREATE TABLE a(x); SELECT 'b  c';").checksum)
    }
}
