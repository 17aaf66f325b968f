import AppMigrations
public import Foundation
public import GRDB
import MigrationTools
import SchemaMigrations

extension DatabaseMigrator {
    /// Does a dry run: migrates a copy of a database, and reports the effects.
    ///
    /// ```swift
    /// let migrator = DatabaseMigrator()    // the app's
    /// let rehearsal = try migrator.rehearse(DatabaseQueue(path: "library.sqlite"))
    /// #expect(rehearsal.losses == [])
    /// ```
    ///
    /// Nothing writes to the database, and the copy is removed afterwards. In the report, the version of a migration is its
    /// place in the migrator.
    ///
    /// - Parameters:
    ///   - database: the database, which may be open for reading only.
    ///   - identifier: the identifier of a migration, inclusive; nil for the latest.
    ///   - folder: the folder for the copy; nil for the temporary folder.
    ///   - values: whether the report holds examples of changed values.
    ///   - progress: counts the migrations, and cancels between two of them.
    /// - Throws: `MigrationError`, or the error of the migration that fails.
    public func rehearse(
        _ database: any DatabaseReader, upTo identifier: String? = nil, in folder: URL? = nil,
        showing values: Rehearsal.ShownValues = .none, progress: Progress? = nil
    ) throws -> Rehearsal {
        let runner = GRDBRunner(self)
        let target = identifier.flatMap { name in runner.titles.first { $0.name == name } }
        if let identifier, target == nil {
            throw MigrationError(
                .misuse, "No migration is registered as \(identifier).",
                remedy: "Pass an identifier of the migrator.")
        }
        return try Rehearsal.withCopy(of: database, in: folder, progress) { copy in
            try Rehearsal(on: copy, showing: values, stopping: nil) { _ in
                try runner.rehearse(on: copy, upTo: target?.version ?? .max, progress)
            }
        }
    }
}

extension GRDBRunner {
    fileprivate func rehearse(
        on copy: DatabaseQueue, upTo version: SchemaVersion, _ progress: Progress?
    ) throws -> RehearsedRun {
        let pending = try copy.read(standing).pending.filter { $0 <= version }
        progress?.totalUnitCount = Int64(max(1, pending.count))
        var steps: [Rehearsal.Step] = []
        var scripts: [SQLScript] = []
        for title in pending.compactMap(title) where try copy.read(standing).pending.contains(title.version) {
            if progress?.isCancelled == true { throw CancellationError() }
            let start = ContinuousClock().now
            var applied = [title.version]
            if title.version < (try copy.read(standing).current ?? 0) {
                // Out of order: GRDB runs all that are missing before the last one that the database has had.
                applied = try run(copy, upTo: title.version).applied
            } else {
                let trace = try trace(title, in: copy)
                // A migration may stop because the rehearsal does.
                if let error = trace.error {
                    throw progress?.isCancelled == true ? CancellationError() : error
                }
                scripts += trace.script(of: title).map { [$0] } ?? []
            }
            let duration = (ContinuousClock().now - start) / max(1, applied.count)
            steps += applied.compactMap(self.title).map {
                Rehearsal.Step(version: $0.version, name: $0.name, duration: duration)
            }
            progress?.completedUnitCount += Int64(applied.count)
        }
        return RehearsedRun(steps: steps, scripts: scripts)
    }
}
