import GRDB
import SchemaMigrations
import Testing

@testable import MigrationTools

@Suite("The meaning of SQL", .timed)
struct MeaningTests {
    private func isSame(_ first: String, _ second: String) throws -> Bool {
        let schemas = try [first, second].map { sql in
            let queue = try DatabaseQueue()
            try queue.write { try $0.execute(sql: sql) }
            return try queue.read { try (DatabaseSchema($0), SchemaDescription($0)) }
        }
        let isSame = schemas[0].0.difference(to: schemas[1].0).isEmpty
        #expect(schemas[0].1.differences(from: schemas[1].1).isEmpty == isSame)
        return isSame
    }

    @Test(
        "is the same where only the writing differs",
        arguments: [
            ("CREATE TABLE a(x INTEGER DEFAULT 0)", "CREATE TABLE a(x INTEGER DEFAULT (0))"),
            ("CREATE TABLE a(x INTEGER DEFAULT -1)", "CREATE TABLE a(x INTEGER DEFAULT ((-1)))"),
            ("CREATE TABLE a(x TEXT DEFAULT ('it'))", "CREATE TABLE a(x TEXT DEFAULT 'it')"),
            ("CREATE TABLE a(x DEFAULT CURRENT_DATE)", "CREATE TABLE a(x DEFAULT (current_date))"),
            ("CREATE TABLE a(x DEFAULT TRUE)", "CREATE TABLE a(x DEFAULT (true))"),
            ("CREATE TABLE a(x CHECK (x > 1))", "CREATE TABLE a(x CHECK ((x > 1)))"),
            ("CREATE TABLE a(x, y, CHECK (((x > y))))", "CREATE TABLE a(x, y, CHECK (x > y))"),
            (
                "CREATE TABLE a(b); CREATE INDEX i ON a(LOWER(b))",
                "CREATE TABLE a(b); CREATE INDEX i ON a(lower((b)))"
            ),
            (
                "CREATE TABLE a(b, c); CREATE INDEX i ON a(b ASC, c DESC, lower(b) ASC)",
                "CREATE TABLE a(b, c); CREATE INDEX i ON a(b, c DESC, lower(b))"
            ),
            (
                "CREATE TABLE a(b, c INTEGER GENERATED ALWAYS AS (b + 1) VIRTUAL NOT NULL)",
                "CREATE TABLE a(b, c INTEGER AS (b + 1) NOT NULL)"
            ),
        ])
    func writing(first: String, second: String) throws {
        #expect(try isSame(first, second))
    }

    @Test(
        "is another one where parentheses, quotes, or the case of a text make a difference",
        arguments: [
            ("CREATE TABLE a(x DEFAULT (1 + 1))", "CREATE TABLE a(x DEFAULT 1)"),
            ("CREATE TABLE a(x DEFAULT 'it')", "CREATE TABLE a(x DEFAULT ('It'))"),
            ("CREATE TABLE a(x DEFAULT 1)", "CREATE TABLE a(x DEFAULT ('1'))"),
            ("CREATE TABLE a(x DEFAULT true)", "CREATE TABLE a(x DEFAULT \"true\")"),
            ("CREATE TABLE a(x, CHECK (x > 'x'))", "CREATE TABLE a(x, CHECK (x > \"x\"))"),
            ("CREATE TABLE a(\"1\", CHECK (\"1\" > 1))", "CREATE TABLE a(\"1\", CHECK (\"1\" > \"1\"))"),
            (
                "CREATE TABLE a(x, y, CHECK (x + (y * 2) > 1))",
                "CREATE TABLE a(x, y, CHECK ((x + y) * 2 > 1))"
            ),
            ("CREATE TABLE a(b, c AS (b + 1))", "CREATE TABLE a(b, c AS (b + 1) STORED)"),
            (
                "CREATE TABLE a(b, [asc]); CREATE INDEX i ON a(b, [asc])",
                "CREATE TABLE a(b, [asc]); CREATE INDEX i ON a(b)"
            ),
            (
                "CREATE TABLE a(b); CREATE INDEX i ON a(b DESC)", "CREATE TABLE a(b); CREATE INDEX i ON a(b)"
            ),
            (
                "CREATE TABLE a(x); CREATE VIEW v AS SELECT x IN ((SELECT x FROM a)) FROM a",
                "CREATE TABLE a(x); CREATE VIEW v AS SELECT x IN (SELECT x FROM a) FROM a"
            ),
            (
                "CREATE TABLE a(\"(\", x, \")\"); CREATE VIEW v AS SELECT x, (\"(\"), ((x)) FROM a",
                "CREATE TABLE a(\"(\", x, \")\"); CREATE VIEW v AS SELECT x, (\")\"), (x) FROM a"
            ),
        ])
    func meaning(first: String, second: String) throws {
        #expect(try !isSame(first, second))
    }

