import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport

/// A table gets other constraints without a copy, and beside it, a second database has a plain rebuild.
public struct RedefineTest: StressTest {
    /// Selects it on the command line.
    public let name = "redefine"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "A table with new constraints is what a plain rebuild makes of it, and whatever else a definition changes is refused before anything is written"

    /// Makes the test.
    public init() {}

    /// Tries ten thousand pairs of definitions, or thirty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 30, long: 10_000))
    }

    /// Tries a pair of definitions for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let counts = Locked<[RedefineTrial.Result: Int]>([:])
        var outcome = seeds.tryEach(unit: "pairs of definitions") { seed in
            var trial = RedefineTrial(seed: seed)
            do {
                try trial.run()
                counts.withLock { counts in for result in trial.results { counts[result, default: 0] += 1 } }
                return nil
            } catch let error as RedefineTrial.Deviation {
                return "seed \(seed): \(error.text)\n\(trial.text)"
            } catch {
                return "seed \(seed): error: \(error)\n\(trial.text)"
            }
        }
        let words = RedefineTrial.Result.allCases.map { result in
            "\(counts.withLock { $0[result] ?? 0 }) \(result.rawValue)"
        }
        outcome.notes.append("\(words.joined(separator: ", ")) (SQLite \(Self.version))")
        return outcome
    }

    private static var version: String {
        (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }) ?? "unknown"
    }
}

/// One table that gets other definitions, twice.
private struct RedefineTrial {
    enum Result: String, CaseIterable {
        case redefined = "redefined"
        case broken = "with rows that break the definition"
        case refused = "other definitions refused"
    }

    struct Deviation: Error { let text: String }

    private var random: RandomNumbers
    private var table: RandomTable
    private var history: [String] = []
    private(set) var results: [Result] = []

    init(seed: UInt64) {
        random = RandomNumbers(seed: seed)
        table = RandomTable.random(&random)
    }

    var text: String { history.joined(separator: ";\n") }

