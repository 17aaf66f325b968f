import AppMigrations
import GRDB
import SchemaMigrations

/// Rows that refer to a row that is not there.
enum Orphans {
    /// Removes the orphans of a database without enforced foreign keys.
    ///
    /// - Returns: the number of rows that were removed, by table.
    static func remove(_ db: Database, _ interrupter: Interrupter) throws -> [SQLName: Int] {
        var removed: [SQLName: Int] = [:]
        var parents: Set<SQLName>?
        // Each round removes a row, or is the last one; after the first, only children of the removed can be orphans.
        repeat {
            var changed: Set<SQLName> = []
            // SQLite looks for the next one when this one is gone: one round is enough if rows follow their parents.
            try forEach(db, of: parents, interrupter) { id, table in
                try delete(id, from: table, db)
                guard db.changesCount > 0 else { return }
                removed[table, default: 0] += db.changesCount
                changed.insert(table)
            }
            parents = changed
        } while parents?.isEmpty == false
        return removed
    }

    enum Identity {
        /// The row's id, and a name of it that is no column.
        case rowid(Int64, name: String)
        /// A table without row ids has only the number of the foreign key.
        case key(Int)
    }

    /// Calls the body with each orphan.
    ///
    /// - Parameter parents: the tables whose children to look at; nil for all.
    static func forEach(
        _ db: Database, of parents: Set<SQLName>? = nil, _ interrupter: Interrupter,
        _ body: (Identity, SQLName) throws -> Void
    ) throws {
        var seen: Set<SQLName> = []
        for key in try ForeignKey.fetchAll(db)
        where parents?.contains(key.parent) ?? true && seen.insert(key.child).inserted {
            let check: Statement
            do {
                check = try db.makeStatement(sql: "PRAGMA main.foreign_key_check(\(key.child.sql))")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                // The key does not match its parent: no row can be right or wrong.
                continue
            }
            let rowid = try rowidName(of: key.child, db)
            let rows = try Row.fetchCursor(check)
            while let row = try rows.next() {
                try interrupter.check()
                try body((row[1] as Int64?).map { .rowid($0, name: rowid) } ?? .key(row[3]), key.child)
            }
        }
    }

    private static func rowidName(of table: SQLName, _ db: Database) throws -> String {
        let columns = try SQLName.fetchSet(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main')", arguments: [table])
        return ["rowid", "_rowid_", "oid"].first { !columns.contains(SQLName($0)) } ?? "rowid"
    }

    private static func delete(_ identity: Identity, from table: SQLName, _ db: Database) throws {
        switch identity {
        case .rowid(let id, let name):
            try db.cachedStatement(sql: "DELETE FROM \(table.inMain) WHERE \(name) = ?")
                .execute(arguments: [id])
        case .key(let number):
            let pairs = try Row.fetchAll(
                db,
                sql: """
                    SELECT key."table" AS parent, key."from" AS child, coalesce(key."to", info.name) AS "to"
                    FROM pragma_foreign_key_list(?1, 'main') AS key
                    LEFT JOIN pragma_table_info(key."table", 'main') AS info ON info.pk = key.seq + 1
                    WHERE key.id = ?2 ORDER BY key.seq
                    """, arguments: [table, number])
            guard let parent = pairs.first?["parent"] as SQLName? else { return }
            let isThere = try db.hasTable(parent)
            let values = pairs.map { "child.\(($0["child"] as SQLName).sql)" }
            var conditions = values.map { "\($0) IS NOT NULL" }
            if isThere {
                // The plus leaves the comparison to the affinity of the parent.
                let isIt = zip(pairs, values).map { "parent.\(($0["to"] as SQLName).sql) = +\($1)" }
                conditions.append(
                    "NOT EXISTS (SELECT 1 FROM \(parent.inMain) AS parent WHERE \(isIt.joined(separator: " AND ")))"
                )
            }
            try db.execute(
                sql: "DELETE FROM \(table.inMain) AS child WHERE \(conditions.joined(separator: " AND "))")
        }
    }
}
