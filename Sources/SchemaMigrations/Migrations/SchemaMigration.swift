public import GRDB

/// The version of a schema: an integer, preferably a timestamp in UTC, `yyyyMMddHHmmssSSS`.
public typealias SchemaVersion = Int64

/// One change of a database's schema, written in Swift.
///
/// Write one for a change that SQL cannot express. Prefer a `.sql` file for everything else: no later change
/// of the app's code can alter a file.
///
/// ```swift
/// struct AddMoods: SchemaMigration {
///     let version: SchemaVersion = 20240310120000000
///
///     func migrate(_ db: Database) throws {
///         try db.alter(table: "entry") { $0.add(column: "mood", .integer) }
///     }
/// }
/// ```
///
/// ``CodeMigration`` makes one from a closure.
public protocol SchemaMigration: Sendable {
    /// The migration's place in the order of all migrations: unique, and at least 0.
    var version: SchemaVersion { get }

    /// The name that messages and the ledger use; by default, the name of the type.
    var name: String { get }

    /// The mode of foreign keys while the migration runs; by default, ``ForeignKeys/deferred``.
    var foreignKeys: ForeignKeys { get }

    /// A Boolean value that indicates whether an app that does not know the migration can read and write the database after
    /// it; by default, `false`.
    ///
    /// The ledger keeps it, so that an older build can rely on it. See <doc:OlderBuilds>.
    var isCompatible: Bool { get }

    /// Changes the schema, and the data with it.
    ///
    /// Runs inside the transaction that also records the migration, so it must neither end that transaction
    /// nor begin another one. If it throws, SQLite rolls back everything that it did.
    func migrate(_ db: Database) throws
}

extension SchemaMigration {
    /// The name of the type.
    public var name: String { "\(type(of: self))" }

    /// Deferred foreign keys, which are checked before the commit.
    public var foreignKeys: ForeignKeys { .deferred }

    /// False: only an app that knows the migration can use the database after it.
    public var isCompatible: Bool { false }
}

extension SchemaMigration {
    /// The name that messages use: the file's name if there is a file, or else the migration's name.
    package var title: String { (self as? any FileMigration)?.fileName ?? name }

    /// True if the migration can be rolled back.
    package var isReversible: Bool { (self as? any SQLSource)?.hasDown ?? (codeRollback != nil) }

    /// The Swift code that rolls the migration back; nil if there is none.
    var codeRollback: ((Database) throws -> Void)? {
        (self as? CodeMigration)?.down ?? (self as? any ReversibleSchemaMigration)?.rollback
    }
}

/// A migration whose file name is its name in messages.
package protocol FileMigration: SchemaMigration {
    /// The name of the file.
    var fileName: String { get }
}

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
