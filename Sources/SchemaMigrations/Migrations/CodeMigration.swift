public import GRDB

/// A change of a database's schema, written as a closure.
///
/// ```swift
/// let addShelves = CodeMigration(20240601120000000, "add_shelves") { db in
///     try db.create(table: "shelf") { $0.autoIncrementedPrimaryKey("id") }
/// }
/// try SchemaMigrator(directories: [folder], migrations: [addShelves])
/// ```
///
/// A second closure makes it reversible:
///
/// ```swift
/// CodeMigration(20240601120000000, "add_shelves") { db in
///     try db.create(table: "shelf") { $0.autoIncrementedPrimaryKey("id") }
/// } rollback: { db in
///     try db.drop(table: "shelf")
/// }
/// ```
///
/// The rules of ``SchemaMigration/migrate(_:)`` hold for both closures.
public struct CodeMigration: SchemaMigration {
    /// The migration's place in the order of all migrations.
    public let version: SchemaVersion
    /// The name that messages and the ledger use.
    public let name: String
    /// The mode of foreign keys while the migration runs.
    public let foreignKeys: ForeignKeys
    /// A Boolean value that indicates whether an app that does not know the migration can use the database after it.
    public let isCompatible: Bool

    private let up: @Sendable (Database) throws -> Void
    /// The closure that undoes the change; nil for an irreversible migration.
    let down: (@Sendable (Database) throws -> Void)?

    /// Creates a migration.
    ///
    /// - Parameters:
    ///   - version: unique, and at least 0; preferably a timestamp.
    ///   - name: the name that messages and the ledger use.
    ///   - foreignKeys: the mode of foreign keys while the migration runs.
    ///   - isCompatible: whether an app that does not know the migration can use the database after it.
    ///   - migrate: changes the schema.
    ///   - rollback: undoes the change; nil for an irreversible migration.
    public init(
        _ version: SchemaVersion, _ name: String, foreignKeys: ForeignKeys = .deferred,
        isCompatible: Bool = false,
        migrate: @escaping @Sendable (Database) throws -> Void,
        rollback: (@Sendable (Database) throws -> Void)? = nil
    ) {
        self.version = version
        self.name = name
        self.foreignKeys = foreignKeys
        self.isCompatible = isCompatible
        up = migrate
        down = rollback
    }

    /// Runs the closure that changes the schema.
    ///
    /// - Parameter db: the database, in the transaction that records the migration.
    /// - Throws: the error of the closure.
    public func migrate(_ db: Database) throws { try up(db) }
}
