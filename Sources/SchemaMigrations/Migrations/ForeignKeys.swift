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
    /// Foreign keys are checked before the commit, and are not enforced until then. The default.
    ///
    /// With immediate enforcement, dropping a table in order to rebuild it would delete the rows that refer
    /// to it (`ON DELETE CASCADE`).
    case deferred

    /// Every statement enforces foreign keys, as in the app.
    case immediate

    /// Foreign keys are neither enforced nor checked.
    case unchecked
}
