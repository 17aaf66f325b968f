/// Schema migrations that a manager applies to one database for one app version.
public struct MigrationMove: Sendable, Hashable {
    /// The app version that the move is registered for.
    public let version: AppVersion
    /// The database's name.
    public let database: String
    /// The schema versions that the move has applied, or will apply, in order.
    public let schemaVersions: [String]
    /// Pre-existing problems in the database, which did not stop the move: a sentence each.
    public let warnings: [String]

    package init(version: AppVersion, database: String, schemaVersions: [String], warnings: [String] = []) {
        self.version = version
        self.database = database
        self.schemaVersions = schemaVersions
        self.warnings = warnings
    }
}
