/// The work that a launch has done, for its report.
struct Tally {
    /// How long the work took that is complete.
    var duration: Duration = .zero
    var completed: [AppVersion] = []
    var schemaSteps: [SchemaStep] = []
    var skipped: [AppVersion] = []
    /// The best-effort work that has failed in this launch, and comes again in the next one.
    var failed: Set<MigrationWork> = []
    /// The size of the largest database that a schema step has migrated.
    var databaseSize: Int64?
}
