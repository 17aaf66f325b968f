import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what a deferred step costs, by the key of its table, against what one would write by hand.
    static let deferredKeys = Benchmark(what: "a deferred step by key") { effort, scratch in
        let rows = effort == .full ? 300_000 : 2_000
        return try KeyedTable.all.flatMap { table in
            let template = try table.create(rows: rows, scratch)
            func onCopy(_ work: @escaping (URL) throws -> () throws -> Void) -> Contest.Work {
                var run: (() throws -> Void)?
                return Contest.Work(
                    preparing: {
                        // Closes the last copy before there is another one.
                        run = nil
                        let copy = scratch.new("keyed.sqlite")
                        try scratch.copy(template, to: copy)
                        run = try work(copy)
                    }, { try run?() })
            }
            return try Contest(
                what: "a deferred step over \(table.name)", size: "\(rows.grouped) rows",
                ours: onCopy { url in
                    let manager = try table.manager(DatabaseQueue(url: url))
                    try manager.migrate()
                    return { try manager.runDeferred() }
                },
                others: [
                    .init(
                        name: "a loop by hand, of 5,000 rows, with the same pauses", goal: .within(1.5),
                        work: onCopy { url in
                            let raw = try RawSQLite(url)
                            return { try table.loop(rows: rows, raw) }
                        })
                ]
            ).rows(effort, seconds: 8)
        }
    }
}

/// A table of old rows, whose key is counted up.
private struct KeyedTable {
    let keys: String
    /// The columns of the key, and the value of each for the row with the number N.
    let columns: [(name: String, type: String, value: String)]
    var isWAL = true
    var isIndexed = false

    /// The three kinds of key: in both journal modes, and with an index that the statement could use.
    static let all = [
        KeyedTable(keys: "integers", columns: [("id", "INTEGER", "N")]),
        KeyedTable(keys: "texts", columns: [("id", "TEXT NOT NULL", "printf('%08d', N)")]),
        KeyedTable(
            keys: "keys of two columns",
            columns: [("a", "INTEGER", "N / 1000"), ("b", "TEXT", "printf('%03d', N % 1000)")]),
    ].flatMap { table in
        var (rollback, indexed) = (table, table)
        rollback.isWAL = false
        indexed.isIndexed = true
        return [table, rollback, indexed]
    }

    var name: String { "\(keys), \(isWAL ? "WAL" : "DELETE")\(isIndexed ? ", with an index" : "")" }

    func create(rows: Int, _ scratch: Scratch) throws -> URL {
        let url = scratch.new("keyed-template.sqlite")
        let raw = try RawSQLite(url)
        let names = columns.map(\.name).joined(separator: ", ")
        let definitions = columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        try raw.execute(
            "CREATE TABLE item(\(definitions), old TEXT NOT NULL, new TEXT, PRIMARY KEY (\(names)))")
        try raw.execute(
            """
            INSERT INTO item(\(names), old)
            WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < \(rows))
            SELECT \(values(of: "i")), 'Old value ' || i FROM number
            """)
        if isIndexed { try raw.execute("CREATE INDEX item_by_new ON item(new)") }
        // The mode stays in the file.
        try raw.execute("PRAGMA journal_mode = \(isWAL ? "WAL" : "DELETE")")
        return url
    }

    private func values(of number: String) -> String {
        columns.map { $0.value.replacing("N", with: number) }.joined(separator: ", ")
    }

    func manager(_ database: DatabaseQueue) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.1", adopting: Adoption { "2.0" }, store: .inMemory())
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "item") { db, rows in
            try db.execute(
                literal: "UPDATE item SET new = upper(old) WHERE new IS NULL AND \(rows.condition)")
        }
        return manager
    }

    /// Does the same in transactions of 5,000 rows.
    func loop(rows: Int, _ raw: RawSQLite) throws {
        try raw.execute("PRAGMA synchronous = \(isWAL ? "FULL" : "EXTRA")")
        let names = columns.map(\.name).joined(separator: ", ")
        for start in stride(from: 1, through: rows, by: 5_000) {
            let begin = ContinuousClock.now
            try raw.execute("BEGIN IMMEDIATE")
            try raw.execute(
                """
                UPDATE item SET new = upper(old)
                WHERE (\(names)) >= (\(values(of: "\(start)"))) AND (\(names)) < (\(values(of: "\(start + 5_000)")))
                """)
            try raw.execute("COMMIT")
            Thread.sleep(forTimeInterval: (ContinuousClock.now - begin).inSeconds)
        }
    }
}
