/// The mode of foreign keys while a migration runs, named as in GRDB.
///
/// A `.sql` file chooses in a comment before its first statement, and a migration in Swift with its
/// ``SchemaMigration/foreignKeys``:
///
/// ```sql
/// -- migrations: foreign-keys=immediate
/// DELETE FROM loan WHERE returned < '2020';
/// ```
///
/// SQLite cannot change this inside a transaction, so the migrator sets it before it begins one.
public enum ForeignKeys: Sendable, Hashable {
    /// The default: SQLite enforces no foreign keys while the migration runs, and the migrator checks them
    /// before the commit.
    ///
    /// With immediate enforcement, dropping a table in order to rebuild it would delete the rows that refer
    /// to it (`ON DELETE CASCADE`).
    case deferred

    /// Every statement enforces foreign keys, as in the app.
    case immediate

    /// Foreign keys are neither enforced nor checked.
    case unchecked
}
