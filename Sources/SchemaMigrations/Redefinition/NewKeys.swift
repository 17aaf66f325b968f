import GRDB

/// The foreign keys that a table had before, to tell new ones from them.
struct NewKeys {
    private let before: Set<Target>

    /// A foreign key without its actions, which concern no row that is there.
    private struct Target: Hashable {
        /// Pairs of columns.
        let columns: Set<[SQLName]>
        let parent: SQLName

        init(_ key: ForeignKey, _ db: Database) throws {
            columns = try Set(zip(key.columns, key.parentColumns(in: db)).map { [$0, $1] })
            parent = key.parent
        }
    }

    init(of table: SQLName, _ db: Database) throws {
        before = try Set(Self.keys(of: table, db).map { try Target($0.key, db) })
    }

    private static func keys(of table: SQLName, _ db: Database) throws -> [(id: Int, key: ForeignKey)] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq", arguments: [table])
        return Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }.map { id, rows in
            let key = ForeignKey(
                child: table, columns: rows.map { $0["from"] }, parent: rows[0]["table"],
                parentColumns: rows.compactMap { $0["to"] as SQLName? })
            return (id, key)
        }
    }

    /// Throws an error if a row breaks a new foreign key.
    func check(_ change: TableChange, _ db: Database) throws {
        let table = change.table
        let new = try Self.keys(of: table, db).filter { try !before.contains(Target($0.key, db)) }
        guard !new.isEmpty else { return }
        for (_, key) in new where try db.hasTable(key.parent) && !key.isComplete(in: db) {
            throw SchemaMigrationError(
                .refusedStatement,
                "Table \(table) would refer to columns of \(key.parent) that are not unique: \(key.description)",
                remedy: "Add a UNIQUE index on these columns of \(key.parent) first. Nothing was changed.")
        }
        let counts = try orphans(of: table, db)
        var problems: [String] = []
        var total = 0
        for (id, key) in new {
            guard let count = counts[id] else { continue }
            total += count
            let keys = try change.keys(of: key.orphans(db), db)
            problems.append("\(key.description) refers to no row in \(count.rows)\(keys)")
        }
        if !problems.isEmpty { throw change.broken(problems.joined(separator: "; "), count: total) }
    }

    /// Returns the number of rows that refer to a missing row, by the number of the key.
    private func orphans(of table: SQLName, _ db: Database) throws -> [Int: Int] {
        do {
            var counts: [Int: Int] = [:]
            let rows = try Row.fetchCursor(db, sql: "PRAGMA main.foreign_key_check(\(table.sql))")
            while let row = try rows.next() { counts[row["fkid"], default: 0] += 1 }
            return counts
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw SchemaMigrationError(
                .migrationFailed,
                "SQLite cannot check the foreign keys of table \(table): \(error.message ?? "no reason given")",
                remedy: "Correct that key, or add what it refers to. Nothing was changed.",
                underlyingError: error)
        }
    }
}

extension ForeignKey {
    /// As in `album → album(id)`.
    fileprivate var description: String {
        let names = columns.map(\.text).joined(separator: ", ")
        let parents = parentColumns.map(\.text).joined(separator: ", ")
        return "foreign key \(names) → \(parent)\(parents.isEmpty ? "" : "(\(parents))")"
    }

    /// Returns a query for the rows that refer to a missing row: it only finds their keys for a message.
    fileprivate func orphans(_ db: Database) throws -> String {
        let values = columns.map { "child.\($0.sql)" }
        var conditions = values.map { "\($0) IS NOT NULL" }
        if try db.hasTable(parent) {
            // The plus leaves the comparison to the affinity and the collation of the parent.
            let isIt = try zip(parentColumns(in: db), values).map { "parent.\($0.sql) = +\($1)" }
            conditions.append(
                """
                NOT EXISTS (SELECT 1 FROM \(parent.inMain) AS parent WHERE \(isIt.joined(separator: " AND ")))
                """)
        }
        return "\(child.inMain) AS child WHERE \(conditions.joined(separator: " AND "))"
    }
}
