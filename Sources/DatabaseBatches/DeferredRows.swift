public import GRDB

/// The rows of one batch of a deferred step.
public struct DeferredRows: Sendable {
    /// The SQL condition that selects these rows, for the `WHERE` clause of a statement on their table.
    ///
    /// ```swift
    /// try db.execute(literal: "UPDATE photo SET hash = sha(data) WHERE hash IS NULL AND \(rows.condition)")
    /// ```
    ///
    /// For a step with a condition of its own, `again:`, it includes that one. It names the columns of the primary key together
    /// with the table, so the table must not have an alias.
    public let condition: SQL
}
