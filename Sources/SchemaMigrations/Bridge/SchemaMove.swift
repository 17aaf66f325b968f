import AppMigrations
import Foundation
import GRDB

/// A move that a database place can plan and check.
protocol DatabaseMove: MoveWork {
    /// The longest time that the move waits for another connection.
    var busyTimeout: Duration { get }

    /// Returns the migrations that the move would apply to the database, in order.
    func pending(_ db: Database) throws -> [String]

    /// Returns the mistakes in the registration of one database's moves, of which this move is the first.
    func mistakes(in moves: [any MoveWork]) -> [MoveMistake]
}

/// A move of a database to a schema version, run by a ``SchemaMigrator``.
struct SchemaMove: DatabaseMove {
    let migrator: SchemaMigrator
    /// The schema version to go to; nil for the latest.
    let target: SchemaVersion?
    let database: any DatabaseWriter

    var busyTimeout: Duration { migrator.options.busyTimeout }

    func pending(_ db: Database) throws -> [String] {
        let plan = try migrator.plan(for: db, upTo: target)
        // A move without pending migrations does not run, so nothing else would notice a wrong adoption.
        if plan.isAdoption, plan.pending.isEmpty {
            _ = try migrator.verifyAdoption(db, migrator.ledger(of: db))
        }
        return plan.pending.map { "\($0)" }
    }

    func perform(_ context: MigrationContext) throws -> MoveOutcome {
        var migrator = migrator
        migrator.options.appVersion = migrator.options.appVersion ?? context.to
        // When the run is interrupted, the step's progress is cancelled, and that stops the statement.
        let report = try migrator.migrate(
            database, upTo: target, progress: context.progress,
            interrupter: Interrupter(observing: context.progress))
        return MoveOutcome(applied: report.applied.map { "\($0)" }, warnings: report.warnings)
    }

    func mistakes(in moves: [any MoveWork]) -> [MoveMistake] {
        DatabaseMoveReview(
            set: migrator.versions, database: { database.displayName },
            title: { migrator.migration(version: $0)?.title ?? "\($0)" }
        ).mistakes(
            in: moves.map { move in
                (move as? SchemaMove).map { (set: $0.migrator.versions, target: $0.target) }
            })
    }
}

/// Finds mistakes in the registration of one database's moves.
struct DatabaseMoveReview<Key: Hashable> {
    /// The migrations of the first move, in order.
    let set: [Key]
    /// Returns the database's name in messages.
    let database: () -> String
    /// Returns the name of a migration in messages.
    let title: (Key) -> String

    /// Returns the mistakes.
    ///
    /// - Parameter moves: each move's migrations and target; nil for a move of another kind.
    func mistakes(in moves: [(set: [Key], target: Key?)?]) -> [MoveMistake] {
        var mistakes: [MoveMistake] = []
        func note(_ index: Int, _ problem: String, remedy: String) {
            mistakes.append(MoveMistake(index: index, problem: problem, remedy: remedy))
        }
        var reached = -1
        for (index, move) in moves.enumerated() {
            guard let move, move.set == set else {
                note(
                    index, "brings \(database()) forward by another set of migrations",
                    remedy: "One database has one set: join the folders in one SchemaMigrator.")
                continue
            }
            guard let last = set.indices.last else { continue }
            guard let position = move.target.map({ set.firstIndex(of: $0) }) ?? last else {
                note(
                    index, "goes up to \(move.target.map { "\($0)" } ?? ""), which no migration has",
                    remedy: "The latest is \(set[last]).")
                continue
            }
            if position < reached {
                note(
                    index, "goes up to \(set[position]), below an earlier move's \(set[reached])",
                    remedy: "A move never goes down: name the version of the move before it, or a later one.")
            }
            reached = max(reached, position)
        }
        let forgotten = set.dropFirst(reached + 1)
        if mistakes.isEmpty, !forgotten.isEmpty {
            note(
                moves.count - 1,
                "is the last one for \(database()), and does not reach "
                    + forgotten.map(title).joined(separator: ", "),
                remedy: "Raise its upTo:, or register a move for the version that brings it.")
        }
        return mistakes
    }
}
