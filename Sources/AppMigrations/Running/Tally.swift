/// The work that a launch has done, for its report.
struct Tally {
    /// How long the work took that is complete.
    var duration: Duration = .zero
    var completed: [MigrationWork] = []
    var schemaSteps: [SchemaStep] = []
    /// The size of the largest database that a schema step has migrated.
    var databaseSize: Int64?
}
