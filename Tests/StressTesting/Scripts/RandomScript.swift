import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// Random files of SQL, which use every kind of statement, pragma and name.
enum RandomScript {
    /// A setting of the connection, and values for it.
    struct Setting {
        let name: String
        let values: [String]
    }

    /// The pragmas of the connection that can be put back.
    static let settings =
        [
            "ignore_check_constraints", "query_only", "writable_schema", "legacy_alter_table",
            "recursive_triggers",
            "trusted_schema", "reverse_unordered_selects", "read_uncommitted", "automatic_index",
            "cell_size_check",
            "checkpoint_fullfsync", "fullfsync", "full_column_names", "short_column_names", "count_changes",
            "empty_result_callbacks", "defer_foreign_keys",
        ].map { Setting(name: $0, values: ["0", "1", "ON", "OFF", "'yes'", "+1"]) } + [
            Setting(name: "locking_mode", values: ["EXCLUSIVE", "NORMAL"]),
            Setting(name: "main.locking_mode", values: ["EXCLUSIVE", "NORMAL"]),
            Setting(name: "busy_timeout", values: ["0", "77", "1234"]),
            Setting(name: "analysis_limit", values: ["0", "100"]),
            Setting(name: "cache_size", values: ["-100", "50"]),
            Setting(name: "cache_spill", values: ["0", "40"]),
            Setting(name: "journal_size_limit", values: ["-1", "5000"]),
            Setting(name: "mmap_size", values: ["0", "65536"]),
            Setting(name: "secure_delete", values: ["0", "1", "FAST"]),
            Setting(name: "foreign_keys", values: ["0", "1"]),
            Setting(name: "threads", values: ["0", "2"]),
        ]

    /// Pragmas that change the database or only ask.
    private static let otherPragmas = [
        "user_version = 7", "user_version = 8", "application_id = 5", "main.user_version = 9", "table_list",
        "optimize",
        "integrity_check", "foreign_key_check", "schema_version", "page_count", "encoding", "collation_list",
        "foreign_keys", "quick_check(1)", "compile_options", "database_list", "incremental_vacuum",
        "shrink_memory",
        "table_info(t)", "nonsense = 4",
    ]

    private static let names = [
        "a", "b", "Two Words", "q\"q", "\"", "x]y", "b`t", "it's", "stra\u{df}e", "e\u{301}", "\u{e9}",
        "SELECT", "a.b",
        "\u{1f642}", "A",
    ].map(SQLName.init(_:))

    private static let columns: [SQLName] = ["id", "x", "\"y\"", "Z z", "\u{e9}"]

    /// Returns files, most of whose statements succeed one after the other.
    static func files(random: inout RandomNumbers) throws -> [[String]] {
        let scratch = try DatabaseQueue()
        return try scratch.inDatabase { db in
            try db.execute(sql: "BEGIN")
            defer { try? db.execute(sql: "ROLLBACK") }
            return try (0..<Int.random(in: 1...6, using: &random)).map { _ in
                try (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    try statement(for: db, random: &random)
                }
            }
        }
    }

    private static func statement(for db: Database, random: inout RandomNumbers) throws -> String {
        for _ in 0..<30 {
            let statement = statement(random: &random)
            do {
                try db.execute(sql: statement)
                try db.execute(sql: "PRAGMA query_only = 0; PRAGMA foreign_keys = 0")
                return statement
            } catch is DatabaseError {
                if random.chance(1) { return statement }
            }
        }
        return "SELECT 1"
    }

