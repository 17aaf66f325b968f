/// The tables that this package and GRDB keep in a database, beside the app's.
package enum OwnTables {
    /// The name of the ledger's table, with which that of its details begins.
    package static let ledger = "schema_migrations"

    /// The table with what else is known of applied migrations.
    package static let details: SQLName = "schema_migrations_details"

    /// The table with the records of managers.
    package static let records = "app_migrations"

    /// The table with a copy of each row of ``records``, for salvaging.
    package static let mirror = "app_migrations_mirror"

    /// The table with the history of managers.
    package static let history = "app_migrations_history"

    /// The beginning of the names of tables with records that were damaged, and set aside.
    static let asidePrefix = "app_migrations_damaged_"

    /// The table in which a database that was moved notes it.
    package static let moves: SQLName = "app_migrations_moved"

    /// The table with the migrations of GRDB's migrator that older builds of the app can live with.
    package static let compatible: SQLName = "app_migrations_compatible"

    /// The table in which GRDB's own migrator records its applied migrations.
    package static let ofGRDB: SQLName = "grdb_migrations"

    /// The tables that this package keeps, except those that were set aside.
    static let all: Set<SQLName> = [
        SQLName(ledger), details, SQLName(records), SQLName(mirror), SQLName(history),
        moves, compatible,
    ]

    /// Returns true if this package keeps the table.
    package static func contains(_ table: SQLName) -> Bool {
        all.contains(table) || table.folded.hasPrefix(asidePrefix)
    }

    /// Returns true if this package or GRDB's migrator keeps the table.
    package static func isOfMigrator(_ table: SQLName) -> Bool { contains(table) || table == ofGRDB }
}
