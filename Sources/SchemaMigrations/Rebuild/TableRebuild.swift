public import GRDB

/// The state of a table that a deferred step rebuilds.
///
/// ```swift
/// let isOld = try dbQueue.read { db in try TableRebuild.isUnfinished(of: "photo", db) }
/// ```
///
/// See <doc:RebuildingATable>.
public enum TableRebuild {
    /// Returns true from the first batch of a rebuild until the new table has taken the place of the old one.
    ///
    /// The app never sees the table change while it runs: that happens in a launch's `migrate()`.
    public static func isUnfinished(of table: String, _ db: Database) throws -> Bool {
        try db.hasTable(RebuildNames(table: SQLName(table)).shadow)
    }

    /// Gives a rebuild up: drops the new table and its triggers, and the table stays as it is.
    ///
    /// Call it in a step with `in:` of a release that no longer registers the rebuild. If the new table has taken the place
    /// of the old one already, it stays, and what is left of the old one is dropped.
    ///
    /// ```swift
    /// manager.whenMigratingToVersion("2.2", in: dbQueue) { db in
    ///     try TableRebuild.discard("photo", db)
    /// }
    /// ```
    public static func discard(_ table: String, _ db: Database) throws {
        let names = RebuildNames(table: SQLName(table))
        try names.dropTriggers(db)
        for table in [names.shadow, names.log, names.old] {
            try db.execute(sql: "DROP TABLE IF EXISTS \(table.inMain)")
        }
    }
}
