import GRDB
import MigrationTools
import SchemaMigrations

/// The columns, keys and constraints of a table, which determine the rows that it accepts.
struct TableLayout: Sendable {
    /// A column that takes values.
    struct Column: Sendable {
        let name: SQLName
        /// The declared type, in upper case.
        let type: String
        let isRequired: Bool
        /// Whether the column is part of the primary key or of another unique index.
        let isUnique: Bool
        /// Whether the column is another name of the row's id (lang_createtable.html, section 5).
        let isRowID: Bool
    }

    /// A foreign key.
    struct Reference: Sendable {
        let parent: SQLName
        let columns: [SQLName]
        let parentColumns: [SQLName]
    }

    let name: SQLName
    let columns: [Column]
    let references: [Reference]
    let checks: [CheckConstraint]
    /// Whether the table has a row id.
    let hasRowID: Bool
    /// The columns of the primary key, in the key's order.
    let primaryKey: [SQLName]

    /// Reads the tables of a database, each after those that it refers to if possible.
    ///
    /// It leaves out virtual tables and their shadow tables, SQLite's tables, and this package's.
    static func fetchAll(_ db: Database) throws -> [TableLayout] {
        let names = try Row.fetchAll(
            db,
            sql:
                "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')"
        )
        let withoutRowID = Set(names.filter { $0["wr"] as Int != 0 }.map { $0["name"] as SQLName })
        let tables = try SchemaObject.fetchAll(db).filter { $0.type == "table" && !$0.isVirtual }
            .map { try TableLayout(db, $0, hasRowID: !withoutRowID.contains($0.name)) }
        return parentsFirst(tables.sorted { $0.name.text < $1.name.text })
    }

    private init(_ db: Database, _ object: SchemaObject, hasRowID: Bool) throws {
        name = object.name
        self.hasRowID = hasRowID
        checks = CheckConstraint.all(in: object.sql)
        let unique = try Set(
            SQLName.fetchAll(
                db,
                sql: """
                    SELECT column.name FROM pragma_index_list(?, 'main') AS list,
                        pragma_index_info(list.name, 'main') AS column
                    WHERE list."unique" AND column.name IS NOT NULL
                    """, arguments: [name]))
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0 ORDER BY cid",
            arguments: [name])
        primaryKey = rows.map { (rank: $0["pk"] as Int, name: $0["name"] as SQLName) }
            .filter { $0.rank > 0 }.sorted { $0.rank < $1.rank }.map(\.name)
        let keyCount = primaryKey.count
        columns = rows.map { row in
            let name: SQLName = row["name"]
            let type = (row["type"] as String).uppercasedASCII
            let isKey = row["pk"] as Int > 0
            return Column(
                name: name, type: type, isRequired: row["notnull"] as Int != 0 || isKey,
                isUnique: isKey || unique.contains(name),
                isRowID: isKey && hasRowID && keyCount == 1 && type == "INTEGER")
        }
        references = try Self.references(of: name, db)
    }

    private static func references(of table: SQLName, _ db: Database) throws -> [Reference] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq", arguments: [table])
        return try Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }.map { _, rows in
            let parent: SQLName = rows[0]["table"]
            var targets = rows.compactMap { $0["to"] as SQLName? }
            if targets.isEmpty {
                targets = try SQLName.fetchAll(
                    db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk",
                    arguments: [parent])
            }
            return Reference(parent: parent, columns: rows.map { $0["from"] }, parentColumns: targets)
        }
    }

    private static func parentsFirst(_ tables: [TableLayout]) -> [TableLayout] {
        let byName = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var sorted: [TableLayout] = []
        var seen: Set<SQLName> = []
        func visit(_ table: TableLayout) {
            guard seen.insert(table.name).inserted else { return }
            for reference in table.references { byName[reference.parent].map(visit) }
            sorted.append(table)
        }
        tables.forEach(visit)
        return sorted
    }

    func column(named name: SQLName) -> Column? {
        columns.first { $0.name == name }
    }

    /// Returns the constraints that mention a column.
    func checks(of column: Column) -> [CheckConstraint] {
        checks.filter { $0.names.contains(column.name) }
    }
}
