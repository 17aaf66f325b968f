import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// A file is refused exactly when it leaves an orphan whose missing key was not missing before, or a table that
/// refers to a table that the file drops.
///
/// The oracle judges row by row in Swift, with plain SQLite for single comparisons only.
public struct ForeignKeyTest: StressTest {
    /// Selects it on the command line.
    public let name = "foreign-keys"
    /// As Documentation/StressTests.md words it.
    public let promise = "A file is refused if and only if it orphans a row whose parent existed before"

    /// Makes the test.
    public init() {}

    /// Tries ten thousand databases, or a hundred.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 100, long: 10_000))
    }

    /// Tries a database for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        seeds.tryEach(unit: "sets of tables") { seed in
            var random = RandomNumbers(seed: seed)
            let tables = RandomKeys.tables(random: &random)
            let files = RandomKeys.files(random: &random)
            func deviation(_ files: [[String]]) -> String? { self.deviation(tables, files) }
            guard deviation(files) != nil else { return nil }
            let shortest = files.shrunk(simpler: { file in
                file.indices.map { index in
                    var file = file
                    file.remove(at: index)
                    return file
                }
            }) { deviation($0) != nil }
            let text = shortest.map { $0.joined(separator: "; ") }.joined(separator: " || ")
            return
                "seed \(seed). Tables: \(tables.joined(separator: "; ")). Files: \(text). \(deviation(shortest) ?? "")"
        }
    }

    private func deviation(_ tables: [String], _ files: [[String]]) -> String? {
        do {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let (plain, ours) = (
                try DatabaseQueue(configuration: configuration),
                try DatabaseQueue(configuration: configuration)
            )
            for queue in [plain, ours] {
                try queue.write { db in for sql in tables { try db.execute(sql: sql) } }
                try queue.write { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                            INSERT INTO schema_migrations VALUES (0)
                            """)
                }
            }
            let (expected, reason) = try applied(files, plain)
            let migrations = files.enumerated().map { index, file in
                SQLMigration(
                    version: SchemaVersion(index + 1), name: "file",
                    sql: "-- A file.\n" + file.map { "\($0);\n" }.joined())
            }
            let first = SQLMigration(version: 0, name: "tables", sql: "-- The tables.")
            let schema = try SchemaMigrator(migrations: [first] + migrations)
            var message = "no error"
            // Migrations of one run are judged together where one alone leaves a problem.
            do { for file in schema.migrations { try schema.migrate(ours, upTo: file.version) } } catch {
                message = "\(error)"
            }
            let applied = try ours.read { try AppliedMigration.fetchAll($0).count } - 1
            guard applied != expected else { return nil }
            return "Applied \(applied) files instead of \(expected). Ours: \(message). The oracle: \(reason)"
        } catch {
            return "\(error)"
        }
    }

    /// Applies the files, up to the first that the oracle refuses.
    private func applied(_ files: [[String]], _ queue: DatabaseQueue) throws -> (count: Int, reason: String) {
        var before = try queue.read { try KeyOracle($0) }
        for (index, file) in files.enumerated() {
            do {
                try queue.write { db in for statement in file { try db.execute(sql: statement) } }
            } catch let error as DatabaseError {
                return (index, "\(error)")
            }
            let after = try queue.read { try KeyOracle($0) }
            if let reason = try queue.read({ try after.refusal(since: before, $0) }) {
                return (index, reason)
            }
            before = after
        }
        return (files.count, "nothing is wrong")
    }
}

/// The references of all rows of a database, judged one by one.
private struct KeyOracle {
    struct Missing {
        let parent: SQLName
        let columns: [SQLName]
        let values: [DatabaseValue]
    }

    let tables: Set<SQLName>
    private let scratch: DatabaseQueue
    private(set) var missing: [Missing] = []
    private(set) var cut: [(child: SQLName, parent: SQLName)] = []

    init(_ db: Database) throws {
        scratch = try DatabaseQueue()
        let names = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = Set(names.map(SQLName.init(_:)))
        for child in names {
            let keys = try Row.fetchAll(
                db, sql: "SELECT * FROM pragma_foreign_key_list(?)", arguments: [child])
            for (_, parts) in Dictionary(grouping: keys, by: { $0["id"] as Int }) {
                let parts = parts.sorted { ($0["seq"] as Int) < ($1["seq"] as Int) }
                try look(at: parts, child: child, db)
            }
        }
    }

    private mutating func look(at parts: [Row], child: String, _ db: Database) throws {
        let parent = SQLName(parts[0]["table"] as String)
        let from = parts.map { SQLName($0["from"] as String) }
        guard tables.contains(parent) else {
            cut.append((SQLName(child), parent))
            let rows = try Row.fetchAll(db, sql: "SELECT \(from.sql) FROM \(SQLName(child).sql)")
            for row in rows where !row.databaseValues.contains(.null) {
                missing.append(Missing(parent: parent, columns: [], values: Array(row.databaseValues)))
            }
            return
        }
        let to = parts.map { SQLName($0["to"] as String) }
        let isIt = to.map { "\($0.sql) = ?" }.joined(separator: " AND ")
        let rows = try Row.fetchAll(db, sql: "SELECT \(from.sql) FROM \(SQLName(child).sql)")
        for row in rows {
            let values = Array(row.databaseValues)
            guard !values.contains(.null) else { continue }
            let isThere = try Row.fetchOne(
                db, sql: "SELECT 1 FROM \(parent.sql) WHERE \(isIt)", arguments: StatementArguments(values))
            if isThere == nil { missing.append(Missing(parent: parent, columns: to, values: values)) }
        }
    }

    func refusal(since before: KeyOracle, _ db: Database) throws -> String? {
        for orphan in missing {
            let isOld = try before.missing.contains { try isSame($0, orphan, db) }
            if !isOld { return "\(orphan.values) is newly missing from \(orphan.parent)" }
        }
        guard let cut = cut.first(where: { before.tables.contains($0.parent) }) else { return nil }
        return "\(cut.child) refers to \(cut.parent), which is dropped"
    }

    /// Returns whether the row that an orphan lacks is the one that another lacked before.
    private func isSame(_ old: Missing, _ new: Missing, _ db: Database) throws -> Bool {
        guard old.parent == new.parent, old.values.count == new.values.count else { return false }
        if new.columns.isEmpty || old.columns.isEmpty { return old.values == new.values }
        guard Set(old.columns) == Set(new.columns) else { return false }
        return try zip(new.columns, new.values).allSatisfy { column, value in
            let index = old.columns.firstIndex(of: column) ?? 0
            return try isEqual(old.values[index], value, in: column, of: new.parent, db)
        }
    }

    /// Returns whether two values are one in a column.
    ///
    /// Each is inserted into a table of its own, with the column's type, so that SQLite converts it.
    private func isEqual(
        _ first: DatabaseValue, _ second: DatabaseValue, in column: SQLName, of table: SQLName, _ db: Database
    ) throws -> Bool {
        if first.storage == second.storage { return true }
        let sql =
            try String.fetchOne(
                db, sql: "SELECT type FROM pragma_table_info(?) WHERE name = ? COLLATE NOCASE",
                arguments: [table.text, column.text]) ?? ""
        let collation = RandomKeys.collations.first { table.folded.hasSuffix($0.key) }?.value ?? "BINARY"
        return try scratch.write { db in
            try db.execute(sql: "DROP TABLE IF EXISTS c; CREATE TABLE c(v \(sql) COLLATE \(collation))")
            try db.execute(sql: "INSERT INTO c VALUES (?), (?)", arguments: [first, second])
            return try Int.fetchOne(db, sql: "SELECT count(DISTINCT v) FROM c") == 1
        }
    }
}

/// Random tables with foreign keys, and files that change them.
enum RandomKeys {
    /// The collation of a parent's key, by the end of its name.
    static let collations = ["nc": "NOCASE", "rt": "RTRIM"]

    private static let parents = ["p", "stra\u{df}e", "q\"q", "p_nc", "p_rt"]
    private static let children = ["c", "d", "e\"e", "C2"]
    private static let values = [
        "NULL", "1", "2", "3", "'1'", "'2'", "1.0", "'a'", "'A'", "'a '", "x'61'", "'01'", "9", "8",
    ]

    static func tables(random: inout RandomNumbers) -> [String] {
        var statements = parents.map { parent(SQLName($0), random: &random) }
        statements += children.map { child(SQLName($0), random: &random) }
        for _ in 0..<12 { statements.append(insert(into: random.pick(parents), random: &random)) }
        for _ in 0..<12 { statements.append(insert(into: random.pick(children), random: &random)) }
        return statements
    }

    static func files(random: inout RandomNumbers) -> [[String]] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            (0..<Int.random(in: 1...4, using: &random)).flatMap { _ in change(random: &random) }
        }
    }

    private static func parent(_ name: SQLName, random: inout RandomNumbers) -> String {
        let type = random.pick(["INTEGER", "TEXT", "", "REAL", "NUMERIC", "BLOB"])
        let collation = collations.first { name.text.hasSuffix($0.key) }?.value ?? "BINARY"
        let tail = random.pick(["", " WITHOUT ROWID"])
        return """
            CREATE TABLE \(name.sql)(k \(type) COLLATE \(collation) UNIQUE, j \(type) COLLATE \(collation), n INTEGER PRIMARY KEY, \
            UNIQUE (k, j))\(tail)
            """
    }

    private static func child(_ name: SQLName, random: inout RandomNumbers) -> String {
        let types = ["INTEGER", "TEXT", "", "REAL"]
        let one = SQLName(random.pick(parents)).sql
        let key = random.pick([
            "FOREIGN KEY (k) REFERENCES \(one)(k)", "FOREIGN KEY (k, j) REFERENCES \(one)(k, j)",
            "FOREIGN KEY (j, k) REFERENCES \(one)(j, k)",
            "FOREIGN KEY (k) REFERENCES \(one)(k), FOREIGN KEY (j) REFERENCES \(SQLName(random.pick(parents)).sql)(k)",
        ])
        return
            "CREATE TABLE \(name.sql)(k \(random.pick(types)), j \(random.pick(types)), n INTEGER PRIMARY KEY, \(key))"
    }

    private static func insert(into table: String, random: inout RandomNumbers) -> String {
        "INSERT OR IGNORE INTO \(SQLName(table).sql)(k, j) VALUES (\(random.pick(values)), \(random.pick(values)))"
    }

    private static func change(random: inout RandomNumbers) -> [String] {
        let (parent, child, other) = (
            SQLName(random.pick(parents)), SQLName(random.pick(children)), SQLName(random.pick(children))
        )
        let value = random.pick(values)
        switch Int.random(in: 0..<15, using: &random) {
        case 0...2: return [insert(into: child.text, random: &random)]
        case 3: return [insert(into: parent.text, random: &random)]
        case 4: return ["DELETE FROM \(parent.sql) WHERE k = \(value)"]
        case 5: return ["DELETE FROM \(child.sql) WHERE k = \(value)"]
        case 6: return ["UPDATE OR IGNORE \(parent.sql) SET k = \(value) WHERE n = 1"]
        case 7: return ["UPDATE \(child.sql) SET j = \(value)"]
        case 8: return ["DELETE FROM \(child.sql) WHERE k NOT IN (SELECT k FROM \(parent.sql))"]
        case 9: return ["DROP TABLE IF EXISTS \(random.pick([parent, child]).sql)"]
        case 10:
            return [
                "DROP TABLE IF EXISTS \(parent.sql)", RandomKeys.parent(parent, random: &random),
                insert(into: parent.text, random: &random),
            ]
        case 11: return ["INSERT OR IGNORE INTO \(other.sql)(k, j) SELECT k, j FROM \(child.sql)"]
        case 12:
            return [
                "CREATE TABLE \"scratch\" AS SELECT k, j FROM \(child.sql)", "DROP TABLE \(child.sql)",
                RandomKeys.child(child, random: &random),
                "INSERT INTO \(child.sql)(k, j) SELECT k, j FROM \"scratch\"",
                "DROP TABLE \"scratch\"",
            ]
        case 13: return ["ALTER TABLE \(child.sql) ADD COLUMN \(SQLName("m\(value)").sql)"]
        default:
            return [
                "DELETE FROM \(child.sql)", "INSERT INTO \(child.sql)(k, j) SELECT k, j FROM \(other.sql)",
            ]
        }
    }
}
