import GRDB
import SchemaMigrations

/// The columns of a table, or of an index, in the order in which a row's record has them.
struct TableLayout {
    struct Column {
        let name: SQLName
        let affinity: Affinity
        /// True if a row cannot have a null.
        let isRequired: Bool
        /// True if the row's id is the value, and the record has a null (fileformat2.html, 2.3).
        var isRowid = false
        var isGenerated = false
        /// True if the column is declared for blobs, and not merely without a type.
        var isForBlobs = false
        var hasDefault = false
        /// The kind of all values, blobs or integers, if only SQLite itself writes them.
        var ownValue: Affinity?
    }

    let name: SQLName
    let hasRowid: Bool
    let isIndex: Bool
    let columns: [Column]
    /// The columns that no row has, as their values are always computed.
    let virtualColumns: Set<SQLName>
    /// The number of columns that `ALTER TABLE` cannot have added, as far as the definition tells (lang_altertable.html, 4).
    let fewestAtFirst: Int
    /// The number of columns that the table began with: rows from before a column was added are shorter.
    private(set) var fewestColumns: Int

    /// Reads the layouts of all tables and indexes.
    static func fetchAll(_ db: Database) throws -> [TableLayout] {
        let tables = try Row.fetchAll(
            db,
            sql: """
                SELECT name, wr, strict, type = 'shadow' AS shadow FROM pragma_table_list
                WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema'
                """)
        let shadows = try ShadowTables(db)
        var layouts: [TableLayout] = []
        for row in tables {
            let name: SQLName = row["name"]
            let table = try TableLayout(
                name, isWithoutRowid: row["wr"], isStrict: row["strict"],
                isShadow: row["shadow"] && shadows.contains(name), db)
            layouts.append(table)
            layouts += try table.indexes(db)
        }
        return layouts + [.schema]
    }

