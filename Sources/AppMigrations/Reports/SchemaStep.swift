/// A schema step that has run, with what it did to its database.
public struct SchemaStep: Sendable, Equatable {
    /// The schema step: its version and its database.
    public let work: MigrationWork
    /// The schema versions that it has applied, in order.
    public let schemaVersions: [String]
    /// The unknown schema versions that it has undone first, newest first.
    public let undone: [String]
    /// Problems that did not stop the schema step: a sentence each.
    public let warnings: [String]
    /// The size of the database after it, in bytes; nil for one in memory.
    let databaseSize: Int64?

    package init(
        work: MigrationWork, schemaVersions: [String], undone: [String] = [], warnings: [String] = [],
        databaseSize: Int64? = nil
    ) {
        self.work = work
        self.schemaVersions = schemaVersions
        self.undone = undone
        self.warnings = warnings
        self.databaseSize = databaseSize
    }
}

/// A database that has had migrations which this version of the app does not know, and which it can use anyway.
public struct NewerDatabase: Sendable, Equatable {
    /// The database's name.
    public let database: String
    /// The unknown schema versions, ascending.
    public let schemaVersions: [String]
}
