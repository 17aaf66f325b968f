/// The work that a run has done, for its report.
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
    /// The errors of deferred steps that stay pending.
    var failures: [MigrationError] = []
    /// The deferred steps that wait, and that no other run completes without a fix.
    var stuck: Set<MigrationWork> = []
    var isRunningElsewhere = false
    /// How far steps with batches are.
    var positions: [MigrationWork: StepPosition] = [:]
    /// The work that the run has completed, or has given up.
    var ended: Set<MigrationWork> = []
}
