/// The work of a schema step: brings a database to a schema version.
package protocol SchemaStepWork: Sendable {
    /// True if it goes to the latest schema version, whatever that is.
    var goesToLatest: Bool { get }

    /// Refuses what can never run, before other work of the launch runs.
    ///
    /// - Throws: ``MigrationError``, which names the migration.
    func check(_ pending: PendingSchema) throws

    /// Applies what is pending. Any thread.
    ///
    /// - Parameter isKnown: returns true for the steps that the manager has for this version of the app.
    func perform(
        _ context: MigrationContext, knowing isKnown: @escaping @Sendable (WorkID) -> Bool
    ) throws -> SchemaStepOutcome
}

extension SchemaStepWork {
    package func check(_ pending: PendingSchema) throws {}
}

/// The result of a schema step.
package struct SchemaStepOutcome: Sendable {
    /// The schema versions that were applied, in order.
    let applied: [String]
    /// The unknown schema versions that were undone, newest first.
    let undone: [String]
    /// Pre-existing problems in the database: a sentence each.
    let warnings: [String]
    /// The size of the database, in bytes; nil for one in memory.
    let databaseSize: Int64?

    package init(
        applied: [String], undone: [String] = [], warnings: [String] = [], databaseSize: Int64? = nil
    ) {
        self.applied = applied
        self.undone = undone
        self.warnings = warnings
        self.databaseSize = databaseSize
    }
}
