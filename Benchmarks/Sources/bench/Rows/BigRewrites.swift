import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what is added to work that takes SQLite a while, and what is not done beside a large database.
    static let bigRewrites = [
        Benchmark(what: "one big rewrite") { effort, scratch in
            let big = try BigDatabase(rows: effort == .full ? 1_000_000 : 2_000, scratch)
            return try rewriting("track", checking: nil, within: 1.05, big, effort, scratch)
                + rewriting("entry", checking: "entry", within: 1.1, big, effort, scratch)
        },
        Benchmark(what: "20 pending files beside a big database") { effort, scratch in
            let big = try BigDatabase(rows: effort == .full ? 1_000_000 : 2_000, scratch)
            let samples = SchemaSamples.schema(count: 20)
            return try Contest(
                what: "20 pending files beside rows with foreign keys that they do not touch",
                size: "\(big.rows.grouped) rows",
                ours: big.onCopy(scratch, DatabaseQueue.init(url:)) { queue in
                    try samples.migrator(after: BigDatabase.migration).migrate(queue)
                },
                others: [
                    .init(
                        name: "GRDB's migrator, default checks", goal: .faster(10),
                        work: big.onCopy(scratch, DatabaseQueue.init(url:)) {
                            try samples.grdbMigrator().migrate($0)
                        })
                ]
            ).rows(effort, seconds: 5)
        },
        Benchmark(what: "a step beside a big database") { effort, scratch in
            let big = try BigDatabase(rows: effort == .full ? 1_000_000 : 2_000, scratch)
            return try Contest(
                what: "a step beside rows with foreign keys that it does not touch",
                size: "\(big.rows.grouped) rows",
                ours: big.onCopy(scratch, DatabaseQueue.init(url:)) { try runStep(.deferred, in: $0) },
                others: [
                    .init(
                        name: "the same with immediate foreign keys", goal: .within(1.1),
                        work: big.onCopy(scratch, DatabaseQueue.init(url:)) {
                            try runStep(.immediate, in: $0)
                        })
                ]
            ).rows(effort, seconds: 5)
        },
    ]

    private static func runStep(_ foreignKeys: ForeignKeys, in queue: DatabaseQueue) throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: .inMemory())
        manager.whenMigratingToVersion("2.0", in: queue, foreignKeys: foreignKeys) { db in
            try db.execute(sql: "CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO tag(name) VALUES ('new')")
        }
        try manager.migrate()
    }

    private static func rewriting(
        _ table: String, checking child: String?, within: Double, _ big: BigDatabase, _ effort: Effort,
        _ scratch: Scratch
    ) throws -> [TableRow] {
        let sql = big.rewrite(of: table)
        let check = child.map { ["PRAGMA foreign_key_check(\($0))"] } ?? []
        return try Contest(
            what: "one big rewrite, \(child == nil ? "without" : "with") foreign keys",
            size: "\(big.rows.grouped) rows",
            ours: big.onCopy(scratch, DatabaseQueue.init(url:)) { queue in
                try SchemaSamples.texts([sql]).migrator(after: BigDatabase.migration).migrate(queue)
            },
            others: [
                .init(
                    name: child == nil ? "raw SQLite" : "raw SQLite, and one foreign_key_check",
                    goal: .within(within),
                    work: big.onCopy(scratch, RawSQLite.init) { try $0.migrate([sql] + check) })
            ]
        ).rows(effort, seconds: 16)
    }
}

extension DatabaseQueue {
    convenience init(url: URL) throws {
        try self.init(path: url.path)
    }
}

/// A database with two tables of many rows: `track` by itself, and `entry` that refers to `journal`.
struct BigDatabase {
    /// The migration that made the tables, as far as a migrator must know it.
    static let migration = SQLMigration(version: 0, name: "tables", sql: "-- Made already.")

    let rows: Int
    let template: URL

    init(rows: Int, _ scratch: Scratch) throws {
        self.rows = rows
        template = scratch.new("big.sqlite")
        let raw = try RawSQLite(template)
        let numbers = """
            WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < \(rows))
            """
        try raw.migrate([
            "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL)",
            "INSERT INTO schema_migrations VALUES (0)",
            "CREATE TABLE journal(id INTEGER PRIMARY KEY, title TEXT NOT NULL)",
            """
            INSERT INTO journal
            WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 1000)
            SELECT i, 'Journal ' || i FROM number
            """,
            "CREATE TABLE track(\(Self.columns))",
            "INSERT INTO track \(numbers) SELECT i, 1 + i % 1000, 'Track ' || i, i % 7 FROM number",
            "CREATE TABLE entry(\(Self.columns), FOREIGN KEY (journal) REFERENCES journal(id))",
            "INSERT INTO entry \(numbers) SELECT i, 1 + i % 1000, 'Entry ' || i, i % 7 FROM number",
        ])
    }

    private static let columns =
        "id INTEGER PRIMARY KEY, journal INTEGER NOT NULL, title TEXT NOT NULL, mood INTEGER"

    /// The table is made anew, as lang_altertable.html recommends.
    func rewrite(of table: String) -> String {
        let key = table == "entry" ? ", FOREIGN KEY (journal) REFERENCES journal(id)" : ""
        return """
            CREATE TABLE \(table)_new(\(Self.columns), words INTEGER NOT NULL DEFAULT 0\(key));
            INSERT INTO \(table)_new SELECT id, journal, upper(title), mood, length(title) FROM \(table);
            DROP TABLE \(table);
            ALTER TABLE \(table)_new RENAME TO \(table);
            """
    }

    /// Work on a copy, each time on a new one.
    func onCopy<Connection: AnyObject>(
        _ scratch: Scratch, _ open: @escaping (URL) throws -> Connection,
        _ run: @escaping (Connection) throws -> Void
    ) -> Contest.Work {
        let copy = scratch.new("copy.sqlite")
        var connection: Connection?
        return .init(
            preparing: {
                connection = nil
                try scratch.copy(template, to: copy)
                connection = try open(copy)
            }, { if let connection { try run(connection) } })
    }
}
