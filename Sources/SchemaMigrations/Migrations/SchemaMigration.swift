public import GRDB

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
    ///
    /// It also runs on empty databases in memory, where tools and tests, ``SchemaAdoption/matchingSchema`` and
    /// ``SchemaOptions/differentSchemas`` compare schemas.
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

/// A migration whose file name is its name in messages.
package protocol FileMigration: SchemaMigration {
    /// The name of the file.
    var fileName: String { get }
}
