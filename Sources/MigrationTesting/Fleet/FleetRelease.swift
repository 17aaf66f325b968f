import AppMigrations
import GRDB
import SchemaMigrations

/// The knowledge of a release's code: the columns of its tables, and rows as it writes them.
struct FleetRelease: Sendable {
    struct Table: Sendable {
        let name: String
        let key: String
        /// The columns besides the key.
        let columns: [String]
        /// The tables that columns refer to.
        let parents: [String: String]
        /// Rows as the release writes them.
        let samples: [[String: DatabaseValue]]
        /// The SQL condition of the rows that the release writes.
        let form: String
    }

    let version: AppVersion
    let tables: [Table]

    /// Reads what a release makes on a new device.
    ///
    /// - Parameter forms: the condition of rows in the new form for each synchronized table.
    /// - Parameter isLast: whether the release writes the new form.
    init(_ version: AppVersion, forms: [String: String], isLast: Bool, in database: DatabaseQueue) throws {
        self.version = version
        tables = try database.write { db in
            let refusals = try RowGenerator(rowsPerTable: 12).fill(db)
            return try forms.sorted { $0.key < $1.key }.compactMap { name, form in
                guard try db.tableExists(name) else {
                    if isLast { throw FleetTableError(table: name, reason: "\(version) does not have it") }
                    return nil
                }
                let table = try Table(db, name, form: isLast ? form : "true")
                // In the new form, none may happen to be.
                let sql = "SELECT NOT EXISTS (SELECT 1 FROM \(name.quotedDatabaseIdentifier))"
                if try table.samples.isEmpty && Bool.fetchOne(db, sql: sql) == true {
                    throw FleetTableError(
                        table: name, reason: refusals.first { $0.contains(name) } ?? "it takes no row")
                }
                return table
            }
        }
    }

    /// Returns the table of a name that the release knows.
    func table(_ name: String) -> Table? { tables.first { SQLName($0.name) == SQLName(name) } }
}

extension FleetRelease.Table {
    init(_ db: Database, _ name: String, form: String) throws {
        let keys = try db.primaryKey(name).columns
        guard keys.count == 1, let key = keys.first else {
            throw FleetTableError(table: name, reason: "it has no primary key of one column")
        }
        self.name = name
        self.key = key
        self.form = form
        columns = try Self.columns(db, name).filter { $0 != key }
        parents = try Dictionary(
            db.foreignKeys(on: name).flatMap { parent in
                parent.mapping.map { ($0.origin, parent.destinationTable) }
            }, uniquingKeysWith: { first, _ in first })
        samples = try Row.fetchAll(
            db, sql: "SELECT * FROM \(name.quotedDatabaseIdentifier) WHERE (\(form))"
        )
        .map { row in
            Dictionary(row.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Returns the columns that a statement can write.
    static func columns(_ db: Database, _ table: String) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
    }
}

/// An error that says that a table cannot be synchronized.
struct FleetTableError: Error, CustomStringConvertible {
    let table: String
    let reason: String

    var description: String { "The table \(table) cannot be synchronized: \(reason)." }
}
