import AppMigrations
package import GRDB
import SchemaMigrations
import TextOutput

// A real database's indexes are in the order of the app's collations, and its full-text tables hold the words of the app's
// tokenizers. With stand-ins, SQLite would look for them in other places, and find nothing (lang_reindex.html).
extension StandIns {
    /// Returns a copy in memory whose indexes are in the order of the stand-ins; nil if the database's schema names none.
    ///
    /// - Throws: `MigrationError`, if a table itself is in the order of the app's, or the values do not fit.
    package func reindexedCopy(of database: DatabaseQueue) throws -> DatabaseQueue? {
        guard try !database.read(names(in:)).isEmpty else { return nil }
        if let table = try database.read(tableInOrder(in:)) {
            throw MigrationError(
                .misuse, "Table \(table.quoted) is WITHOUT ROWID, and in the order of a collation of the app",
                remedy: "Let the app, or its tests, do this: the library has it as well.")
        }
        let copy = try database.configuration.scratchDatabase()
        try database.backup(to: copy)
        do {
            try copy.writeWithoutTransaction { try $0.execute(sql: "REINDEX") }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw MigrationError(
                .misuse, "Rows do not fit the stand-ins of \(CodeRules.fileName): \(error.message ?? "")",
                remedy: "Leave out what follows `=` there, so that they tell apart what the app's do.")
        }
        return copy
    }

    /// Returns what the schema of a database names, such as ``function `slug` ``.
    package func names(in db: Database) throws -> [String] {
        let names = try Set(SchemaObject.fetchAll(db).flatMap(\.names))
        return used.filter { names.contains($0.name) }.map(\.title).sorted()
    }

    /// Returns a table whose rows are in the order of a collation.
    private func tableInOrder(in db: Database) throws -> String? {
        let names = used.filter { $0.kind == .collation }.map(\.name)
        let found = try Row.fetchAll(
            db,
            sql: """
                SELECT tables.name, columns.coll FROM pragma_table_list AS tables, pragma_index_list(tables.name) AS indexes,
                    pragma_index_xinfo(indexes.name) AS columns
                WHERE tables.schema = 'main' AND tables.wr AND indexes.origin = 'pk' AND columns.key
                """)
        return found.first { names.contains($0["coll"] as SQLName) }.map { $0["name"] }
    }
}
