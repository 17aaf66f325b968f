import AppMigrations
import GRDB
import SchemaMigrations

/// Adds the rows of an attached database whose keys are missing from the main one, inside a transaction.
struct RowMerge {
    private let db: Database
    private let source: SQLName
    private let interrupter: Interrupter

    init(_ db: Database, from source: SQLName, _ interrupter: Interrupter) {
        (self.db, self.source, self.interrupter) = (db, source, interrupter)
    }

    /// Adds the rows.
    ///
    /// - Returns: the number of added rows, by table.
    func run() throws -> [SQLName: Int] {
        let triggers = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'")
        // They would make rows that were not there.
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER \((trigger["name"] as SQLName).inMain)") }
        let virtual = try VirtualTable.fetchAll(db)
        let additions = try additions(virtual)
        let keys = Dictionary(grouping: try ForeignKey.fetchAll(db), by: \.child)
            .mapValues { $0.map(\.parent) }
        var added: [SQLName: Int] = [:]
        var parents: Set<SQLName>?
        var isBackwards = false
        // A parent may come from a table after that of its children, or from the same one.
        repeat {
            var changed: Set<SQLName> = []
            for addition in additions
            where parents?.isDisjoint(with: keys[addition.table] ?? []) != true {
                try interrupter.check()
                let count = try run(addition, isBackwards: isBackwards)
                guard count > 0 else { continue }
                added[addition.table, default: 0] += count
                changed.insert(addition.table)
            }
            parents = changed
            isBackwards.toggle()
        } while parents?.isEmpty == false
        let isChanged = added.values.contains { $0 > 0 }
        for table in virtual where isChanged && table.isExternal { try table.rebuild(db) }
        for trigger in triggers { try db.execute(sql: trigger["sql"]) }
        return added
    }

    /// The adding of a table's rows.
    private struct Addition {
        let table: SQLName
        /// Adds all rows, or the one with an id.
        let sql: String
        /// Finds the ids of rows that may be parents of each other; nil to add all at once.
        var ids: String?
    }

    /// Adds rows of a table.
    ///
    /// - Returns: the number of added rows.
    private func run(_ addition: Addition, isBackwards: Bool) throws -> Int {
        guard let ids = addition.ids else {
            try db.execute(sql: addition.sql)
            return db.changesCount
        }
        // A single statement does not see what it adds: of a chain, it adds one row.
        let rows = try Int64.fetchCursor(db, sql: "\(ids) ORDER BY 1 \(isBackwards ? "DESC" : "ASC")")
        let insertion = try db.makeStatement(sql: addition.sql)
        var count = 0
        while let id = try rows.next() {
            try interrupter.check()
            try insertion.execute(arguments: [id])
            count += db.changesCount
        }
        return count
    }

    private func additions(_ virtual: [VirtualTable]) throws -> [Addition] {
        let keys = Dictionary(grouping: try ForeignKey.fetchAll(db), by: \.child)
        let tables = try SQLName.fetchAll(
            db,
            sql: """
                SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')
                INTERSECT SELECT name FROM pragma_table_list WHERE schema = ? AND type IN ('table', 'shadow')
                """, arguments: [source])
        let shadows = Set(virtual.flatMap(\.shadows))
        let ordinary = try tables.filter { !isOwn($0) && !shadows.contains($0) }.compactMap { table in
            try addition(table, keys[table] ?? [])
        }
        let texts = virtual.filter { $0.content != nil }.map { Addition(table: $0.name, sql: statement($0)) }
        return ordinary + texts
    }

    private func isOwn(_ table: SQLName) -> Bool {
        OwnTables.isOfMigrator(table) || table.folded.hasPrefix("sqlite_")
    }

    private func addition(_ table: SQLName, _ keys: [SchemaMigrations.ForeignKey]) throws -> Addition? {
        let columns = try Row.fetchAll(
            db, sql: "SELECT name, pk FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [table]
        )
        let others = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, ?) WHERE hidden = 0", arguments: [table, source])
        let names = columns.map { $0["name"] as SQLName }
        // The migrations make both.
        guard Set(names) == Set(others) else { return nil }
        let list = names.map(\.sql).joined(separator: ", ")
        let key = columns.filter { $0["pk"] as Int > 0 }.map { ($0["name"] as SQLName).sql }
        let rows = "\(source.sql).\(table.sql) AS child"
        let conditions = try keys.map(isThere) + key.map { "child.\($0) IS NOT NULL" }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        let insertion = "INSERT OR IGNORE INTO \(table.inMain)(\(list)) SELECT \(list) FROM \(rows)"
        if !key.isEmpty, keys.contains(where: { $0.parent == table }),
            let id = try TableLayout.fetchAll(db).first(where: { $0.name == table })?.rowid
        {
            let isSame = key.map { "own.\($0) = +child.\($0)" }.joined(separator: " AND ")
            return Addition(
                table: table, sql: "\(insertion) WHERE child.\(id) = ?",
                ids: """
                    SELECT child.\(id) FROM \(rows)\(filter)
                    AND NOT EXISTS (SELECT 1 FROM \(table.inMain) AS own WHERE \(isSame))
                    """)
        }
        // Without a key, only the values can say that a row is there.
        let new = key.isEmpty ? " EXCEPT SELECT \(list) FROM \(table.inMain)" : ""
        return Addition(table: table, sql: "\(insertion)\(filter)\(new)")
    }

    /// Returns the condition that a row's parent is there.
    private func isThere(_ key: SchemaMigrations.ForeignKey) throws -> String {
        let primary = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk",
            arguments: [key.parent])
        let pairs = zip(key.columns, key.parentColumns.isEmpty ? primary : key.parentColumns)
        let isNull = key.columns.map { "child.\($0.sql) IS NULL" }.joined(separator: " OR ")
        // The plus leaves the comparison to the affinity of the parent.
        let isIt = pairs.map { "parent.\($1.sql) = +child.\($0.sql)" }.joined(separator: " AND ")
        // SQLite would refuse the rows of a key that does not match its parent.
        guard try db.hasTable(key.parent), !isIt.isEmpty else { return "(\(isNull))" }
        // A row that is its own parent, such as the root of a tree, comes along with itself. There, SQLite compares the values alone.
        let isOwn = pairs.map { "+child.\($1.sql) COLLATE BINARY = +child.\($0.sql)" }
            .joined(separator: " AND ")
        let own = key.parent == key.child ? " OR \(isOwn)" : ""
        return "(\(isNull)\(own) OR EXISTS (SELECT 1 FROM \(key.parent.inMain) AS parent WHERE \(isIt)))"
    }

    private func statement(_ table: VirtualTable) -> String {
        let list = (["rowid"] + table.columns.map(\.sql)).joined(separator: ", ")
        return """
            INSERT INTO \(table.name.inMain)(\(list)) SELECT \(list) FROM \(source.sql).\(table.name.sql)
            WHERE rowid NOT IN (SELECT rowid FROM \(table.name.inMain))
            """
    }
}
