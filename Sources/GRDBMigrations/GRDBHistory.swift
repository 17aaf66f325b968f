import GRDB
import SchemaMigrations

/// The migrations of GRDB's `DatabaseMigrator` that a database has had.
struct GRDBHistory {
    /// The identifiers, in the order in which the migrations were applied.
    let identifiers: [String]

    /// Reads the identifiers; there are none without GRDB's table.
    ///
    /// GRDB's own method looks for the table only after it has failed to read it, and throws if another process has
    /// created it in between. Here one state of the database answers both questions.
    init(_ db: Database) throws {
        identifiers = try db.readSnapshot {
            guard try db.hasTable(OwnTables.ofGRDB) else { return [] }
            // GRDB inserts a row when it has applied a migration.
            return try String.fetchAll(
                db, sql: "SELECT identifier FROM \(OwnTables.ofGRDB.inMain) ORDER BY rowid")
        }
    }

    var applied: Set<String> { Set(identifiers) }

    /// Returns those of the unknown migrations that a newer version of the app may have brought.
    ///
    /// What was applied before a migration that the app has was left out since. That says nothing if a migration between
    /// those that the database has had is missing, because a newer version may have merged it.
    func newer(among unknown: Set<String>, than known: [String]) -> [String] {
        let applied = applied
        let reached = known.lastIndex(where: applied.contains).map { known[...$0] } ?? []
        guard reached.allSatisfy(applied.contains) else { return identifiers.filter(unknown.contains) }
        let lastKnown = identifiers.lastIndex(where: Set(known).contains) ?? -1
        return identifiers.dropFirst(lastKnown + 1).filter(unknown.contains)
    }
}