    private init(
        _ name: SQLName, isWithoutRowid: Bool, isStrict: Bool, isShadow: Bool, _ db: Database
    ) throws {
        let all = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main')", arguments: [name])
        let rows = all.filter { $0["hidden"] as Int != 2 }
        virtualColumns = Set(all.filter { $0["hidden"] as Int == 2 }.map { $0["name"] })
        let keys = rows.filter { $0["pk"] as Int > 0 }
        let hasKeyIndex = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?, 'main') WHERE origin = 'pk')",
            arguments: [name])
        let hasAlias = !isWithoutRowid && hasKeyIndex == false && keys.count == 1
        let columns = rows.map { row in
            let type = Self.type(of: row["name"], declared: row["type"] ?? "", in: name)
            let isKey = row["pk"] as Int > 0
            return Column(
                name: row["name"], affinity: Affinity(type: type, isStrict: isStrict),
                isRequired: row["notnull"] as Bool || isKey && isWithoutRowid, isRowid: isKey && hasAlias,
                isGenerated: row["hidden"] as Int == 3,
                isForBlobs: type.uppercased().contains("BLOB"),
                hasDefault: row["dflt_value"] as String? != nil,
                ownValue: isShadow ? Self.ownValue(row["name"], in: name) : nil)
        }
        let places = rows.indices.sorted { first, second in
            // withoutrowid.html: the key comes first.
            guard isWithoutRowid else { return first < second }
            func rank(_ index: Int) -> (Int, Int) {
                let key: Int = rows[index]["pk"]
                return (key == 0 ? Int.max : key, index)
            }
            return rank(first) < rank(second)
        }
        (self.name, hasRowid, isIndex) = (name, !isWithoutRowid, false)
        self.columns = places.map { columns[$0] }
        fewestColumns = columns.count
        // SQLite adds none to its own tables.
        guard !isShadow, !name.folded.hasPrefix("sqlite_") else {
            fewestAtFirst = columns.count
            return
        }
        let unique = try SQLName.fetchSet(
            db,
            sql: """
                SELECT info.name FROM pragma_index_list(?, 'main') AS list, pragma_index_info(list.name, 'main') AS info
                WHERE list.origin <> 'c'
                """, arguments: [name])
        let last = self.columns.lastIndex { column in
            column.isRowid || column.isRequired && !column.hasDefault || unique.contains(column.name)
        }
        fewestAtFirst = (last ?? 0) + 1
    }

    /// The type of a column.
    ///
    /// SQLite declares none for the last keys and the statistics of tables, nor for the pages of full-text tables, and knows
    /// what it writes there.
    private static func type(of column: SQLName, declared: String, in table: SQLName) -> String {
        guard declared.isEmpty else { return declared }
        let types: [SQLName: String] =
            switch table.folded {
            case "sqlite_sequence": ["name": "TEXT", "seq": "INTEGER"]
            case "sqlite_stat1": ["tbl": "TEXT", "idx": "TEXT", "stat": "TEXT"]
            case let name where name.hasSuffix("_idx"):
                ["segid": "INTEGER", "term": "BLOB", "pgno": "INTEGER"]
            default: [:]
            }
        return types[column] ?? declared
    }

    /// Returns the kind of all values in a column of a table that a full-text table or an R-tree has made; nil if the app may write there.
    private static func ownValue(_ column: SQLName, in shadow: SQLName) -> Affinity? {
        let columns: [(table: String, column: String, value: Affinity)] = [
            ("_data", "block", .blob), ("_segments", "block", .blob), ("_docsize", "sz", .blob),
            ("_docsize", "size", .blob), ("_node", "data", .blob), ("_parent", "parentnode", .integer),
            ("_rowid", "nodeno", .integer),
        ]
        return columns.first { shadow.folded.hasSuffix($0.table) && column.folded == $0.column }?.value
    }

    /// Creates the layout of what no columns are added to.
    private init(name: SQLName, hasRowid: Bool, isIndex: Bool, columns: [Column]) {
        (self.name, self.hasRowid, self.isIndex) = (name, hasRowid, isIndex)
        (self.columns, virtualColumns) = (columns, [])
        (fewestAtFirst, fewestColumns) = (columns.count, columns.count)
    }

    /// The indexes of the table, whose pages look like those of a table `WITHOUT ROWID`.
    private func indexes(_ db: Database) throws -> [TableLayout] {
        let names = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_index_list(?, 'main') WHERE NOT (origin = 'pk' AND ?)",
            arguments: [name, !hasRowid])
        return try names.map { index in
            let parts = try Row.fetchAll(
                db, sql: "SELECT cid, name FROM pragma_index_xinfo(?, 'main')", arguments: [index])
            let columns = parts.map { part in
                let column = (part["name"] as SQLName?).flatMap { name in
                    self.columns.first { $0.name == name }
                }
                let isRowid = part["cid"] as Int == -1
                let affinity = isRowid ? Affinity.integer : column?.affinity ?? .blob
                return Column(
                    name: column?.name ?? "rowid", affinity: affinity, isRequired: isRowid)
            }
            return TableLayout(name: index, hasRowid: false, isIndex: true, columns: columns)
        }
    }

    /// The table of the schema itself, which the pages of another table must not be mixed up with.
    private static let schema = TableLayout(
        name: "sqlite_schema", hasRowid: true, isIndex: false,
        columns: ["type", "name", "tbl_name", "rootpage", "sql"].map {
            Column(
                name: $0, affinity: $0 == "rootpage" ? .integer : .text,
                isRequired: ["type", "name", "tbl_name"].contains($0))
        })

    /// Returns the layout of rows that may be shorter.
    func withFewest(_ count: Int) -> TableLayout {
        var layout = self
        layout.fewestColumns = min(columns.count, count)
        return layout
    }

    enum Strictness {
        /// The schema leads to the row, so it may be shorter than any that is known of the table.
        case stored
        /// The values are some that SQLite can have stored in the columns.
        case possible
        /// The values have the types that the columns are declared with.
        case typical
    }

    /// Returns true if a record can be a row of the table.
    func fits(_ record: SavedRecord, rowid: Int64?, _ strictness: Strictness) -> Bool {
        guard (rowid != nil) == hasRowid, record.values.count <= columns.count,
            record.values.count >= (strictness == .stored ? 1 : fewestColumns)
        else { return false }
        // By their places: a copy of each column would count its name's references.
        for index in columns.indices {
            guard index < record.values.count else {
                if columns[index].isRequired && !columns[index].hasDefault { return false }
                continue
            }
            let value = record.values[index]
            if columns[index].isRowid {
                guard value == .null else { return false }
            } else if value == .null {
                if columns[index].isRequired { return false }
            } else if columns[index].ownValue == .integer {
                guard case .integer = value else { return false }
            } else if columns[index].ownValue != nil || strictness == .typical && columns[index].isForBlobs {
                guard case .blob = value else { return false }
            } else if !columns[index].affinity.allows(value, strictness) {
                return false
            }
        }
        return true
    }
}

extension Affinity {
    /// Returns true if a column of this affinity can hold a value (datatype3.html, 3).
    fileprivate func allows(_ value: SavedRecord.Value, _ strictness: TableLayout.Strictness) -> Bool {
        switch (self, value) {
        case (.blob, _), (_, .null): true
        case (.text, .text): true
        case (.text, .integer), (.text, .real): false
        case (.integer, .integer), (.numeric, .integer), (.numeric, .real): true
        case (.real, .integer), (.real, .real): true
        // Dates, for instance.
        case (.numeric, .text): true
        default: strictness != .typical
        }
    }
}

extension TableLayout {
    /// Returns the layout with other names of its first columns, to which none are added.
    func renamed(columns names: [SQLName]) -> TableLayout {
        let renamed = zip(columns, names).map { column, name in
            Column(
                name: name, affinity: column.affinity, isRequired: column.isRequired, isRowid: column.isRowid,
                isGenerated: column.isGenerated, isForBlobs: column.isForBlobs, hasDefault: column.hasDefault)
        }
        return TableLayout(name: name, hasRowid: hasRowid, isIndex: false, columns: renamed)
    }
}
