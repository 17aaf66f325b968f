import GRDB
import MigrationDiagnostics

/// The values that rows refer to and that no row of the parent has.
///
/// They are kept as the children have them in temporary tables, one for each key of a parent. To compare them, they
/// are copied into a table with the affinity and the collation of the parent's columns. So SQLite compares them as
/// it compares foreign keys (foreignkeys.html, section 3): a text `'1'` refers to the number 1.
struct MissingKeys {
    /// The values that are missing from one key of a parent.
    private struct Group {
        let parent: SQLName
        /// The columns of the key, by name; empty if unknown, because there is no such parent.
        let columns: [SQLName]
        let width: Int
        /// The type and collation of each column.
        let types: [String]
        /// All columns of the parent.
        let allColumns: Set<SQLName>
        /// The temporary table.
        let table: SQLName
        /// The foreign keys, which the rows of the temporary table name by their position.
        var keys: [ForeignKey] = []
    }

    private var groups: [Group] = []
    private let tables: Set<SQLName>

    /// Collects the values.
    ///
    /// - Parameters:
    ///   - keys: foreign keys that can be checked.
    ///   - tables: the tables of the database.
    ///   - label: tells the temporary tables from those of an earlier look.
    init(_ db: Database, _ keys: [ForeignKey], tables: Set<SQLName>, label: Int) throws {
        self.tables = tables
        for key in keys { try add(key, "schema_migrations_missing_\(label)_\(groups.count)", db) }
    }

    private mutating func add(_ key: ForeignKey, _ name: String, _ db: Database) throws {
        let parentColumns = try tables.contains(key.parent) ? key.parentColumns(in: db) : key.parentColumns
        // The same key of a parent may be referred to in any order of its columns.
        let pairs = zip(parentColumns, key.columns).inOrder { $0.0.folded < $1.0.folded }
        let columns = pairs.map(\.0)
        let index: Int
        if let known = groups.firstIndex(where: {
            $0.parent == key.parent && $0.columns == columns && $0.width == key.columns.count
        }) {
            index = known
        } else {
            index = groups.count
            groups.append(try create(SQLName(name), for: key, columns, db))
        }
        try fill(groups[index], columns: pairs.isEmpty ? key.columns : pairs.map(\.1), of: key, db)
        groups[index].keys.append(key)
    }

