public import GRDB

/// The version of a schema: an integer, by preference a timestamp, UTC `yyyyMMddHHmmssSSS`.
public typealias SchemaVersion = Int64

/// One change of a database's schema, written in Swift.
///
/// For what SQL cannot say. What can be said in SQL is better kept in a `.sql` file, which no later change of
/// the app's code can alter.
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
public protocol SchemaMigration: Sendable {
    /// The migration's place in the order of all migrations: unique, and at least 0.
    var version: SchemaVersion { get }

    /// What people call it. By default the name of the type.
    var name: String { get }

    /// How foreign keys are treated while it runs. By default ``ForeignKeys/off``.
    var foreignKeys: ForeignKeys { get }

    /// Changes the schema, and the data with it.
    ///
    /// Runs inside a transaction, in which the migration is recorded as well: it must neither end it nor begin
    /// another one. When it throws, nothing of what it did stays.
    func migrate(_ db: Database) throws
}

extension SchemaMigration {
    /// The name of the type.
    public var name: String { "\(type(of: self))" }

    /// Off, with a check before the commit.
    public var foreignKeys: ForeignKeys { .off }
}

/// A change of a database's schema that can be taken back.
public protocol ReversibleSchemaMigration: SchemaMigration {
    /// Takes back what ``SchemaMigration/migrate(_:)`` has changed.
    ///
    /// Runs inside a transaction, in which it is recorded as well. It is only ever called by
    /// ``SchemaMigrator/rollback(_:to:)``.
    func rollback(_ db: Database) throws
}

/// How foreign keys are treated while a migration runs.
///
/// SQLite cannot change this inside a transaction, so it is set before one begins.
public enum ForeignKeys: Sendable, Hashable {
    /// Not enforced, and checked before the commit. The default, since with enforcement a table that is
    /// dropped to be rebuilt takes its child tables' rows with it (`ON DELETE CASCADE`).
    case off
    /// Enforced statement by statement, as in the app.
    case on
    /// Neither enforced nor checked.
    case unchecked
}
