/// Schema migrations that a manager applies to one database for one app version.
public struct SchemaStep: Sendable, Equatable {
    /// The app version that the schema step is registered for.
    public let version: AppVersion
    /// The database's name.
    public let database: String
    /// The schema versions that the schema step has applied, or will apply, in order.
    public let schemaVersions: [String]
    /// The unknown schema versions that the schema step has undone first, or will undo, newest first.
    public let undone: [String]
    /// Pre-existing problems in the database, which did not stop the schema step: a sentence each.
    public let warnings: [String]

    package init(
        version: AppVersion, database: String, schemaVersions: [String], undone: [String] = [],
        warnings: [String] = []
    ) {
        self.version = version
        self.database = database
        self.schemaVersions = schemaVersions
        self.undone = undone
        self.warnings = warnings
    }
}

/// A database that has had migrations which this version of the app does not know, and which it can use anyway.
public struct NewerDatabase: Sendable, Equatable {
    /// The database's name.
    public let database: String
    /// The unknown schema versions, ascending.
    public let schemaVersions: [String]
}
