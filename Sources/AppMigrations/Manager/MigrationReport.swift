/// What a call of ``MigrationManager/migrate()`` did.
public struct MigrationReport: Sendable, Hashable {
    /// The manager's name.
    public let manager: String

    /// What kind of launch this is, as told from the manager's store.
    public let launch: Launch

    /// Whether a lower version of the app was launched since this one, or a newer one, was last.
    public let returnedFromDowngrade: Bool

    /// Whether this is the first launch of this app version or a newer one on this install.
    public let isFirstLaunchOfVersion: Bool

    /// The versions whose closure ran, in order.
    public internal(set) var completed: [AppVersion] = []

    /// What the moves applied, in order; moves that had nothing to apply are left out.
    public internal(set) var moves: [CompletedMove] = []

    /// Whether this is the first launch ever on this install.
    public var isFirstLaunchEver: Bool { launch == .freshInstall }
}

/// A move that has brought a database forward.
public struct CompletedMove: Sendable, Hashable {
    /// The app version that the move is registered for.
    public let version: AppVersion
    /// The database's name.
    public let database: String
    /// The schema versions that were applied, in order.
    public let applied: [String]
    /// What was found to be wrong with the database from before, and locks nobody out; a sentence each.
    public let warnings: [String]

    /// Creates a note of a move.
    public init(version: AppVersion, database: String, applied: [String], warnings: [String] = []) {
        self.version = version
        self.database = database
        self.applied = applied
        self.warnings = warnings
    }
}

/// A move that has something to do.
public struct PendingMove: Sendable, Hashable {
    /// The app version that the move is registered for.
    public let version: AppVersion
    /// The database's name.
    public let database: String
    /// The schema versions that it will apply, in order.
    public let schemaVersions: [String]

    /// Creates a note of a move.
    public init(version: AppVersion, database: String, schemaVersions: [String]) {
        self.version = version
        self.database = database
        self.schemaVersions = schemaVersions
    }
}
