public import Foundation

/// The progress of a run, reported to the progress that the app has passed.
struct RunProgress {
    /// The app's progress, which names the migrations and can be cancelled.
    private let parent: Progress
    /// The run's progress, which counts.
    private let child: Progress

    /// Creates a progress for the whole of a run.
    ///
    /// The parent shows its count.
    init(in parent: Progress) {
        self.parent = parent
        parent.totalUnitCount = max(1, parent.totalUnitCount)
        child = Progress(
            totalUnitCount: 1, parent: parent,
            pendingUnitCount: parent.totalUnitCount - parent.completedUnitCount)
    }

    func begin(with jobs: [MigrationJob]) {
        child.totalUnitCount = max(1, jobs.reduce(0) { $0 + $1.weight })
    }

    func advance(_ job: MigrationJob) {
        parent.setUserInfoObject(job.title, forKey: .migrationName)
        child.completedUnitCount += job.weight
    }

    /// Counts everything as done, including the work of another process.
    func finish() {
        child.completedUnitCount = child.totalUnitCount
    }

    /// Completes the progress of a run that had nothing to do.
    static func finish(_ progress: Progress) {
        progress.totalUnitCount = max(1, progress.totalUnitCount)
        progress.completedUnitCount = progress.totalUnitCount
    }
}

extension ProgressUserInfoKey {
    /// The name of the migration that was applied last: a `String`.
    public static let migrationName = ProgressUserInfoKey("AppMigrationsMigrationName")
}
