import AppMigrations
package import Foundation
import GRDB

/// Migrations that share a transaction, with their progress.
final class MigrationGroup {
    /// The mode of foreign keys, which SQLite cannot change inside a transaction.
    let foreignKeys: ForeignKeys
    /// The tables to inspect before and after migrations: those that the first attempt may have broken, or, for a
    /// migration in Swift, all, because it gets no second attempt; nil in the first attempt of files.
    let suspects: Suspects?
    /// True if the tables are inspected before the first migration and after the last one, not after each.
    let isInspectedAsOne: Bool
    /// True if files run without savepoints, so that one that fails undoes the whole group.
    let isUndoneAsOne: Bool
    /// The migrations that ran, in order.
    private(set) var done: [MigrationJob] = []
    /// The remaining migrations.
    ///
    /// Those at the front belong to this group, as long as ``next(for:)`` returns one.
    private(set) var left: ArraySlice<MigrationJob>
    /// The error of the migration that failed; the migrations before it are complete.
    private(set) var failure: (any Error)?

    /// The time that the group may run; nil if either all of it is committed or nothing.
    private let timeLimit: Duration?
    private let progress: RunProgress?
    /// The migration in Swift that is running.
    private var running: RunningMigration?
    /// True if the migration that ran must not share its commit.
    private var holdsAlone = false
    private var start: ContinuousClock.Instant?

    /// Begins a first attempt, at the front of the remaining migrations.
    init(
        of left: ArraySlice<MigrationJob>, _ commits: SchemaOptions.Commits, _ progress: RunProgress?,
        isUndoneAsOne: Bool
    ) {
        self.left = left
        self.progress = progress
        foreignKeys = left.first?.foreignKeys ?? .deferred
        let runsCode: Bool
        switch commits {
        case .grouped(let limit):
            timeLimit = limit
            runsCode = left.first?.isCode ?? false
        case .allOrNothing:
            timeLimit = nil
            runsCode = left.contains(where: \.isCode)
        }
        suspects = runsCode ? .everything : nil
        self.isUndoneAsOne = isUndoneAsOne && !runsCode
        isInspectedAsOne = false
    }

    /// Begins a second attempt at migrations that ran in a first one.
    init(retrying jobs: [MigrationJob], _ suspects: Suspects, isInspectedAsOne: Bool = false) {
        self.isInspectedAsOne = isInspectedAsOne
        left = jobs[...]
        progress = nil
        isUndoneAsOne = false
        foreignKeys = left.first?.foreignKeys ?? .deferred
        self.suspects = suspects
        timeLimit = nil
    }

    /// Returns the next migration to run, or nil if the group is complete.
    func next(for ledger: Ledger) -> MigrationJob? {
        start = start ?? .now
        left = left.drop { !ledger.needs($0) }
        return isTimeOver ? nil : candidate
    }

    /// True if only the time has ended the group.
    var isCutShort: Bool { candidate != nil }

    /// The next migration, if it belongs to the group.
    private var candidate: MigrationJob? {
        guard failure == nil, let job = left.first, job.transaction == .wrapped,
            job.foreignKeys == foreignKeys, !isSeparate(job)
        else { return nil }
        return job
    }

    /// Returns whether the job, or the one before it, commits alone.
    private func isSeparate(_ job: MigrationJob) -> Bool {
        guard timeLimit != nil else { return false }
        // Another process may have applied the files with which the group was to begin. Where nothing is inspected
        // beforehand, a problem of old would make the migration in Swift run twice.
        if job.isCode, suspects == nil { return true }
        return !done.isEmpty && (job.commitsAlone || holdsAlone)
    }

    private var isTimeOver: Bool {
        guard let start, let timeLimit, !done.isEmpty else { return false }
        return ContinuousClock.now - start >= timeLimit
    }

    /// Records that the next migration begins, so that one in Swift can report its progress.
    func begin(on db: Database) {
        running = left.first.flatMap { progress?.begin($0, on: db) }
    }

    /// Records that the next migration ran.
    func succeed() {
        let job = left.removeFirst()
        done.append(job)
        holdsAlone = job.commitsAlone
        progress?.advance(job, running)
        running = nil
    }

    /// Records that a migration failed, so that those before it can be committed.
    ///
    /// - Parameter count: the number of migrations before it.
    /// - Throws: the error, when nothing of the group may stay.
    func fail(_ error: any Error, after count: Int) throws {
        running?.end(isDone: false)
        running = nil
        // Without a migration, no row of an adoption stays either: the next launch asks again, and may get a corrected answer.
        if count == 0 || error is CancellationError || timeLimit == nil { throw error }
        failure = error
        done.removeLast(done.count - count)
    }
}

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

    /// Begins a migration in Swift; returns nil for a file.
    func begin(_ job: MigrationJob, on db: Database) -> RunningMigration? {
        job.isCode ? RunningMigration(on: db, in: child, counting: job.weight) : nil
    }

    func advance(_ job: MigrationJob, _ running: RunningMigration? = nil) {
        parent.setUserInfoObject(job.title, forKey: .migrationName)
        if let running { running.end(isDone: true) } else { child.completedUnitCount += job.weight }
    }

    /// Counts everything as done, including the work of another process.
    func finish() {
        child.completedUnitCount = child.totalUnitCount
    }
}

extension ProgressUserInfoKey {
    /// The name of the migration that was applied last: a `String`.
    package static let migrationName = ProgressUserInfoKey("AppMigrationsMigrationName")
}
