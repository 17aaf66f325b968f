public import GRDB
import MigrationTools
public import SchemaMigrations

/// A set of migrations in order: a `SchemaMigrator`, or GRDB's `DatabaseMigrator`.
///
/// Whatever looks at what migrations do takes either of them.
public protocol MigrationSource: Sendable {
    /// The migrations as this library runs them.
    var orderedMigrations: OrderedMigrations { get }
}

/// The migrations of a ``MigrationSource``, in order.
public struct OrderedMigrations: Sendable {
    let runner: any MigrationRunner
}

extension DatabaseMigrator: MigrationSource {
    /// The migrations, identified by the names with which they were registered.
    public var orderedMigrations: OrderedMigrations { OrderedMigrations(runner: GRDBRunner(self)) }
}

extension SchemaMigrator: MigrationSource {
    /// The migrations, identified by their versions.
    public var orderedMigrations: OrderedMigrations { OrderedMigrations(runner: self) }
}
