public import GRDB
public import SchemaMigrations

/// Migrations into whose tables rows are salvaged: a `SchemaMigrator`, or GRDB's `DatabaseMigrator`.
///
/// ```swift
/// let migrator = DatabaseMigrator()    // the app's
/// let report = try DatabaseFile(path: url.path).salvage(into: migrator)
/// ```
public protocol SalvageTarget: Sendable {
    /// The migrations as this library runs them.
    var salvageMigrations: SalvageMigrations { get }
}

/// The migrations of a ``SalvageTarget``.
public struct SalvageMigrations: Sendable {
    let set: any MigrationSet
}

extension SchemaMigrator: SalvageTarget {
    /// The migrations, identified by their versions.
    public var salvageMigrations: SalvageMigrations { SalvageMigrations(set: SchemaSet(self)) }
}

extension DatabaseMigrator: SalvageTarget {
    /// The migrations, identified by the names with which they were registered.
    public var salvageMigrations: SalvageMigrations { SalvageMigrations(set: GRDBSet(self, ignoring: [])) }

    /// Names migrations that shipped, and that the migrator no longer has, so that a database that has had them is not
    /// taken for one of a newer version of the app.
    ///
    /// ```swift
    /// let migrator = DatabaseMigrator()    // the app's
    /// let report = try DatabaseFile(path: url.path).salvage(into: migrator.ignoring(["addDraft"]))
    /// ```
    ///
    /// Name those that were the last of a release, as for a manager's schema step; others need no name.
    ///
    /// - Parameter removed: the identifiers of the migrations.
    public func ignoring(_ removed: Set<String>) -> some SalvageTarget {
        RemainingMigrations(salvageMigrations: SalvageMigrations(set: GRDBSet(self, ignoring: removed)))
    }
}

private struct RemainingMigrations: SalvageTarget {
    let salvageMigrations: SalvageMigrations
}
