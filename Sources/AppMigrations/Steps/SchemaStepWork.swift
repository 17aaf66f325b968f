/// The work of a schema step: brings a database to a schema version.
package protocol SchemaStepWork: Sendable {
    /// True if it goes to the latest schema version, whatever that is.
    var goesToLatest: Bool { get }

    /// Returns the mistakes in the registration of one place's schema steps, of which this schema step is the first.
    func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake]

    /// Refuses what can never run, before other work of the launch runs.
    ///
    /// - Throws: ``MigrationError``, which names the migration.
    func check(_ pending: PendingSchema) throws

    /// Applies what is pending. Any thread.
    ///
    /// - Parameter isKnown: returns true for the steps that the manager has for this version of the app.
    /// - Returns: what it has done.
    func perform(
        _ context: MigrationContext, knowing isKnown: @escaping @Sendable (WorkID) -> Bool
    ) throws -> SchemaStep

    /// Notes that all work of the launch is complete.
    func completeLaunch()
}

extension SchemaStepWork {
    package func check(_ pending: PendingSchema) throws {}
}
