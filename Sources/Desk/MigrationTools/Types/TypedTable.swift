import GRDB
import SchemaMigrations

/// A table or a view of a schema, with what a Swift type for its rows needs.
struct TypedTable: Sendable {
    enum Kind: Sendable {
        case table
        case view
        case virtualTable
    }

    /// The part that a column plays.
    enum Role: Sendable {
        case stored
        /// SQLite computes it (gencol.html).
        case generated
        /// SQLite chooses the key of a new row (lang_createtable.html, 5).
        case automaticKey
        /// The id of a row whose table has no key.
        case rowID
    }

    struct Column: Sendable {
        let name: SQLName
        /// The declared type; empty if there is none.
        let type: String
        let isOptional: Bool
        let role: Role
        let coding: ColumnCoding
    }

    let name: SQLName
    let kind: Kind
    let columns: [Column]
    /// The columns of the primary key, in the key's order.
    let key: [SQLName]

    /// True if rows can be written.
    ///
    /// GRDB does not double the quotation marks in names.
    var isWritable: Bool { kind == .table && !columns.contains { $0.name.text.contains("\"") } }

    /// Reads the tables and views of a database, by name.
    ///
    /// It leaves out SQLite's tables, this package's, GRDB's list of migrations and the shadows of virtual tables.
    static func fetchAll(_ db: Database, mapping: ColumnTypes) throws -> [TypedTable] {
        let options = try Row.fetchAll(
            db, sql: "SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main'")
        let byName = Dictionary(options.map { ($0["name"] as SQLName, $0) }, uniquingKeysWith: { $1 })
        return try SchemaObject.fetchAll(db)
            .filter { ["table", "view"].contains($0.type) }
            // GRDB does not double the quotation mark, so that no statement finds the table.
            .filter { !$0.name.text.contains("\"") }
            .sorted { $0.name.text < $1.name.text }
            .map { object in
                try TypedTable(
                    db, object, isWithoutRowID: byName[object.name]?["wr"] ?? false,
                    isStrict: byName[object.name]?["strict"] ?? false, mapping: mapping)
            }
    }

    private init(
        _ db: Database, _ object: SchemaObject, isWithoutRowID: Bool, isStrict: Bool, mapping: ColumnTypes
    ) throws {
        name = object.name
        let kind: Kind = object.type == "view" ? .view : object.isVirtual ? .virtualTable : .table
        self.kind = kind
        // pragma.html, table_xinfo: 1 is a hidden column of a virtual table, 2 and 3 are generated columns.
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main') ORDER BY cid", arguments: [name]
        ).filter { $0["hidden"] as Int != 1 }
        let ranked = rows.map { (rank: $0["pk"] as Int, name: $0["name"] as SQLName) }.filter { $0.rank > 0 }
            .sorted { $0.rank < $1.rank }.map(\.name)
        let isAlias = try !isWithoutRowID && kind == .table && Self.isRowIDAlias(db, name, ranked, rows)
        let fullText = FullTextTable(object)
        let contents = try Self.declaredTypes(db, fullText?.contentTable)
        var columns = rows.map { [name] row in
            let column: SQLName = row["name"]
            let type: String = row["type"] ?? ""
            let isGenerated = row["hidden"] as Int > 1
            let coding =
                mapping.coding(of: column, in: name)
                ?? (fullText != nil && contents.isEmpty
                    ? .plain("String")
                    : ColumnCoding(declared: contents[column] ?? type, isStrict: isStrict))
            let isRequired = row["notnull"] != 0 || ranked.contains(column)
            return Column(
                name: column, type: type,
                isOptional: coding != .any && (kind != .table || isGenerated || !isRequired),
                role: isGenerated ? .generated : isAlias && ranked == [column] ? .automaticKey : .stored,
                coding: coding)
        }
        if kind == .table, !isWithoutRowID, ranked.isEmpty, !columns.contains(where: { $0.name == "rowid" }) {
            columns.insert(
                Column(name: "rowid", type: "", isOptional: false, role: .rowID, coding: .plain("Int64")),
                at: 0)
            key = ["rowid"]
        } else {
            key = ranked
        }
        self.columns = columns
    }

    /// Returns the declared types of the columns of the table from which a full-text table reads its texts.
    ///
    /// That table may hold anything else, and the full-text table shows it unchanged (fts5.html, 4.4.3).
    private static func declaredTypes(_ db: Database, _ table: SQLName?) throws -> [SQLName: String] {
        guard let table else { return [:] }
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, type FROM pragma_table_xinfo(?, 'main')", arguments: [table])
        return Dictionary(rows.map { ($0["name"], $0["type"] ?? "") }, uniquingKeysWith: { $1 })
    }

    /// Returns whether a key is another name of the row's id.
    private static func isRowIDAlias(
        _ db: Database, _ table: SQLName, _ key: [SQLName], _ rows: [Row]
    ) throws -> Bool {
        guard key.count == 1, let row = rows.first(where: { $0["name"] as SQLName == key[0] }),
            SQLName(row["type"] ?? "") == "integer"
        else { return false }
        // Only a key that is none has an index (lang_createtable.html, 5: `INTEGER PRIMARY KEY DESC`).
        return try Row.fetchOne(
            db, sql: "SELECT 1 FROM pragma_index_list(?, 'main') WHERE origin = 'pk'", arguments: [table])
            == nil
    }
}
