import GRDB

/// A foreign key of a table.
struct ForeignKey: Hashable {
    let child: SQLName
    let columns: [SQLName]
    let parent: SQLName
    /// The columns of the parent; empty if the key refers to the parent's primary key.
    let parentColumns: [SQLName]

    /// Reads the foreign keys of the tables in the database.
    static func fetchAll(_ db: Database) throws -> [ForeignKey] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT child.name AS child, key.seq, key."table" AS parent, key."from", key."to"
                FROM main.sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
                WHERE child.type = 'table'
                ORDER BY child.rowid, key.id, key.seq
                """)
        // The first column of each key has the number 0.
        return rows.split(before: { $0["seq"] as Int == 0 }).map { rows in
            ForeignKey(
                child: rows[0]["child"], columns: rows.map { $0["from"] }, parent: rows[0]["parent"],
                parentColumns: rows.compactMap { $0["to"] as SQLName? })
        }
    }

    /// Returns whether a problem of the key can come from one of the suspects.
    func concerns(_ suspects: Suspects) -> Bool {
        suspects.isEverything || suspects.tables.contains(child) || suspects.tables.contains(parent)
    }

    /// Returns whether the parent has the columns, and no two rows of it can share their values
    /// (foreignkeys.html, section 3).
    func isUnique(in db: Database, _ parentColumns: [SQLName]) throws -> Bool {
        let wanted = Set(parentColumns)
        guard wanted.count == columns.count else { return false }
        let primaryKey = try SQLName.fetchSet(
            db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0", arguments: [parent])
        if primaryKey == wanted { return true }
        let indexes = try SQLName.fetchAll(
            db, sql: #"SELECT name FROM pragma_index_list(?, 'main') WHERE "unique" AND NOT partial"#,
            arguments: [parent])
        return try indexes.contains { index in
            // The name of an expression is null.
            try SQLName?.fetchSet(
                db, sql: "SELECT name FROM pragma_index_info(?, 'main')", arguments: [index])
                == Set(wanted.map(Optional.some))
        }
    }

    /// Returns the columns of the parent, also where the key only says that it refers to the primary key.
    func parentColumns(in db: Database) throws -> [SQLName] {
        guard parentColumns.isEmpty else { return parentColumns }
        return try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk",
            arguments: [parent])
    }
}

extension Array {
    /// Splits the array before each element that begins a new part.
    fileprivate func split(before isFirst: (Element) -> Bool) -> [[Element]] {
        reduce(into: []) { parts, element in
            if isFirst(element) || parts.isEmpty {
                parts.append([element])
            } else {
                parts[parts.count - 1].append(element)
            }
        }
    }
}
