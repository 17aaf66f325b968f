import AppMigrations
package import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// Judges whether an app that does not know a migration can use the database after it.
///
/// The migration need not say so: the schemas before and after it are compared, and an older app's statements run over
/// generated rows.
package enum Compatibility {
    /// Returns the reasons why it cannot, a clause each; empty if it can.
    ///
    /// - Parameters:
    ///   - before: a database without rows, which has the schema before the migration, and stays as it is.
    ///   - migrate: runs the migration in a copy.
    package static func problems(
        of before: DatabaseQueue, migrate: (DatabaseQueue) throws -> Void
    ) throws -> [String] {
        let after = try before.configuration.scratchDatabase()
        try before.backup(to: after)
        try migrate(after)
        let problems = try before.read { old in
            try after.read { try CompatibleSchemas(from: old, to: $0).problems }
        }
        guard problems.isEmpty else { return problems }
        // Over these rows it may fail, which is no matter of compatibility, and which other rules judge. Those that an older
        // app writes later must fit all the same.
        for hasRows in [true, false] {
            do {
                return try OlderAppTrial(before, hasRows: hasRows, migrate: migrate).run().map { [$0] } ?? []
            } catch let error as MigrationError where error.code == .stepFailed {
                continue
            } catch let error as MigrationError {
                return [error.diagnostic.problem]
            }
        }
        return []
    }
}
