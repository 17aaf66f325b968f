import GRDB
import MigrationTools
import SchemaMigrations

/// The statements of a launch with nothing to do that read a whole table, as a condition `again:` without an index does.
struct WholeTableReads {
    /// A sentence for each statement.
    let sentences: [String]

    /// Runs the launch, and looks at the plans of its statements.
    ///
    /// - Parameter launch: returns false if the launch had something to do.
    init(_ database: DatabaseQueue, in launch: () throws -> Bool) throws {
        let trace = StatementTrace()
        database.writeWithoutTransaction(trace.start)
        defer { database.writeWithoutTransaction(trace.stop) }
        guard try launch() else {
            sentences = []
            return
        }
        database.writeWithoutTransaction(trace.stop)
        var known: Set<String> = []
        let reads = trace.statements.filter { $0.kind == .read && known.insert($0.sql).inserted }
        sentences = try database.read { db in
            try reads.flatMap { statement in
                try Self.tables(readBy: statement, db).map { table in
                    """
                    a launch with nothing to do reads all of table `\(table)`: `\(Self.line(statement.sql))`; give the \
                    condition an index, best a partial one
                    """
                }
            }
        }
    }

    /// Returns the app's tables that a statement reads from their first row to the last, by SQLite's plan (eqp.html).
    private static func tables(readBy statement: TracedStatement, _ db: Database) throws -> [SQLName] {
        let details = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(statement.expanded)")
            .map { $0["detail"] as String }
        return try details.compactMap { detail in
            let pattern = /SCAN (?:TABLE )?(?:main\.)?(.+?)(?: USING (?:COVERING )?INDEX (.+))?/
            guard let scan = detail.wholeMatch(of: pattern) else { return nil }
            let table = SQLName(String(scan.1))
            // A partial index holds nothing but the rows that are asked for.
            let isOfSome = try scan.2.map { try isPartial(String($0), db) } ?? false
            return try isOfSome || OwnTables.isOfMigrator(table) || !db.tableExists(table.text) ? nil : table
        }
    }

    private static func line(_ sql: String) -> String {
        sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func isPartial(_ index: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT partial FROM sqlite_master AS object, pragma_index_list(object.tbl_name) AS list
                WHERE object.name = ?1 AND list.name = ?1
                """,
            arguments: [index]) ?? false
    }
}
