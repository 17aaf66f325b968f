package import GRDB
package import SchemaMigrations

/// The schema, the number of rows and the broken references of a database at one moment.
package struct Inventory: Sendable {
    /// The schema.
    package let schema: DatabaseSchema
    /// The number of rows of each table.
    package let rows: [SQLName: Int]
    /// The number of rows that refer to missing rows, by foreign key.
    package let orphans: [Key: Int]
    /// The highest ids that tables with `AUTOINCREMENT` ever had.
    package let sequences: AutoincrementSequences
    /// The size in bytes.
    package let size: Int64

    /// A pair of tables, one of which refers to the other.
    package struct Key: Hashable, Comparable, Sendable {
        /// The table that refers.
        package let table: SQLName
        /// The table that is referred to.
        package let parent: SQLName

        package init(table: SQLName, parent: SQLName) { (self.table, self.parent) = (table, parent) }

        package static func < (one: Key, other: Key) -> Bool {
            (one.table, one.parent) < (other.table, other.parent)
        }
    }

    /// Reads a database.
    package init(_ db: Database) throws {
        schema = try DatabaseSchema(db)
        var rows: [SQLName: Int] = [:]
        for object in schema.objects.values where object.type == "table" {
            // Leave out a virtual table whose module is not registered.
            rows[object.name] = try? Int.fetchOne(
                db, sql: "SELECT count(*) FROM \(object.name.inMain)")
        }
        self.rows = rows
        var orphans: [Key: Int] = [:]
        for table in rows.keys {
            let found: [Row]
            do {
                found = try Row.fetchAll(db, sql: "PRAGMA main.foreign_key_check(\(table.sql))")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                // A key does not match its parent: no row can be right or wrong, and a launch warns at most.
                continue
            }
            for row in found { orphans[Key(table: row["table"], parent: row["parent"]), default: 0] += 1 }
        }
        self.orphans = orphans
        sequences = try AutoincrementSequences(db)
        size =
            try Int64.fetchOne(
                db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            ?? 0
    }

    /// Returns the tables that may give the ids of deleted rows again, since their sequences went back.
    ///
    /// The new table of a rebuild begins a new sequence, which goes on from the rows that it is given.
    package func lostSequences(
        since before: Inventory
    ) -> [(table: SQLName, before: Int64, after: Int64)] {
        sequences.differences(from: before.sequences)
            .filter { $0.number < $0.other && schema.hasSequence($0.table) }
            .map { (table: $0.table, before: $0.other, after: $0.number) }
    }
}
