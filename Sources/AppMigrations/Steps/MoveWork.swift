/// Brings a database to a schema version: the work of a move.
package protocol MoveWork: Sendable {
    /// Applies what is pending. Any thread.
    func perform(_ context: MigrationContext) throws -> MoveOutcome
}

/// The result of a move.
package struct MoveOutcome: Sendable {
    /// The schema versions that were applied, in order.
    package let applied: [String]
    /// Pre-existing problems in the database: a sentence each.
    package let warnings: [String]

    package init(applied: [String], warnings: [String] = []) {
        self.applied = applied
        self.warnings = warnings
    }
}
