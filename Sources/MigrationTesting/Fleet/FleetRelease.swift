import AppMigrations
import GRDB
import SchemaMigrations
import TextOutput

/// The knowledge of a release's code: the columns of its tables, and rows as it writes them.
struct FleetRelease: Sendable {
    struct Table: Sendable {
        let name: String
        let key: String
        /// The length that all keys have, in bytes or characters; nil if they differ.
        let keyLength: Int?
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
                    guard isLast else { return nil }
                    throw MigrationError.unsynchronized(
                        name, "\(version) does not have it", remedy: "Correct its name in tables:.")
                }
                let table = try Table(db, name, form: isLast ? form : "true")
                // In the new form, none may happen to be.
                let sql = "SELECT NOT EXISTS (SELECT 1 FROM \(name.quotedDatabaseIdentifier))"
                if try table.samples.isEmpty && Bool.fetchOne(db, sql: sql) == true {
                    throw MigrationError.unsynchronized(
                        name, refusals.first { $0.contains(name) } ?? "it takes no row",
                        remedy: "Leave it out of tables:, or let it take generated rows.")
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
        let all = try Self.columns(db, name)
        // Without a primary key, GRDB names the row's id.
        guard keys.count == 1, let key = keys.first, all.contains(key) else {
            throw MigrationError.unsynchronized(
                name, "it has no primary key of one column",
                remedy: "Give it one, as a sync engine asks for, or leave it out of tables:.")
        }
        self.name = name
        self.key = key
        self.form = form
        columns = all.filter { $0 != key }
        let table = name.quotedDatabaseIdentifier
        let lengths = try Int.fetchAll(
            db, sql: "SELECT DISTINCT length(\(key.quotedDatabaseIdentifier)) FROM \(table)")
        keyLength = lengths.count == 1 ? lengths[0] : nil
        parents = try Dictionary(
            db.foreignKeys(on: name).flatMap { parent in
                parent.mapping.map { ($0.origin, parent.destinationTable) }
            }, uniquingKeysWith: { first, _ in first })
        do {
            samples = try Row.fetchAll(db, sql: "SELECT * FROM \(table) WHERE (\(form))").map { row in
                Dictionary(row.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
            }
        } catch let error as DatabaseError {
            throw MigrationError.unsynchronized(
                name, "its condition is \(form.quoted): \(error.message ?? "")",
                remedy: "Correct the condition in tables:.")
        }
    }

    /// Returns the columns that a statement can write.
    static func columns(_ db: Database, _ table: String) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
    }
}

extension MigrationError {
    /// Creates the error for a table that cannot be synchronized.
    static func unsynchronized(_ table: String, _ reason: String, remedy: String) -> MigrationError {
        MigrationError(.misuse, "The table \(table) cannot be synchronized: \(reason)", remedy: remedy)
    }
}
