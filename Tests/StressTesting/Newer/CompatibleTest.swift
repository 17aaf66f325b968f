import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// After a migration that `check` finds compatible, every statement of an older app works.
public struct CompatibleTest: StressTest {
    /// Selects it on the command line.
    public let name = "compatible"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "After a migration that check finds compatible, every statement of an older build works"

    /// Makes the test.
    public init() {}

    private static let header = "-- migrations: compatible\n"

    /// Tries ten thousand pairs of schemas, or twenty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 20, long: 10_000))
    }

    /// Tries a pair of schemas for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let counts = Locked((rejected: 0, statements: 0))
        var outcome = seeds.tryEach(unit: "pairs of schemas") { seed in
            do {
                let pair = try SchemaPair(seed: seed, change: RandomSchema.extended)
                guard !pair.sql.isEmpty else { return nil }
                guard try isAccepted(pair) else {
                    counts.withLock { $0.rejected += 1 }
                    return nil
                }
                let (count, failure) = try OlderStatements(pair, seed: seed).run()
                counts.withLock { $0.statements += count }
                return failure.map { "seed \(seed): \($0); \(pair.sql)" }
            } catch {
                return "seed \(seed): error: \(error)"
            }
        }
        let (rejected, statements) = counts.withLock { $0 }
        outcome.notes.append(
            "check rejects \(rejected) of these pairs; on the others, \(statements) statements ran")
        return outcome
    }

    private func isAccepted(_ pair: SchemaPair) throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "compatible-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(pair.first.text().utf8).write(to: folder.appendingPathComponent("1_first.sql"))
        try Data((Self.header + pair.sql).utf8).write(to: folder.appendingPathComponent("2_second.sql"))
        let review = try FolderReview.review(directory: folder)
        return !review.findings.contains {
            $0.file == "2_second.sql" && ["not-compatible", "does-not-apply"].contains($0.rule.name)
        }
    }
}

/// The statements of a build that knows only the older schema, in a database that a newer one has written to.
private struct OlderStatements {
    private let older: DatabaseQueue
    private let newer: DatabaseQueue
    private let tables: [TableLayout]
    private var random: RandomNumbers

    /// Prepares a database as the newer build leaves it, and one with the same rows as far as the older schema goes.
    init(_ pair: SchemaPair, seed: UInt64) throws {
        random = RandomNumbers(seed: seed)
        (older, newer) = (try DatabaseQueue(), try DatabaseQueue())
        try pair.older().migrate(older)
        try older.write { _ = try TableFilling.fillAll($0, rowsPerTable: 6, seed: seed, style: .awkward) }
        try older.backup(to: newer)
        tables = try older.read { try TableLayout.fetchAll($0) }
        // Over awkward rows, the migration may fail; then it starts with none.
        do {
            try pair.newer(header: "-- migrations: compatible\n").migrate(newer)
        } catch is MigrationError {
            let empty = try DatabaseQueue()
            try pair.newer(header: "-- migrations: compatible\n").migrate(empty)
            try empty.backup(to: newer)
            try older.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA foreign_keys = OFF")
                for table in tables { try db.execute(sql: "DELETE FROM \(table.name.sql)") }
                try db.execute(sql: "PRAGMA foreign_keys = ON")
            }
        }
        // What the newer build writes, in its own columns and tables too.
        try newer.write { _ = try TableFilling.fillAll($0, rowsPerTable: 6, seed: seed &+ 1) }
        // The build goes by the ledger alone.
        guard try pair.older().migrate(newer).newer == [2] else { throw Refused() }
        try copyRows()
    }

    private struct Refused: Error {}

    private func copyRows() throws {
        try older.writeWithoutTransaction { old in
            try old.execute(sql: "PRAGMA foreign_keys = OFF")
            for table in tables where !table.columns.isEmpty {
                try old.execute(sql: "DELETE FROM \(table.name.sql)")
                let columns = table.columns.map(\.name).sql
                let places = table.columns.map { _ in "?" }.joined(separator: ", ")
                for row in try newer.read({
                    try Row.fetchAll($0, sql: "SELECT \(columns) FROM \(table.name.sql)")
                }) {
                    try old.execute(
                        sql: "INSERT INTO \(table.name.sql)(\(columns)) VALUES (\(places))",
                        arguments: StatementArguments(Array(row.databaseValues)))
                }
            }
            try old.execute(sql: "PRAGMA foreign_keys = ON")
        }
    }

    /// Runs statements in both databases, until one fails in the newer one alone.
    func run() throws -> (count: Int, failure: String?) {
        var copy = self
        return try copy.play()
    }

    private mutating func play() throws -> (count: Int, failure: String?) {
        var count = 0
        for _ in 0..<40 {
            guard let table = tables.filter({ !$0.columns.isEmpty }).randomElement(using: &random) else {
                break
            }
            let statement = try statement(on: table)
            func run(_ queue: DatabaseQueue) throws -> [Row] {
                try queue.write {
                    try Row.fetchAll(
                        $0, sql: statement.sql, arguments: StatementArguments(statement.values))
                }
            }
            guard let expected = try? run(older) else { continue }
            count += 1
            do {
                let found = try run(newer)
                if Set(found) != Set(expected) { return (count, "\(statement.sql) returns other rows") }
            } catch {
                return (count, "\(error)")
            }
        }
        return (count, nil)
    }

    /// Returns a random statement that names the table's own columns; ids stay as they are.
    private mutating func statement(on table: TableLayout) throws -> (sql: String, values: [DatabaseValue]) {
        let name = table.name.sql
        let columns = table.columns.map(\.name).sql
        let column = random.pick(table.columns)
        let rows = try older.read {
            try Row.fetchAll($0, sql: "SELECT \(columns) FROM \(name)").map { Array($0.databaseValues) }
        }
        let position = table.columns.firstIndex { $0.name == column.name } ?? 0
        let value = rows.randomElement(using: &random)?[position] ?? .null
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return ("DELETE FROM \(name) WHERE \(column.name.sql) IS ?", [value])
        case 1: return ("SELECT \(columns) FROM \(name) WHERE \(column.name.sql) IS ?", [value])
        case 2:
            let target = random.pick(table.columns.filter { !$0.isRowID } + [column])
            guard !target.isRowID else { fallthrough }
            let other =
                random.chance(30)
                ? .null
                : random.pick(
                    rows + [[DatabaseValue](repeating: 5.databaseValue, count: table.columns.count)])[
                        table.columns.firstIndex { $0.name == target.name } ?? 0]
            return (
                "UPDATE \(name) SET \(target.name.sql) = ? WHERE \(column.name.sql) IS ?", [other, value]
            )
        default:
            let source = rows.randomElement(using: &random)
            let values = table.columns.indices.map { index -> DatabaseValue in
                if table.columns[index].isRowID { return .null }
                if let source, random.chance(70) { return source[index] }
                return random.pick([
                    .null, Int.random(in: 100...999, using: &random).databaseValue,
                    "text \(Int.random(in: 100...999, using: &random))".databaseValue,
                ])
            }
            let places = values.map { _ in "?" }.joined(separator: ", ")
            return ("INSERT INTO \(name)(\(columns)) VALUES (\(places))", values)
        }
    }
}
