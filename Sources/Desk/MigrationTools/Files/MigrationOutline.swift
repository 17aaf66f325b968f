package import SchemaMigrations

/// The properties of a migration that can be read without running it.
package struct MigrationOutline: Sendable {
    /// The migration's version.
    package let version: SchemaVersion
    /// The name that the ledger would record.
    package let name: String
    /// The name that messages use, which is the file's if there is one.
    package let title: String
    /// The number of statements; nil for a migration in Swift.
    package let statements: Int?
    /// True if each statement is the definition that a table is to have.
    package let redefines: Bool
    /// The enforcement of foreign keys while the migration runs.
    package let foreignKeys: ForeignKeys
    /// True if the migration runs in the transaction that records it.
    package let isInTransaction: Bool
    /// True if the migration can be rolled back.
    package let isReversible: Bool

    /// Reads a migration, without running it.
    ///
    /// - Throws: `MigrationError`, if it must not be run as it is.
    package init(_ migration: any SchemaMigration) throws {
        let script = try (migration as? any SQLSource)?.script()
        version = migration.version
        name = migration.name
        title = migration.title
        statements = script?.statements.count
        redefines = script?.settings.redefines ?? false
        foreignKeys = script?.settings.foreignKeys ?? migration.foreignKeys
        isInTransaction = script?.settings.transaction != SQLFileSettings.Transaction.none
        isReversible = migration.isReversible
    }
}
