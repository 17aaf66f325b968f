package import AppMigrations
import GRDB

/// A database in which a manager's steps and moves do their work, and remember it.
package struct DatabasePlace: MigrationPlace {
    let database: any DatabaseWriter
    private let records: SQLiteStore

    init(_ database: any DatabaseWriter) {
        self.database = database
        records = SQLiteStore(database)
    }

    package var id: PlaceID { database.placeID }
    package var name: String { database.displayName }
    package var store: any MigrationStore { records }

    package func look(manager: String, moves: [any MigrationMove]) throws -> PlaceView {
        do {
            return try SchemaMigrationError.describing {
                try database.unsafeReentrantRead { db in
                    try db.consistently {
                        let pending = try pending(moves, db)
                        return PlaceView(
                            state: try records.state(of: manager, db), evidence: try evidence(moves, db),
                            pending: pending)
                    }
                }
            }
        } catch let error as SchemaMigrationError {
            throw MigrationError(
                error.code == .newerDatabase ? .newerDatabase : .unusableDatabase,
                "\(manager): \(name): \(error.message)", remedy: error.remedy, manager: manager,
                underlyingError: error)
        }
    }

    private func pending(_ moves: [any MigrationMove], _ db: Database) throws -> [[String]] {
        var covered: Set<String> = []
        return try moves.map { move in
            guard let move = move as? any DatabaseMove else { return [] }
            let versions = try move.pending(db).filter { !covered.contains($0) }
            covered.formUnion(versions)
            return versions
        }
    }

    /// What the database shows, for a manager that has no record in it.
    private func evidence(_ moves: [any MigrationMove], _ db: Database) throws -> Evidence {
        if try records.hasRecords(db) { return .versionsSeen }
        if try Ledger(db).exists { return .ledgerOnly }
        guard try Ledger.hasOtherTables(db) else { return .empty }
        // A migrator that knows how to adopt the tables has told at which version they are.
        return moves.isEmpty ? .unmanaged : .ledgerOnly
    }

    package func mistakes(in moves: [any MigrationMove]) throws -> [MoveMistake] {
        guard let first = moves.first as? any DatabaseMove else { return [] }
        return first.mistakes(in: moves)
    }
}

/// A move, as far as the place that it is registered for must know it.
protocol DatabaseMove: MigrationMove {
    /// What the move would apply to the database as it is, in order.
    func pending(_ db: Database) throws -> [String]

    /// The mistakes in how the moves of one database, of which this is the first, are registered.
    func mistakes(in moves: [any MigrationMove]) -> [MoveMistake]
}

/// "Bring this database to that schema version", by a ``SchemaMigrator``.
struct SchemaMove: DatabaseMove {
    let migrator: SchemaMigrator
    /// Nil for the latest.
    let target: SchemaVersion?
    let database: any DatabaseWriter

    func pending(_ db: Database) throws -> [String] {
        migrator.plan(try migrator.ledger(of: db), upTo: target).pending.map { "\($0)" }
    }

    func perform(_ context: MigrationContext) throws -> [String] {
        let applied =
            try target.map { try migrator.migrate(database, upTo: $0) } ?? migrator.migrate(database)
        return applied.map { "\($0)" }
    }

    func mistakes(in moves: [any MigrationMove]) -> [MoveMistake] {
        var mistakes: [MoveMistake] = []
        var highest: SchemaVersion?
        for (index, move) in moves.enumerated() {
            guard let move = move as? SchemaMove, move.migrator.versions == migrator.versions else {
                mistakes.append(
                    MoveMistake(
                        index: index,
                        problem: "brings \(database.displayName) forward by another set of migrations",
                        remedy: "One database has one set: join the folders in one SchemaMigrator."))
                continue
            }
            guard let latest = migrator.migrations.last?.version else { continue }
            if let target = move.target, !migrator.versions.contains(target) {
                mistakes.append(
                    MoveMistake(
                        index: index, problem: "goes up to \(target), which no migration has",
                        remedy: "The latest is \(latest)."))
                continue
            }
            let target = move.target ?? latest
            if let highest, target < highest {
                mistakes.append(
                    MoveMistake(
                        index: index, problem: "goes up to \(target), below an earlier move's \(highest)",
                        remedy:
                            "A move never goes down: name the version of the move before it, or a later one.")
                )
            }
            highest = max(highest ?? target, target)
        }
        if mistakes.isEmpty, let highest {
            let forgotten = migrator.migrations.filter { $0.version > highest }
            if !forgotten.isEmpty {
                mistakes.append(
                    MoveMistake(
                        index: moves.count - 1,
                        problem: "is the last one for \(database.displayName), and does not reach "
                            + forgotten.map(\.title).joined(separator: ", "),
                        remedy: "Raise its upTo:, or register a move for the version that brings it."))
            }
        }
        return mistakes
    }
}
