import AppMigrations
import GRDB

/// "Bring this database to that migration", by a migrator of GRDB's.
struct GRDBMove: DatabaseMove {
    /// The table in which GRDB remembers what it has applied.
    static let ledger = "grdb_migrations"

    let migrator: DatabaseMigrator
    /// Nil for the latest.
    let target: String?
    let database: any DatabaseWriter

    func pending(_ db: Database) throws -> [String] {
        if try migrator.hasBeenSuperseded(db) {
            throw SchemaMigrationError(
                .newerDatabase, "The database has had migrations that GRDB's migrator does not know.",
                remedy: "A newer version of the app has migrated it: update the app. Nothing was changed.")
        }
        let applied = try migrator.appliedIdentifiers(db)
        return covered.filter { !applied.contains($0) }
    }

    func perform(_ context: MigrationContext) throws -> MoveOutcome {
        let pending = try database.read(pending)
        try target.map { try migrator.migrate(database, upTo: $0) } ?? migrator.migrate(database)
        return MoveOutcome(applied: pending)
    }

    func mistakes(in moves: [any MigrationMove]) -> [MoveMistake] {
        DatabaseMoveReview(
            set: migrator.migrations, database: database.displayName, title: { $0 }
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
