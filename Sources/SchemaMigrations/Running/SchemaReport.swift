public import Foundation

/// The result of one call of `SchemaMigrator.migrate(_:upTo:progress:)`.
///
/// ```swift
/// let report = try schema.migrate(dbQueue)
/// for warning in report.warnings { logger.info("\(warning)") }
/// ```
public struct SchemaReport: Sendable, Equatable {
    /// The versions that were applied, in order.
    public internal(set) var applied: [SchemaVersion] = []

    /// The unknown versions that were undone, newest first; see ``SchemaOptions/NewerDatabaseRule/rollBack``.
    public internal(set) var undone: [SchemaVersion] = []

    /// The unknown versions that the database has had, ascending: they are compatible, or the options allow them.
    public internal(set) var newer: [SchemaVersion] = []

    /// What did not stop the migration, a sentence each: rows that referred to missing rows before it, views and triggers that did not
    /// compile, pragmas without effect, and a different schema.
    public internal(set) var warnings: [String] = []

    /// The copy that was made before the database was changed; nil if the options ask for none.
    public internal(set) var backup: URL?
}
