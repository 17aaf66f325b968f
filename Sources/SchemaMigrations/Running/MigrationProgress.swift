import AppMigrations
public import Foundation
public import GRDB

extension Database {
    /// The progress of the migration in Swift that is running on this connection.
    ///
    /// A long migration sets its total, counts up, and throws `CancellationError` when the progress is cancelled:
    ///
    /// ```swift
    /// let hashPhotos = CodeMigration(20240601120000000, "hash_photos") { db in
    ///     let ids = try Int64.fetchAll(db, sql: "SELECT id FROM photo")
    ///     let progress = db.migrationProgress
    ///     progress.totalUnitCount = Int64(ids.count)
    ///     for id in ids {
    ///         try db.execute(sql: "UPDATE photo SET hash = sha(data) WHERE id = ?", arguments: [id])
    ///         progress.completedUnitCount += 1
    ///     }
    /// }
    /// ```
    ///
    /// It works in a closure of GRDB's migrator that a manager runs, and in a ``CodeMigration``. Elsewhere nobody observes it: a
    /// migration can be run by GRDB alone. A step of a manager has `context.progress` instead.
    public var migrationProgress: Progress {
        RunningMigration.progresses.withLock { $0[ObjectIdentifier(self)] } ?? StepProgress(totalUnitCount: 1)
    }
}

/// A migration in Swift that is running, as one part of a run's progress.
package struct RunningMigration {
    fileprivate static let progresses = Locked<[ObjectIdentifier: Progress]>([:])

    private let connection: ObjectIdentifier
    private let progress: Progress

    /// Begins a migration that counts so many of the run's units.
    package init(on db: Database, in run: Progress, counting weight: Int64 = 1) {
        connection = ObjectIdentifier(db)
        let progress: Progress = StepProgress(partOf: run, counting: weight)
        self.progress = progress
        Self.progresses.withLock { $0[connection] = progress }
    }

    /// Ends the migration, and counts it if it is done.
    package func end(isDone: Bool) {
        Self.progresses.withLock { $0[connection] = nil }
        if isDone { progress.finish() }
    }
}
