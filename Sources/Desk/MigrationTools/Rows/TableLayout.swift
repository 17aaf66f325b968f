package import GRDB
package import SchemaMigrations

/// The columns, keys and constraints of a table, which determine the rows that it accepts.
package struct TableLayout: Sendable {
    /// A column that takes values.
    package struct Column: Sendable {
        package let name: SQLName
        /// The declared type, in upper case.
        package let type: String
        let affinity: Affinity
        /// True if the column is declared `NOT NULL`.
        let isNotNull: Bool
        /// True if the column is part of the primary key.
        let isKey: Bool
        /// True if the column is part of the primary key or of another unique index.
        package let isUnique: Bool
        /// True if the column is another name of the row's id (lang_createtable.html, section 5).
        package let isRowID: Bool
        /// The default value, as SQL.
        let defaultValue: String?
        /// The collation.
        let collation: SQLName

        /// True if the column takes no null.
        package var isRequired: Bool { isNotNull || isKey }
    }

    /// A foreign key.
    package struct Reference: Sendable {
        package let parent: SQLName
        package let columns: [SQLName]
        package let parentColumns: [SQLName]
        /// The actions on the rows when their parent is deleted or updated: `ON DELETE CASCADE`.
        let actions: [String]
        /// The evidence for the reference.
        var evidence = Evidence.declaration
        var isDeclared: Bool { evidence == .declaration }

        /// A place that says that rows refer to others.
        enum Evidence {
            case declaration
            /// A trigger looks for the rows that refer to one.
            case trigger
            /// A statement compares the columns: rows may as well refer to none.
            case comparison
        }
    }

    /// An index of the table, with one that SQLite makes for a constraint.
    struct Index: Sendable {
        /// The origin of an index (pragma.html, index_list).
        enum Origin: String {
            case createIndex = "c"
            case unique = "u"
            case primaryKey = "pk"
        }

        let name: SQLName
        let origin: Origin
        let isUnique: Bool
        let isPartial: Bool
        /// The columns, in order; nil in place of an expression.
        let columns: [SQLName?]
    }

    package let name: SQLName
    package let columns: [Column]
    /// The columns that SQLite computes.
    let generatedColumns: [SQLName]
    package internal(set) var references: [Reference]
    package let checks: [CheckConstraint]
    let indexes: [Index]
    /// True if the table has a row id.
    package let hasRowID: Bool
    /// True if the table is `STRICT`.
    let isStrict: Bool
    /// True if the table never gives the id of a deleted row again.
    let hasSequence: Bool
    /// The columns of the primary key, in the key's order.
    package let primaryKey: [SQLName]

    /// Reads the tables of a database, each after those that it refers to if possible.
    ///
    /// It leaves out virtual tables and their shadow tables, SQLite's tables, and this package's.
    ///
    /// - Parameter wanted: the tables to read; nil for all.
    package static func fetchAll(_ db: Database, of wanted: Set<SQLName>? = nil) throws
        -> [TableLayout]
    {
        let tables = try SchemaObject.fetchAll(db)
            .filter { $0.type == "table" && !$0.isVirtual && wanted?.contains($0.name) ?? true }
            .map { try TableLayout(db, $0) }
        return parentsFirst(tables)
    }

    /// Reads a table that is not virtual.
    init(_ db: Database, _ object: SchemaObject) throws {
        name = object.name
        let options = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT NOT wr, strict FROM pragma_table_list(?) WHERE schema = 'main'"),
            arguments: [object.name])
        let (hasRowID, isStrict): (Bool, Bool) = (options?[0] ?? true, options?[1] ?? false)
        self.hasRowID = hasRowID
        self.isStrict = isStrict
        hasSequence = object.comparable([]).contains(Array("autoincrement".utf8))
        checks = CheckConstraint.all(in: object.sql)
        indexes = try Self.indexes(of: name, db)
        let unique = Set(indexes.filter(\.isUnique).flatMap { $0.columns.compactMap(\.self) })
        let all = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main') ORDER BY cid", arguments: [name])
        // pragma.html, table_xinfo: 2 and 3 are generated columns.
        generatedColumns = all.filter { $0["hidden"] as Int > 1 }.map { $0["name"] }
        let rows = all.filter { $0["hidden"] == 0 }
        primaryKey = rows.map { (rank: $0["pk"] as Int, name: $0["name"] as SQLName) }
            .filter { $0.rank > 0 }.sorted { $0.rank < $1.rank }.map(\.name)
        let keyCount = primaryKey.count
        columns = rows.map { [table = object.name] row in
            let name: SQLName = row["name"]
            let type = (row["type"] as String).uppercasedASCII
            let isKey = row["pk"] as Int > 0
            return Column(
                name: name, type: type, affinity: Affinity(type: type, isStrict: isStrict),
                isNotNull: row["notnull"] != 0, isKey: isKey,
                isUnique: isKey || unique.contains(name),
                isRowID: isKey && hasRowID && keyCount == 1 && type == "INTEGER",
                defaultValue: row["dflt_value"],
                collation: SQLName(db.columnMetadata(name, of: table).collation))
        }
        references = try Self.references(of: name, db)
    }

    private static func indexes(of table: SQLName, _ db: Database) throws -> [Index] {
        try Row.fetchAll(
            db, sql: #"SELECT name, origin, "unique", partial FROM pragma_index_list(?, 'main')"#,
            arguments: [table]
        ).map { row in
            let name: SQLName = row["name"]
            let columns = try Row.fetchAll(
                db, sql: "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", arguments: [name])
            return Index(
                name: name, origin: Index.Origin(rawValue: row["origin"]) ?? .createIndex,
                isUnique: row["unique"], isPartial: row["partial"],
                columns: columns.map { $0["name"] as SQLName? })
        }
    }

    private static func references(of table: SQLName, _ db: Database) throws -> [Reference] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq",
            arguments: [table])
        return try Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }.map {
            _, rows in
            let parent: SQLName = rows[0]["table"]
            var targets = rows.compactMap { $0["to"] as SQLName? }
            if targets.isEmpty {
                targets = try SQLName.fetchAll(
                    db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk",
                    arguments: [parent])
            }
            return Reference(
                parent: parent, columns: rows.map { $0["from"] }, parentColumns: targets,
                actions: rows[0].foreignKeyActions)
        }
    }

    /// Returns the tables in the order of their names, but each after those that it refers to if possible.
    static func parentsFirst(_ tables: some Collection<TableLayout>) -> [TableLayout] {
        let byName = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var sorted: [TableLayout] = []
        var seen: Set<SQLName> = []
        func visit(_ table: TableLayout) {
            guard seen.insert(table.name).inserted else { return }
            for reference in table.references { byName[reference.parent].map(visit) }
            sorted.append(table)
        }
        tables.sorted { $0.name.text < $1.name.text }.forEach(visit)
        return sorted
    }

    package func column(named name: SQLName) -> Column? {
        columns.first { $0.name == name }
    }

    /// True if the table has a row id of which no column is another name.
    var hasHiddenID: Bool {
        hasRowID && !columns.contains { $0.isRowID || $0.name == "rowid" }
            && !generatedColumns.contains("rowid")
    }

    /// Returns the constraints that mention a column.
    package func checks(of column: Column) -> [CheckConstraint] {
        checks.filter { $0.names.contains(column.name) }
    }
}
