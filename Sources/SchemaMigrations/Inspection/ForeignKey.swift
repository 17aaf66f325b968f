package import GRDB

/// A foreign key of a table.
package struct ForeignKey: Hashable {
    package let child: SQLName
    package let columns: [SQLName]
    package let parent: SQLName
    /// The columns of the parent; empty if the key refers to the parent's primary key.
    package let parentColumns: [SQLName]

    /// Reads the foreign keys of the tables in the database.
    package static func fetchAll(_ db: Database) throws -> [ForeignKey] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT child.name, key.seq, key."table", key."from", key."to"
                FROM main.sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
                WHERE child.type = 'table' AND instr(lower(child.sql), 'references') > 0
                ORDER BY child.rowid, key.id, key.seq
                """)
        return rows.splitIntoKeys.map { ForeignKey(of: $0[0][0], $0) }
    }

    /// Reads the foreign keys of a table, with their ids.
    static func fetchAll(_ db: Database, of child: SQLName) throws -> [(id: Int, key: ForeignKey)] {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq"),
            arguments: [child])
        return rows.splitIntoKeys.map { ($0[0][0], ForeignKey(of: child, $0)) }
    }

    /// Reads one key.
    ///
    /// - Parameter rows: a row for each of its columns. From the second on, its values are those of
    ///   `PRAGMA foreign_key_list`.
    private init(of child: SQLName, _ rows: [Row]) {
        self.child = child
        parent = rows[0][2]
        columns = rows.map { $0[3] }
        parentColumns = rows.compactMap { $0[4] as SQLName? }
    }

    /// Returns whether a problem of the key can come from one of the suspects.
    @inline(never)
    func concerns(_ suspects: Suspects) -> Bool {
        suspects.isEverything || suspects.tables.contains(child) || suspects.tables.contains(parent)
    }

    /// Returns whether there is a parent with unique columns for the key.
    package func isComplete(in db: Database) throws -> Bool { try isUnique(in: db, parentColumns(in: db)) }

    /// Returns whether the parent has the columns, and no two rows of it can share their values
    /// (foreignkeys.html, section 3).
    func isUnique(in db: Database, _ parentColumns: [SQLName]) throws -> Bool {
        let wanted = Set(parentColumns)
        guard wanted.count == columns.count else { return false }
        // Without columns of its own, the key means the primary key, whatever its collation.
        if self.parentColumns.isEmpty { return true }
        let indexes = try Row.fetchAll(
            db, sql: #"SELECT name, origin FROM pragma_index_list(?, 'main') WHERE "unique" AND NOT partial"#,
            arguments: [parent])
        if try indexes.contains(where: { try isIndex($0["name"], on: wanted, db) }) { return true }
        // A primary key without an index is the row's id.
        guard !indexes.contains(where: { $0["origin"] == "pk" }) else { return false }
        return try wanted
            == SQLName.fetchSet(
                db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0", arguments: [parent])
    }

    /// Returns whether an index of the parent has these columns, with their own collations.
    private func isIndex(_ index: SQLName, on wanted: Set<SQLName>, _ db: Database) throws -> Bool {
        let columns = try Row.fetchAll(
            db, sql: "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key", arguments: [index])
        // The name of an expression is null.
        let names = columns.compactMap { $0["name"] as SQLName? }
        return names.count == columns.count && Set(names) == wanted
            && columns.allSatisfy { row in
                let collation: SQLName = row["coll"]
                return SQLName(db.columnMetadata(row["name"], of: parent).collation) == collation
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

extension [Row] {
    /// The rows of each key, of which the first has the number 0.
    fileprivate var splitIntoKeys: [[Row]] { split(before: { $0[1] as Int == 0 }) }
}

extension Array {
    /// Splits the array before each element that begins a new part.
    func split(before isFirst: (Element) -> Bool) -> [[Element]] {
        reduce(into: []) { parts, element in
            if isFirst(element) || parts.isEmpty {
                parts.append([element])
            } else {
                parts[parts.count - 1].append(element)
            }
        }
    }
}
