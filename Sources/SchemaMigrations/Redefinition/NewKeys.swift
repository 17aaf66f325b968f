import AppMigrations
import GRDB

/// The foreign keys that a table has only under its new definition.
struct NewKeys {
    private let table: SQLName
    /// The keys, by the numbers that SQLite gives them.
    private let keys: [(id: Int, key: ForeignKey)]

    /// A foreign key without its actions, which concern no row that is there.
    private struct Target: Equatable {
        /// Pairs of columns, as SQL.
        let columns: Set<String>
        let parent: SQLName

        init(_ key: ForeignKey, _ db: Database) throws {
            columns = try Set(
                zip(key.columns, key.parentColumns(in: db)).map {
                    [$0, $1].map(\.folded).map { SQLName($0) }.sql
                })
            parent = key.parent
        }
    }

    /// - Throws: `MigrationError`, if the columns that a new key refers to are not unique.
    init(_ old: TableShape, _ new: TableShape, _ db: Database) throws {
        table = old.name
        let before = try old.foreignKeys.map { try Target($0.key, db) }
        keys = try new.foreignKeys.filter { try !before.contains(Target($0.key, db)) }
        for (_, key) in keys where try db.hasTable(key.parent) && !key.isComplete(in: db) {
            throw MigrationError(
                .invalidMigration,
                "Table \(table) would refer to columns of \(key.parent) that are not unique: \(key.description)",
                remedy: "Add a UNIQUE index on these columns of \(key.parent) first. Nothing was changed.")
        }
    }

    /// Returns conditions that hold for the rows without a parent; nil if only SQLite's own check can tell.
    ///
    /// Of row ids, a query compares as SQLite does for foreign keys. Of other columns it may not: the index of the parent
    /// can have another collation than the column.
    func conditions(_ db: Database) throws -> [String]? {
        var conditions: [String] = []
        for (_, key) in keys {
            guard let rowID = try key.parentRowID(db) else { return nil }
            conditions.append("\(key.columns.sql) NOT IN (SELECT \(rowID.sql) FROM \(key.parent.inMain))")
        }
        return conditions
    }

    /// Throws an error if a row breaks a new foreign key of the table, which has its new definition by now.
    func check(_ change: TableChange, _ db: Database) throws {
        guard !keys.isEmpty else { return }
        let counts = try orphans(of: table, db)
        var problems: [String] = []
        var total = 0
        for (id, key) in keys {
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
            throw MigrationError(
                .stepFailed,
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

    /// Returns the column to which the key refers, if it is another name of the parent's row id.
    fileprivate func parentRowID(_ db: Database) throws -> SQLName? {
        guard try db.hasTable(parent) else { return nil }
        let shape = try TableShape(parent, db)
        guard shape.hasRowIDKey, let column = shape.key.first?.name else { return nil }
        return try parentColumns(in: db) == [column] ? column : nil
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
