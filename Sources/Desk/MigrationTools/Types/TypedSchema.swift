package import GRDB
import SchemaMigrations

/// The tables and views of a schema at a version.
package struct TypedSchema: Sendable {
    /// The version, or the identifier of one of GRDB's migrations.
    let version: String
    /// The name of the migration; empty if the version says all.
    let migration: String
    let tables: [TypedTable]

    /// Reads the schema of a database.
    package init(_ db: Database, version: String, migration: String = "", mapping: ColumnTypes) throws {
        self.version = version
        self.migration = migration
        tables = try TypedTable.fetchAll(db, mapping: mapping)
    }
}
