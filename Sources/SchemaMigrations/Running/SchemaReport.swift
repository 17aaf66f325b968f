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

    /// Pre-existing problems in the database, a sentence each.
    ///
    /// They do not stop the migration. They are rows that refer to missing rows, and views and triggers that
    /// do not compile.
    public internal(set) var warnings: [String] = []

    /// The copy that was made before the database was changed; nil if the options ask for none.
    public internal(set) var backup: URL?
}
