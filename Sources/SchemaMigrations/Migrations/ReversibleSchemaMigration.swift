public import GRDB

/// A migration in Swift that can be rolled back.
///
/// ```swift
/// struct CreateShelves: ReversibleSchemaMigration {
///     let version: SchemaVersion = 20240601120000000
///
///     func migrate(_ db: Database) throws {
///         try db.create(table: "shelf") { $0.autoIncrementedPrimaryKey("id") }
///     }
///
///     func rollback(_ db: Database) throws {
///         try db.drop(table: "shelf")
///     }
/// }
/// ```
public protocol ReversibleSchemaMigration: SchemaMigration {
    /// Undoes what ``SchemaMigration/migrate(_:)`` changed.
    ///
    /// Runs inside the transaction that also records it. Only ``SchemaMigrator/rollback(_:to:)`` calls it.
    func rollback(_ db: Database) throws
}
