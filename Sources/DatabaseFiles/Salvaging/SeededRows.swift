import GRDB
import SchemaMigrations

/// The rows of a new database that its migrations have inserted into one table.
///
/// The damaged database has them as the app has left them: changed, or deleted. So they are taken out before its rows come, and only
/// those come back that can have been on a page that is lost. They do not count as saved.
struct SeededRows {
    private(set) var layout: TableLayout
    let table: SQLName
    private let copy: String
    /// The columns with values of their own, without an id that is none.
    private var names: [SQLName]
    private var values: [String] { names.map(\.sql) }
    private var columns: String { ((layout.hiddenRowid.map { [$0] } ?? []) + values).joined(separator: ", ") }
    private var copied: String {
        ((layout.hiddenRowid.map { _ in ["app_migrations_id"] } ?? []) + values).joined(separator: ", ")
    }

    /// Takes the rows out of a table.
    ///
    /// - Parameter table: another one than that of the layout, if it is virtual.
    /// - Returns: nil if there are none.
    init?(of layout: TableLayout, in table: SQLName, _ db: Database) throws {
        (self.layout, self.table) = (layout, table)
        let name = SQLName("app_migrations_seeds_of_\(table.text)").sql
        // Rows are found by their number, one by one.
        let index = SQLName("app_migrations_numbers_of_\(table.text)").sql
        copy = "temp.\(name)"
        names = layout.values
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table.inMain))") == true else {
            return nil
        }
        try db.execute(
            sql: """
                CREATE TABLE \(copy) AS SELECT row_number() OVER () AS app_migrations_number,
                    \(layout.rowid ?? "NULL") AS app_migrations_id, \(values.joined(separator: ", ")) FROM \(table.inMain);
                CREATE INDEX temp.\(index) ON \(name)(app_migrations_number);
                DELETE FROM \(table.inMain)
                """)
    }

    /// Returns the same rows, for a table with other columns; nil if it has none of theirs.
    func fitting(_ layout: TableLayout) -> SeededRows? {
        var rows = self
        rows.layout = layout
        rows.names = names.filter(layout.values.contains)
        return rows.names.isEmpty ? nil : rows
    }

    /// Puts rows back whose keys are free.
    ///
    /// - Parameter mayBeLost: returns whether the row with an id can have been where something is lost.
    func putBack(_ db: Database, where mayBeLost: (Int64?) -> Bool) throws {
        let condition = "WHERE app_migrations_number = ?"
        let removal = try db.makeStatement(sql: "DELETE FROM \(copy) \(condition)")
        for (number, id) in try numbers(db) where !mayBeLost(id) {
            try removal.execute(arguments: [number])
        }
        if layout.hiddenRowid != nil { try removeThoseElsewhere(db) }
        let insertion = try db.makeStatement(
            sql:
                "INSERT OR IGNORE INTO \(table.inMain)(\(columns)) SELECT \(copied) FROM \(copy) \(condition)"
        )
        for (number, _) in try numbers(db) {
            try insertion.execute(arguments: [number])
            if db.changesCount == 0 { try removal.execute(arguments: [number]) }
        }
    }

    private func numbers(_ db: Database) throws -> [(Int64, id: Int64?)] {
        try Row.fetchAll(db, sql: "SELECT app_migrations_number, app_migrations_id FROM \(copy)")
            .map { ($0[0], $0[1]) }
    }

    /// Leaves out rows without a key that are there under another id, which `VACUUM` gives (lang_vacuum.html).
    private func removeThoseElsewhere(_ db: Database) throws {
        let same = values.map { "its.\($0) IS seed.\($0)" }.joined(separator: " AND ")
        try db.execute(
            sql: """
                DELETE FROM \(copy) WHERE app_migrations_number IN
                    (SELECT seed.app_migrations_number FROM \(copy) AS seed, \(table.inMain) AS its WHERE \(same))
                """)
    }

    /// Returns the number of rows that were put back, and are not there any more.
    func countOfRemoved(_ db: Database) throws -> Int {
        let rows = "SELECT \(copied) FROM \(copy) EXCEPT SELECT \(columns) FROM \(table.inMain)"
        return try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(rows))") ?? 0
    }

    /// Forgets the rows.
    func remove(_ db: Database) throws { try db.execute(sql: "DROP TABLE \(copy)") }
}

extension TableLayout {
    /// The columns with values of their own.
    fileprivate var values: [SQLName] { columns.filter { !$0.isGenerated }.map(\.name) }

    /// The name of the rows' id; nil if they have none.
    var rowid: String? { columns.first { $0.isRowid }?.name.sql ?? hiddenRowid }

    /// The name of the rows' id, if they have one that is no column.
    var hiddenRowid: String? {
        guard hasRowid, !columns.contains(where: \.isRowid) else { return nil }
        let taken = virtualColumns.union(columns.map(\.name))
        return ["rowid", "_rowid_", "oid"].first { !taken.contains(SQLName($0)) }
    }
}