    mutating func run() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("ours.sqlite")
        let (ours, plain) = try (DatabaseQueue(path: file.path), DatabaseQueue())
        let isWAL = random.chance(50)
        try ours.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = \(isWAL ? "WAL" : "DELETE")")
        }
        try fill([ours, plain])
        for _ in 0..<2 {
            try refuseOthers(ours, folder.url)
            if random.chance(30) { try undo(ours, plain, file) }
            try redefine(ours, plain)
            try use(ours, plain)
        }
    }

    // MARK: Before

    private static let values = [
        "NULL", "NULL", "1", "2", "5", "-3", "2.5", "'a'", "'B'", "'abc'", "'3'", "''", "x'00'", "7",
    ]

    private mutating func fill(_ databases: [DatabaseQueue]) throws {
        try execute("PRAGMA foreign_keys = 0; CREATE TABLE log(text); \(RandomTable.parents)", databases)
        let rows = (0..<8).map { _ in insert(columns: table.columns.prefix(table.created)) }
        let statements = [table.create(table.created)] + rows + table.additions
        for sql in statements {
            guard try !execute(sql, databases), !sql.hasPrefix("INSERT") else { continue }
            // A column with such constraints cannot be added.
            _ = try execute("DROP TABLE IF EXISTS t", databases)
            guard try execute(table.create(), databases) else { throw Deviation(text: "no table") }
            break
        }
        // A default of the wrong class, in a STRICT table.
        if try !isIntact(databases[0]) {
            try execute("DROP TABLE t", databases)
            try execute(table.create(), databases)
        }
        for _ in 0..<8 { try execute(insert(columns: table.columns[...]), databases) }
        let names = table.columns.map(\.name)
        if random.chance(60) { try execute("CREATE INDEX i1 ON t(\(random.pick(names)))", databases) }
        if random.chance(30) {
            try execute(
                "CREATE INDEX i2 ON t(\(random.pick(names)) || 'x') WHERE \(random.pick(names)) IS NOT NULL",
                databases)
        }
        for event in ["INSERT", "UPDATE", "DELETE"] where random.chance(40) {
            let row = event == "DELETE" ? "OLD" : "NEW"
            try execute(
                """
                CREATE TRIGGER on_\(event) AFTER \(event) ON t BEGIN
                INSERT INTO log VALUES ('\(event) ' || quote(\(row).\(random.pick(names)))); END
                """, databases)
        }
        if random.chance(40) { try execute("CREATE VIEW v AS SELECT * FROM t", databases) }
        if random.chance(40), table.key != .none, table.key != .pair {
            try execute("CREATE TABLE child(t REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE)", databases)
            try execute("INSERT INTO child SELECT id FROM t LIMIT 3", databases)
        }
    }

    private mutating func insert(columns: ArraySlice<RandomTable.Column>) -> String {
        let named = columns.filter { $0.generated == nil && ($0.name == "id" || random.chance(70)) }
        let conflict = random.pick(["", "", " OR IGNORE", " OR REPLACE"])
        let values = named.map { column in
            column.name == "id"
                ? random.pick(["\(Int.random(in: 1...30, using: &random))", "NULL"])
                : random.pick(Self.values)
        }
        let names = named.map(\.name).joined(separator: ", ")
        return "INSERT\(conflict) INTO t(\(names)) VALUES (\(values.joined(separator: ", ")))"
    }

    /// Executes SQL in each database, which must have the same result.
    ///
    /// - Returns: whether it succeeded.
    @discardableResult
    private mutating func execute(_ sql: String, _ databases: [DatabaseQueue]) throws -> Bool {
        history.append(sql)
        let messages = try databases.map { database in
            try database.writeWithoutTransaction { db -> String? in
                do {
                    try db.execute(sql: sql)
                    return nil
                } catch let error as DatabaseError {
                    return "\(error.extendedResultCode.rawValue) \(error.message ?? "")"
                }
            }
        }
        guard messages.dropFirst().allSatisfy({ $0 == messages[0] }) else {
            throw Deviation(text: "\(messages.map { $0 ?? "success" }) of \(sql)")
        }
        if let message = messages[0] { history[history.count - 1] += " -- \(message)" }
        return messages[0] == nil
    }

    // MARK: Redefining

    /// Tries definitions that are more than constraints.
    private mutating func refuseOthers(_ ours: DatabaseQueue, _ folder: URL) throws {
        for _ in 0..<3 {
            var (other, difference) = table.different(&random)
            if random.chance(50) { other.constrain(&random) }
            let sql = other.create()
            guard (try? DatabaseQueue().inDatabase { try $0.execute(sql: sql) }) != nil else { continue }
            let before = try state(ours, folder)
            var code: MigrationError.Code?
            do {
                try ours.writeWithoutTransaction { db in try db.redefine(table: "t", as: sql) }
            } catch let error as MigrationError {
                code = error.code
            }
            guard code == .invalidMigration, try state(ours, folder) == before else {
                throw Deviation(text: "\(difference): \(code?.description ?? "not refused"), as \(sql)")
            }
            results.append(.refused)
        }
    }

    /// What refusing must not change: the bytes of the files, too.
    private func state(_ database: DatabaseQueue, _ folder: URL) throws -> [String] {
        let counters = try database.inDatabase { db in
            try [
                "\(db.totalChangesCount)", String.fetchOne(db, sql: "PRAGMA schema_version") ?? "",
                String.fetchOne(db, sql: "PRAGMA data_version") ?? "",
            ]
        }
        return try counters
            + ["ours.sqlite", "ours.sqlite-wal"].map { name in
                let file = folder.appendingPathComponent(name)
                guard FileManager.default.fileExists(atPath: file.path) else { return "none" }
                return try Data(contentsOf: file).base64EncodedString()
            }
    }

    private mutating func redefine(_ ours: DatabaseQueue, _ plain: DatabaseQueue) throws {
        var new = table
        new.constrain(&random)
        let sql = new.create()
        try execute("PRAGMA foreign_keys = \(random.pick([0, 1]))", [ours, plain])
        history.append("-- as \(sql)")
        let expected = try plain.writeWithoutTransaction { try PlainRebuild(db: $0).run(sql) }
        var message: String?
        do {
            let result = try ours.writeWithoutTransaction {
                try $0.redefine(table: "t", as: sql, editing: true)
            }
            guard result != .rebuilt else { throw Deviation(text: "rebuilt") }
        } catch let error as MigrationError where error.code == .stepFailed {
            message = error.message
        }
        guard (message == nil) == (expected == nil) else {
            throw Deviation(text: "ours: \(message ?? "success"), plain: \(expected ?? "success")")
        }
        results.append(message == nil ? .redefined : .broken)
        if message == nil { table = new }
        try compare(ours, plain)
    }

    /// Undoes a redefinition, and has another connection give the schema the version that it had in between.
    private mutating func undo(_ ours: DatabaseQueue, _ plain: DatabaseQueue, _ file: URL) throws {
        var other = table
        other.constrain(&random)
        let sql = other.create()
        try? ours.inTransaction { db in
            try db.redefine(table: "t", as: sql)
            return .rollback
        }
        let elsewhere = "CREATE TABLE elsewhere\(history.count)(x)"
        history += ["-- undone: \(sql)", "\(elsewhere) -- by another connection"]
        try DatabaseQueue(path: file.path).inDatabase { try $0.execute(sql: elsewhere) }
        try plain.inDatabase { try $0.execute(sql: elsewhere) }
    }

    // MARK: Comparing

    private func compare(_ ours: DatabaseQueue, _ plain: DatabaseQueue) throws {
        let (first, second) = try (contents(ours), contents(plain))
        for (first, second) in zip(first, second) where first != second {
            throw Deviation(text: "ours: \(first), plain: \(second)")
        }
        guard first.count == second.count else { throw Deviation(text: "\(first) and \(second)") }
        guard try isIntact(ours) else { throw Deviation(text: "integrity_check") }
    }

    private func isIntact(_ database: DatabaseQueue) throws -> Bool {
        try database.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"]
    }

    private func contents(_ database: DatabaseQueue) throws -> [String] {
        try database.read { db in
            let rowID = table.isWithoutRowID ? "0" : "rowid"
            let queries = [
                "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name <> 'sqlite_sequence'",
                "SELECT * FROM pragma_table_xinfo('t')", "SELECT * FROM pragma_foreign_key_list('t')",
                "SELECT i.*, x.* FROM pragma_index_list('t') AS i, pragma_index_xinfo(i.name) AS x",
                "SELECT name, type, ncol, wr, strict FROM pragma_table_list",
                "SELECT \(rowID), * FROM t NOT INDEXED",
                "SELECT * FROM log", "SELECT * FROM p", "SELECT * FROM q", "PRAGMA foreign_key_check",
            ]
            let tables = ["v", "child"].filter {
                (try? db.tableExists($0)) == true || (try? db.viewExists($0)) == true
            }
            let searches = table.columns.flatMap { column in
                Self.values.dropFirst(2).map {
                    "SELECT '\(column.name)', id FROM t WHERE \(column.name) = \($0)"
                }
                    + ["SELECT '\(column.name)', \(column.name) FROM t ORDER BY \(column.name) LIMIT 20"]
            }
            return try (queries + tables.map { "SELECT * FROM \($0)" } + searches).flatMap { sql in
                try Row.fetchAll(db, sql: sql).map { row in
                    row.databaseValues.map(\.description).joined(separator: ", ")
                }.sorted()
            }
        }
    }

    // MARK: After

    /// Does the same in both.
    private mutating func use(_ ours: DatabaseQueue, _ plain: DatabaseQueue) throws {
        let columns = table.columns.filter { $0.generated == nil }.map(\.name)
        try execute("PRAGMA foreign_keys = 1", [ours, plain])
        for _ in 0..<20 {
            let value = random.pick(Self.values)
            let conflict = random.pick(["", "", " OR IGNORE", " OR REPLACE"])
            let number = Int.random(in: 1...30, using: &random)
            let sql =
                switch Int.random(in: 0..<10, using: &random) {
                case 0...3: insert(columns: table.columns[...])
                case 4: "INSERT\(conflict) INTO t DEFAULT VALUES"
                case 5, 6:
                    "UPDATE\(conflict) t SET \(random.pick(columns)) = \(value) WHERE id % 3 = \(number % 3)"
                case 7: "DELETE FROM t WHERE id = \(number)"
                case 8: "DELETE FROM p WHERE id = \(number % 5)"
                default: "UPDATE\(conflict) p SET id = id + 1, code = \(value) WHERE id = \(number % 5)"
                }
            try execute(sql, [ours, plain])
        }
        try compare(ours, plain)
    }
}
