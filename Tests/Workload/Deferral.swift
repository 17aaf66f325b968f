import AppMigrations
import DatabaseBatches
import GRDB
import SchemaMigrations

/// The app's deferred steps: what they find, and what each of them does.
enum Deferral {
    /// Works on the rows of a table.
    static let rows: AppVersion = "2.1"
    /// Works on a table without row ids, by calls.
    static let calls: AppVersion = "2.1-1"
    /// Writes files, with checkpoints.
    static let items: AppVersion = "2.1-2"

    /// The tables by the steps that work in them, with counters that the steps raise from 0 to 1.
    static let counters = [rows: "deferred_row", calls: "deferred_call"]

    /// Makes the tables: enough rows for some batches, in one of them by a key of two columns, one of them NULL in two rows.
    static let tables = """
        CREATE TABLE deferred_row(
            kind TEXT, id INTEGER NOT NULL, count INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (kind, id)
        );
        INSERT INTO deferred_row(kind, id)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        SELECT CASE WHEN i > 2 THEN 'kind ' || (i % 7) END, 3 * i FROM n;
        CREATE TABLE deferred_call(id TEXT PRIMARY KEY, count INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
        INSERT INTO deferred_call(id) SELECT printf('%04d', id) FROM deferred_row LIMIT 100;
        """

    /// How many files there are.
    static let itemCount = 12
    /// After how many of them a checkpoint is saved.
    static let stretch = 4

    /// The name of a file's effect.
    static func name(ofItem item: Int) -> String { "item\(item)" }

    /// Raises the counters of the rows of a batch.
    static func raise(_ db: Database, _ rows: DeferredRows) throws {
        try db.execute(literal: "UPDATE deferred_row SET count = count + 1 WHERE \(rows.condition)")
    }

    /// Raises the first counter from an id on.
    static func raise(_ db: Database, from start: String) throws -> DeferredCursor<String> {
        let ids = try String.fetchAll(
            db, sql: "SELECT id FROM deferred_call WHERE id >= ? ORDER BY id LIMIT 2", arguments: [start])
        guard let id = ids.first else { return .done }
        try db.execute(sql: "UPDATE deferred_call SET count = count + 1 WHERE id = ?", arguments: [id])
        return ids.count == 2 ? .more(ids[1]) : .done
    }

    /// True if every counter has been raised.
    static func isComplete(_ db: Database) throws -> Bool {
        try counters.values.allSatisfy { table in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE count <> 1") == 0
        }
    }
}