    private static func statement(random: inout RandomNumbers) -> String {
        let (t, u) = (random.pick(names), random.pick(names))
        let (c, d) = (random.pick(columns).sql, random.pick(columns).sql)
        let value = random.pick([
            "1", "-2", "NULL", "'text'", "x'00ff'", "1.5", "'it''s'", "'; --'", "random() * 0",
        ])
        let on = random.pick(["main.", "", "temp."]) + t.sql
        let temporary = random.pick(["", "", "TEMP "])
        let unless = random.pick(["IF NOT EXISTS ", ""])
        let or = random.pick(["", "", "OR IGNORE ", "OR REPLACE ", "OR ABORT ", "OR FAIL "])
        switch Int.random(in: 0..<34, using: &random) {
        case 0...4:
            let check = random.pick(["", " CHECK (\(c) <> 7)", " DEFAULT (5)", " NOT NULL DEFAULT 'd'"])
            let last = random.pick([
                "", ", \"g\" AS (\(c) || 'g')", ", UNIQUE (\(c))", ", FOREIGN KEY (\(c)) REFERENCES \(u.sql)",
            ])
            let all = columns.dropFirst().map { "\($0.sql)\($0.sql == c ? check : "")" }.joined(
                separator: ", ")
            let tail = random.pick(["", "", " WITHOUT ROWID"])
            return
                "CREATE \(temporary)TABLE \(unless)\(t.sql)(\"id\" INTEGER PRIMARY KEY, \(all)\(last))\(tail)"
        case 5: return "CREATE \(temporary)TABLE \(unless)\(t.sql) AS SELECT 1 AS \(c), 'two' AS \"second\""
        case 6: return "DROP TABLE \(random.pick(["IF EXISTS ", ""]))\(on)"
        case 7: return "ALTER TABLE \(on) RENAME TO \(u.sql)"
        case 8: return "ALTER TABLE \(on) RENAME COLUMN \(c) TO \(random.pick(["\"new\"", d]))"
        case 9: return "ALTER TABLE \(on) ADD COLUMN \(random.pick(["\"more\"", "\"m\"\"m\" DEFAULT 4"]))"
        case 10: return "ALTER TABLE \(on) DROP COLUMN \(c)"
        case 11...14: return "INSERT \(or)INTO \(on)(\(c)) VALUES (\(value)), (\(value))"
        case 15:
            return "REPLACE INTO \(on)(\"id\", \(random.pick(["\"x\"", "\"Z z\""]))) VALUES (1, \(value))"
        case 16:
            return
                "INSERT INTO \(on)(\"id\", \"x\") VALUES (1, 2) ON CONFLICT DO UPDATE SET \"x\" = 3 RETURNING *"
        case 17: return "UPDATE \(or)\(on) SET \(c) = \(value) WHERE \(d) IS NOT \(value)"
        case 18: return "DELETE FROM \(on)\(random.pick(["", " WHERE \(c) = \(value)"]))"
        case 19:
            return
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) INSERT \(or)INTO \(on)(\(c)) SELECT i FROM n"
        case 20:
            return
                "CREATE \(random.pick(["", "UNIQUE "]))INDEX \(unless)\(SQLName("i\(u)").sql) ON \(t.sql)(\(c))"
        case 21: return "DROP INDEX \(random.pick(["IF EXISTS ", ""]))\(SQLName("i\(u)").sql)"
        case 22:
            return "CREATE \(temporary)VIEW \(unless)\(SQLName("v\(u)").sql) AS SELECT \(c) FROM \(t.sql)"
        case 23: return "DROP VIEW \(random.pick(["IF EXISTS ", ""]))\(SQLName("v\(u)").sql)"
        case 24:
            let body = random.pick([
                "UPDATE \(u.sql) SET \(c) = new.\(d)", "SELECT CASE WHEN 1 THEN 2 END",
                "DELETE FROM \(u.sql)",
                "INSERT INTO \(u.sql)(\(c)) VALUES (new.\(d))", "SELECT RAISE(IGNORE)",
            ])
            return
                "CREATE \(temporary)TRIGGER \(unless)\(SQLName("r\(u)").sql) \(random.pick(["BEFORE", "AFTER"])) INSERT ON \(t.sql) BEGIN \(body); END"
        case 25: return "DROP TRIGGER \(random.pick(["IF EXISTS ", ""]))\(SQLName("r\(u)").sql)"
        case 26: return "CREATE VIRTUAL TABLE \(unless)\(SQLName("f\(u)").sql) USING fts5(body, extra)"
        case 27: return "INSERT INTO \(SQLName("f\(u)").sql)(body) VALUES (\(value))"
        case 28: return random.pick(["ANALYZE", "REINDEX", "REINDEX \(t.sql)", "ANALYZE \(t.sql)"])
        case 29:
            return random.pick([
                "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s", "EXPLAIN SELECT 1", "SELECT * FROM \(on)",
                "VALUES (1)",
            ])
        case 30: return "ATTACH ':memory:' AS \(random.pick(["other", "\"q\"\"q\"", "'third one'"]))"
        case 31: return "PRAGMA \(random.pick(otherPragmas))"
        default:
            let setting = random.pick(settings)
            let value = random.pick(setting.values)
            let explain = random.pick(["", "", "", "EXPLAIN "])
            return explain
                + random.pick(["PRAGMA \(setting.name) = \(value)", "PRAGMA \(setting.name)(\(value))"])
        }
    }
}
