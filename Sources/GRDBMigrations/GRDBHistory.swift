package import GRDB
import SchemaMigrations

/// The migrations of GRDB's `DatabaseMigrator` that a database has had.
package struct GRDBHistory {
    /// The identifiers, in the order in which the migrations were applied.
    package let identifiers: [String]

    /// Takes identifiers that were read elsewhere.
    package init(identifiers: [String]) { self.identifiers = identifiers }

    /// Reads the identifiers; there are none without GRDB's table.
    ///
    /// GRDB's own method looks for the table only after it has failed to read it, and throws if another process has
    /// created it in between. Here one state of the database answers both questions.
    package init(_ db: Database) throws {
        identifiers = try db.readSnapshot {
            guard try db.hasTable(OwnTables.ofGRDB) else { return [] }
            // GRDB inserts a row when it has applied a migration.
            return try String.fetchAll(
                db, sql: "SELECT identifier FROM \(OwnTables.ofGRDB.inMain) ORDER BY rowid")
        }
    }

    package var applied: Set<String> { Set(identifiers) }

    /// Returns the migrations that a newer version of the app may have brought: the migrator neither has them nor has
    /// merged them.
    ///
    /// What was applied before a migration that the app has was left out since. That says nothing if a migration between
    /// those that the database has had is missing, because a newer version may have merged it.
    ///
    /// - Parameter removed: the identifiers of migrations that shipped, and that the migrator no longer has.
    package func newer(
        than migrator: DatabaseMigrator, ignoring removed: Set<String> = []
    ) throws -> [String] {
        let (applied, known) = (applied, migrator.migrations)
        let strange = applied.subtracting(known)
        let unknown = try strange.subtracting(migrator.merged(among: strange)).subtracting(removed)
        let reached = known.lastIndex(where: applied.contains).map { known[...$0] } ?? []
        guard reached.allSatisfy(applied.contains) else { return identifiers.filter(unknown.contains) }
        let lastKnown = identifiers.lastIndex(where: Set(known).contains) ?? -1
        return identifiers.dropFirst(lastKnown + 1).filter(unknown.contains)
    }
}

extension GRDBHistory {
    /// Records migrations as applied, in a database that may have had none.
    package static func record(_ identifiers: some Sequence<String>, in db: Database) throws {
        let table = OwnTables.ofGRDB.inMain
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(table)(identifier TEXT NOT NULL PRIMARY KEY)")
        for identifier in identifiers {
            try db.execute(
                sql: "INSERT OR IGNORE INTO \(table)(identifier) VALUES (?)", arguments: [identifier])
        }
    }
}

extension DatabaseMigrator {
    /// Returns those of some identifiers that migrations have merged.
    ///
    /// GRDB does not say which migrations are merged, but it forgets them once the migration that merges them is
    /// applied: in an empty database that takes all migrations for applied, those that stay are not merged.
    ///
    /// - Parameter count: the number of migrations that are asked, from the first; nil for all.
    package func merged(among identifiers: Set<String>, byFirst count: Int? = nil) throws -> Set<String> {
        let asked = migrations.prefix(count ?? .max)
        guard let last = asked.last, !identifiers.isEmpty else { return [] }
        var migrator = self
        migrator.eraseDatabaseOnSchemaChange = false
        let trial = try DatabaseQueue()
        try trial.write { try GRDBHistory.record(identifiers.union(asked), in: $0) }
        try migrator.migrate(trial, upTo: last)
        return try identifiers.subtracting(trial.read(migrator.appliedIdentifiers))
    }
}
