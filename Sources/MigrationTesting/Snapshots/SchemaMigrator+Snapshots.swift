public import Foundation
public import GRDB
import MigrationTools
public import SchemaMigrations

extension SchemaMigrator {
    /// Writes a snapshot of the schema, from which a fresh database can start instead of running every
    /// migration.
    ///
    /// It runs the migrations on an empty database in memory, and also saves the rows that they insert. The
    /// command `app-migrations snapshot write` does the same for a folder of files.
    ///
    /// - Parameters:
    ///   - url: the file. The method replaces an earlier snapshot, and no other file.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    ///   - progress: cancelling it stops the method, inside a statement too.
    /// - Throws: `MigrationError`, for instance if the migrations make something that a snapshot cannot hold,
    ///   such as rows in a virtual table; or `CancellationError`. Then the earlier snapshot stays.
    public func writeSnapshot(
        to url: URL, configuration: Configuration = Configuration(), progress: Progress? = nil
    ) throws {
        try SnapshotWriter(self, configuration: configuration, progress: progress).write(to: url)
    }

    /// Verifies that a snapshot and the migrations after it make the same database as all migrations do.
    ///
    /// A snapshot is out of date as soon as a migration in it is edited, so verify it in a test:
    ///
    /// ```swift
    /// try schema.verifySnapshot(at: folder.appendingPathComponent("schema.sql"))
    /// ```
    ///
    /// - Parameters:
    ///   - url: the snapshot.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    /// - Throws: `MigrationError`, which says where they differ.
    public func verifySnapshot(at url: URL, configuration: Configuration = Configuration()) throws {
        try SnapshotWriter(self, configuration: configuration).verify(url)
    }
}
