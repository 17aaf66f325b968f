import AppMigrations
import GRDB

/// A move of a database to a migration, run by GRDB's `DatabaseMigrator`.
struct GRDBMove: DatabaseMove {
    let migrator: DatabaseMigrator
    /// The identifier of the migration to go to; nil for the latest.
    let target: String?
    let database: any DatabaseWriter

    /// The default timeout, since GRDB's migrator has no such option.
    var busyTimeout: Duration { .defaultBusyTimeout }

    func pending(_ db: Database) throws -> [String] {
        let applied = try Self.applied(db)
        if try !unknownIdentifiers(among: applied).isEmpty {
            throw SchemaMigrationError(
                .newerDatabase, "The database has had migrations that GRDB's migrator does not know.",
                remedy: "A newer version of the app has migrated it: update the app. Nothing was changed.")
        }
        return covered.filter { !applied.contains($0) }
    }

    func perform(_ context: MigrationContext) throws -> MoveOutcome {
        let before = try database.readSnapshot(waitingUpTo: busyTimeout, Self.applied)
        try database.withDurableCommits(waitingUpTo: busyTimeout) {
            if let furthest = furthest(of: before) {
                try migrator.migrate(database, upTo: furthest)
            } else {
                try migrator.migrate(database)
            }
        }
        let after = try database.readSnapshot(waitingUpTo: busyTimeout, Self.applied)
        return MoveOutcome(applied: migrator.migrations.filter { after.contains($0) && !before.contains($0) })
    }

    /// Reads the identifiers of the applied migrations.
    ///
    /// GRDB's own method looks for the table only after it has failed to read it, and throws if another process has
    /// created it in between. Here one state of the database answers both questions.
    private static func applied(_ db: Database) throws -> Set<String> {
        try db.readSnapshot {
            guard try db.hasTable(Ledger.tableOfGRDB) else { return [] }
            return try String.fetchSet(db, sql: "SELECT identifier FROM \(Ledger.tableOfGRDB.inMain)")
        }
    }

    /// Returns the applied migrations that the migrator neither has nor has merged into another one.
    ///
    /// GRDB does not say which migrations are merged, but it forgets them once the migration that merges them is
    /// applied: in an empty database that takes all migrations for applied, those that stay are unknown.
    private func unknownIdentifiers(among applied: Set<String>) throws -> Set<String> {
        let unknown = applied.subtracting(migrator.migrations)
        guard !unknown.isEmpty else { return [] }
        var migrator = migrator
        migrator.eraseDatabaseOnSchemaChange = false
        let trial = try DatabaseQueue()
        try trial.write { db in
            try db.execute(sql: "CREATE TABLE \(Ledger.tableOfGRDB)(identifier TEXT NOT NULL PRIMARY KEY)")
            for identifier in unknown.union(migrator.migrations) {
                try db.execute(
                    sql: "INSERT INTO \(Ledger.tableOfGRDB) VALUES (?)", arguments: [identifier])
            }
        }
        try migrator.migrate(trial)
        return try trial.read { try migrator.appliedIdentifiers($0).subtracting(migrator.migrations) }
    }

    /// Returns the migration to go to: the target, or the last applied one if that is later.
    ///
    /// GRDB refuses to migrate up to a migration if a later one has run. Going up to the later one also runs
    /// those that are out of order.
    private func furthest(of applied: Set<String>) -> String? {
        guard let target else { return nil }
        let all = migrator.migrations
        return [all.firstIndex(of: target), all.lastIndex(where: applied.contains)].compactMap { $0 }.max()
            .map { all[$0] }
    }

    func mistakes(in moves: [any MoveWork]) -> [MoveMistake] {
        DatabaseMoveReview(
            set: migrator.migrations, database: { database.displayName }, title: { $0 }
        ).mistakes(
            in: moves.map { move in
                (move as? GRDBMove).map { (set: $0.migrator.migrations, target: $0.target) }
            })
    }

    /// The migrations up to the target, in the order in which they run.
    private var covered: ArraySlice<String> {
        let all = migrator.migrations
        guard let target, let index = all.firstIndex(of: target) else { return all[...] }
        return all[...index]
    }
}
