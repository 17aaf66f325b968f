public import GRDB

/// The version of a schema: an integer, preferably a timestamp in UTC, `yyyyMMddHHmmssSSS`.
public typealias SchemaVersion = Int64

/// One change of a database's schema, written in Swift.
///
/// Write one for what SQL cannot say. Prefer a `.sql` file for everything else: no later change of the app's code
/// can alter a file.
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

    /// The name that messages and the ledger use. The default is the name of the type.
    var name: String { get }

    /// When foreign keys are enforced while the migration runs. The default is ``ForeignKeys/deferred``.
    var foreignKeys: ForeignKeys { get }

    /// Changes the schema, and the data with it.
    ///
    /// Runs inside the transaction that also records the migration, so it must neither end that transaction nor
    /// begin another one. If it throws, SQLite rolls back everything that it did.
    func migrate(_ db: Database) throws
}

extension SchemaMigration {
    /// The name of the type.
    public var name: String { "\(type(of: self))" }

    /// Deferred: checked before the commit.
    public var foreignKeys: ForeignKeys { .deferred }
}

extension SchemaMigration {
    /// The name that messages use: the file's where there is one.
    package var title: String { (self as? any FileMigration)?.fileName ?? name }

    /// Whether the migration can be rolled back.
    package var isReversible: Bool {
        switch self {
        case let source as any SQLSource: source.hasDown
        case let code as CodeMigration: code.hasRollback
        default: self is any ReversibleSchemaMigration
        }
    }
}

/// A migration that messages call by the name of its file.
package protocol FileMigration: SchemaMigration {
    /// The name of the file.
    var fileName: String { get }
}
