/// The body of a step that works in one transaction of a database.
package protocol TransactionWork: Sendable {
    /// Runs the body, and records the settlement in the same transaction. Any thread.
    func perform(_ context: MigrationContext, settlement: Settlement) throws
}