    private func create(
        _ table: SQLName, for key: ForeignKey, _ columns: [SQLName], _ db: Database
    ) throws -> Group {
        let isThere = tables.contains(key.parent)
        let group = Group(
            parent: key.parent, columns: columns, width: key.columns.count,
            types: try isThere
                ? columns.map { try db.columnType($0, of: key.parent) } : key.columns.map { _ in "BLOB" },
            allColumns: try SQLName.fetchSet(
                db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main')", arguments: [key.parent]),
            table: table)
        // Without types, so that a parent whose types change is looked for the same values.
        let definitions = group.types.indices.map { "k\($0)" } + ["key INTEGER", "rows INTEGER"]
        try db.execute(sql: "CREATE TEMP TABLE \(table.sql)(\(definitions.joined(separator: ", ")))")
        return group
    }

    private func fill(_ group: Group, columns: [SQLName], of key: ForeignKey, _ db: Database) throws {
        let values = columns.map { "child.\($0.sql)" }
        var conditions = values.map { "\($0) IS NOT NULL" }
        if tables.contains(group.parent) {
            // The plus leaves the comparison to the affinity and the collation of the parent.
            let isIt = zip(group.columns, values).map { "parent.\($0.sql) = +\($1)" }
            conditions.append(
                """
                NOT EXISTS (SELECT 1 FROM \(group.parent.inMain) AS parent WHERE \(isIt.joined(separator: " AND ")))
                """)
        }
        // GROUP BY takes 1 and 1.0 for one value, but a parent whose key is a text sees two texts.
        try db.execute(
            sql: """
                INSERT INTO temp.\(group.table.sql)
                SELECT \(values.joined(separator: ", ")), \(group.keys.count), count(*)
                FROM \(key.child.inMain) AS child WHERE \(conditions.joined(separator: " AND "))
                GROUP BY \(values.map { "\($0) COLLATE BINARY, typeof(\($0))" }.joined(separator: ", "))
                """)
    }

    /// True if there are no keys of which to keep values.
    var isEmpty: Bool { groups.isEmpty }

    /// Removes the temporary tables.
    func drop(_ db: Database) throws {
        for group in groups { try db.execute(sql: "DROP TABLE temp.\(group.table.sql)") }
    }

    // MARK: Rows

    /// Returns the rows that refer to a missing row, by foreign key.
    func rows(_ db: Database) throws -> [(key: ForeignKey, count: Int)] {
        try groups.flatMap { try rows(of: $0, where: "1", db) }
    }

    /// Returns the rows that refer to a missing row, to which no row of the same parent referred before.
    func newRows(since before: MissingKeys, _ db: Database) throws -> [(key: ForeignKey, count: Int)] {
        try groups.flatMap { group in
            let known = SQLName("schema_migrations_missing_before")
            let columns = group.types.indices.map { "k\($0)" }
            let definitions = zip(columns, group.types).map { "\($0) \($1)" }
            let names = columns.joined(separator: ", ")
            try db.execute(
                sql: """
                    CREATE TEMP TABLE \(known.sql)(\(definitions.joined(separator: ", ")), PRIMARY KEY (\(names)))
                    WITHOUT ROWID
                    """)
            for old in before.groups where before.isSameParent(old, as: group, in: self) {
                guard let places = Self.places(of: group, in: old) else { continue }
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO temp.\(known.sql)
                        SELECT \(places.map { "k\($0)" }.joined(separator: ", ")) FROM temp.\(old.table.sql)
                        """)
            }
            let isIt = columns.map { "known.\($0) = +missing.\($0)" }.joined(separator: " AND ")
            let new = try rows(
                of: group, where: "NOT EXISTS (SELECT 1 FROM temp.\(known.sql) AS known WHERE \(isIt))", db)
            try db.execute(sql: "DROP TABLE temp.\(known.sql)")
            return new
        }
    }

    private func rows(
        of group: Group, where condition: String, _ db: Database
    ) throws -> [(key: ForeignKey, count: Int)] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT key, sum(rows) FROM temp.\(group.table.sql) AS missing WHERE \(condition) GROUP BY key
                """
        ).map { (key: group.keys[$0[0]], count: $0[1]) }
    }

    /// Returns whether two parents are one, which may have been renamed in between.
    private func isSameParent(_ old: Group, as new: Group, in after: MissingKeys) -> Bool {
        if old.parent == new.parent { return true }
        return !tables.contains(new.parent) && !after.tables.contains(old.parent)
    }

    /// Returns the place in an old key of each column of a new one, or nil if they are two keys.
    ///
    /// A column that was renamed in between is the same.
    private static func places(of new: Group, in old: Group) -> [Int]? {
        guard new.width == old.width else { return nil }
        if new.columns.isEmpty || old.columns.isEmpty { return Array(0..<new.width) }
        let renamed = old.columns.indices.filter { !new.allColumns.contains(old.columns[$0]) }
        return new.columns.reduce(into: [] as [Int]?) { places, column in
            let isNew = !old.allColumns.contains(column)
            let place = old.columns.firstIndex(of: column) ?? (isNew && renamed.count == 1 ? renamed[0] : nil)
            if let place { places?.append(place) } else { places = nil }
        }
    }
}

extension Database {
    /// Returns the affinity (datatype3.html, section 3.1) and the collation of a table's column, as SQL.
    fileprivate func columnType(_ column: SQLName, of table: SQLName) throws -> String {
        let metadata = columnMetadata(column, of: table)
        let affinity = try Affinity(type: metadata.type, isStrict: try isStrict(table))
        return "\(affinity.rawValue) COLLATE \(SQLName(metadata.collation).sql)"
    }

    private func isStrict(_ table: SQLName) throws -> Bool {
        try Bool.fetchOne(
            self,
            sql: "SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
            arguments: [table]) ?? false
    }
}

/// The conversion that SQLite applies to values of a column (datatype3.html, 3.1), by its name in SQL.
package enum Affinity: String, Sendable {
    case integer = "INTEGER"
    case text = "TEXT"
    case blob = "BLOB"
    case real = "REAL"
    case numeric = "NUMERIC"

    /// Reads the declared type of a column.
    ///
    /// - Parameter isStrict: whether the table is `STRICT`; asked only where it makes a difference.
    package init(type: String, isStrict: @autoclosure () throws -> Bool) rethrows {
        let type = type.uppercasedASCII
        self =
            switch type {
            case _ where type.contains("INT"): .integer
            case _ where ["CHAR", "CLOB", "TEXT"].contains(where: type.contains): .text
            case _ where type.isEmpty || type.contains("BLOB"): .blob
            case _ where ["REAL", "FLOA", "DOUB"].contains(where: type.contains): .real
            // stricttables.html: ANY converts nothing in a STRICT table.
            case "ANY" where try isStrict(): .blob
            default: .numeric
            }
    }
}