    @Test("is never the same for two random expressions of which SQLite makes different values")
    func randomExpressions() throws {
        let database = try DatabaseQueue()
        var numbers = RandomNumbers(seed: 1)
        let (same, compared) = try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t(a TEXT, b);
                    INSERT INTO t VALUES ('a', 1), ('A', 'a'), ('1', 2.5), (NULL, NULL), ('ab', 'B'), ('', x'41');
                    """)
            return try count(in: db, using: &numbers) { expression in
                let object = SchemaObject(
                    type: "view", name: "v", table: "v", sql: "CREATE VIEW v AS SELECT \(expression) FROM t")
                return (
                    object.meaning(["a", "b", "t", "v"]),
                    try String.fetchAll(db, sql: "SELECT quote(\(expression)) FROM t")
                )
            }
        }
        // Enough pairs are the same for the test to say something.
        #expect(same > 300 && same < compared / 2, "\(same) of \(compared)")
    }

    @Test("is never the same for two random defaults that give different values")
    func randomDefaults() throws {
        let database = try DatabaseQueue()
        var numbers = RandomNumbers(seed: 2)
        let (same, compared) = try database.write { db in
            try count(in: db, using: &numbers) { expression in
                let sql = "CREATE TABLE d(a TEXT DEFAULT \(expression), b DEFAULT \(expression), c)"
                try db.execute(sql: "DROP TABLE IF EXISTS d")
                try db.execute(sql: sql)
                try db.execute(sql: "INSERT INTO d(c) VALUES (1)")
                return (
                    SchemaObject(type: "table", name: "d", table: "d", sql: sql)
                        .meaning(["a", "b", "c", "d"]),
                    try String.fetchAll(db, sql: "SELECT quote(a) || quote(b) FROM d")
                )
            }
        }
        #expect(same > 30, "\(same) of \(compared)")
    }

    /// Compares pairs of expressions, and fails if two have the same meaning and different values.
    private func count(
        in db: Database, using numbers: inout RandomNumbers,
        _ read: (String) throws -> (meaning: [[UInt8]], values: [String])
    ) throws -> (same: Int, compared: Int) {
        var (same, compared) = (0, 0)
        for _ in 0..<4_000 {
            let first = RandomExpression.make(&numbers)
            let second = RandomExpression.change(first, &numbers)
            guard first != second, let one = try? read(first.joined(separator: " ")),
                let other = try? read(second.joined(separator: " "))
            else { continue }
            compared += 1
            guard one.meaning == other.meaning else { continue }
            same += 1
            #expect(one.values == other.values, "\(first) and \(second)")
        }
        return (same, compared)
    }
}

/// Tokens of an expression, and changes to them that may change its meaning.
private enum RandomExpression {
    static func make(_ numbers: inout RandomNumbers, depth: Int = 3) -> [String] {
        func part(_ numbers: inout RandomNumbers) -> [String] { make(&numbers, depth: depth - 1) }
        switch Int.random(in: 0..<(depth > 0 ? 10 : 2), using: &numbers) {
        case 0, 1: return [literals.randomElement(using: &numbers) ?? ""]
        case 2: return ["("] + part(&numbers) + [")"]
        case 3: return ["-"] + part(&numbers)
        case 4: return ["lower", "("] + part(&numbers) + [")"]
        case 5: return part(&numbers) + ["IN", "("] + part(&numbers) + [",", "'a'", ")"]
        case 6: return part(&numbers) + ["IN", "("] + part(&numbers) + [")"]
        case 7: return part(&numbers) + ["COLLATE", "NOCASE", "="] + part(&numbers)
        default:
            let operators = ["+", "*", "||", "=", "<", "AND", "OR", "IS", "-"]
            return part(&numbers) + [operators.randomElement(using: &numbers) ?? ""] + part(&numbers)
        }
    }

    private static let literals = [
        "1", "01", "1.0", "'1'", "'a'", "'A'", "a", "A", "b", "\"a\"", "[a]", "\"z\"", "'z'", "'Z'", "NULL",
        "x'41'",
        "TRUE", "CURRENT_DATE", "(SELECT a FROM t)", "'('",
    ]

    static func change(_ tokens: [String], _ numbers: inout RandomNumbers) -> [String] {
        var tokens = tokens
        let index = tokens.indices.randomElement(using: &numbers) ?? 0
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: tokens = ["("] + tokens + [")"]
        case 1, 2:
            let end = Int.random(in: index..<tokens.count, using: &numbers)
            tokens.insert(")", at: end + 1)
            tokens.insert("(", at: index)
        case 3:
            // Parentheses around what has some.
            guard let open = tokens.firstIndex(of: "("), let close = tokens.lastIndex(of: ")") else { break }
            tokens.insert(")", at: close)
            tokens.insert("(", at: open)
        case 4:
            tokens[index] =
                tokens[index] == tokens[index].lowercased()
                ? tokens[index].uppercased() : tokens[index].lowercased()
        default: tokens[index] = literals.randomElement(using: &numbers) ?? ""
        }
        return tokens
    }
}
