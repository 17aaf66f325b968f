import GRDB
import SchemaMigrations

/// The rows of a new database that its migrations have inserted into one table.
///
/// The damaged database has them as the app has left them: changed, or deleted. So they are taken out before its rows come, and only
/// those come back that can have been on a page that is lost.
struct SeededRows {
    private let layout: TableLayout
    private let copy: SQLName
    private let columns: String

    /// Takes the rows out of a table.
    ///
    /// - Parameter number: another one for each table.
    /// - Returns: nil if there are none.
    init?(of layout: TableLayout, number: Int, _ db: Database) throws {
        self.layout = layout
        copy = SQLName("app_migrations_seeds_\(number)")
        columns =
            ((layout.hiddenRowid.map { [$0] } ?? [])
            + layout.columns.filter { !$0.isGenerated }.map(\.name.sql)).joined(separator: ", ")
        let table = layout.name.inMain
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table))") == true else { return nil }
        try db.execute(
            sql: """
                CREATE TEMP TABLE \(copy.sql) AS SELECT \(layout.rowid ?? "NULL") AS app_migrations_id, \(columns) FROM \(table);
                DELETE FROM \(table)
                """)
    }

    /// Puts rows back whose keys are free.
    ///
    /// - Parameter mayBeLost: returns whether the row with an id can have been on a page that is lost.
    func putBack(_ db: Database, where mayBeLost: (Int64) -> Bool) throws {
        let insertion = """
            INSERT OR IGNORE INTO \(layout.name.inMain)(\(columns)) SELECT \(columns) FROM temp.\(copy.sql)
            """
        if layout.rowid == nil {
            if mayBeLost(0) { try db.execute(sql: insertion) }
        } else {
            let ids = try Int64.fetchAll(db, sql: "SELECT app_migrations_id FROM temp.\(copy.sql)")
            for id in ids where mayBeLost(id) {
                try db.execute(sql: "\(insertion) WHERE app_migrations_id = ?", arguments: [id])
            }
        }
        try db.execute(sql: "DROP TABLE temp.\(copy.sql)")
    }
}

extension TableLayout {
    /// The name of the rows' id; nil if they have none.
    var rowid: String? { columns.first { $0.isRowid }?.name.sql ?? hiddenRowid }

    /// The name of the rows' id, if they have one that is no column.
    var hiddenRowid: String? {
        guard hasRowid, !columns.contains(where: \.isRowid) else { return nil }
        return ["rowid", "_rowid_", "oid"].first { name in !columns.contains { $0.name == SQLName(name) } }
    }
}
