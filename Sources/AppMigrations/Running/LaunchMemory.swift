/// What the calls of one manager object remember of a launch.
struct LaunchMemory {
    /// The app's answer about an install without a record, asked at most once in a launch.
    var answer: AdoptionAnswer?
    /// The last report of `migrate(through:)`, if that has begun the launch and no `migrate()` has completed it.
    var begun: MigrationReport?
    /// How much of the progress that was.
    var weight: Int64 = 0
    /// The number of deferred steps that earlier runs have settled.
    var deferred = 0

    /// The work that the launch has done so far.
    var workDone: CompletedWork { begun?.workDone ?? CompletedWork() }
}
