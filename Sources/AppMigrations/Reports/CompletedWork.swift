/// The work that a launch has done, for its report.
struct CompletedWork: Sendable, Equatable {
    /// How long the work took that is complete.
    var duration: Duration = .zero
    var completed: [MigrationWork] = []
    var schemaSteps: [SchemaStep] = []
}
