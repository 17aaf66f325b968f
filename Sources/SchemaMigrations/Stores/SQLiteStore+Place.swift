package import AppMigrations
import GRDB

// A database in which a manager's steps and moves do and record their work.
extension SQLiteStore: MigrationPlace {
    package var store: any MigrationStore { self }

    package var failsOthersWhileWriting: Bool {
        guard case .file = id, case .immediateError = database.configuration.busyMode else { return false }
        return true
    }

    package func look(manager: String, moves: [any MoveWork], waitingUpTo limit: Duration?) throws
        -> PlaceState
    {
        if moves.isEmpty {
            // Nearly always there is a record, which one statement has read.
            let known = try PlaceState(
                of: manager, in: read(manager, waitingUpTo: limit ?? .defaultBusyTimeout), evidence: .empty)
            if known.record != nil { return known }
        }
        let limit =
            limit ?? moves.compactMap { ($0 as? any DatabaseMove)?.busyTimeout }.max() ?? .defaultBusyTimeout
        do {
            return try SchemaMigrationError.mapErrors {
                try database.readSnapshot(waitingUpTo: limit) { db in
                    let pending = try pending(moves, db)
                    return try PlaceState(
                        of: manager, in: state(of: manager, db), evidence: evidence(moves, db),
                        pending: pending)
                }
            }
        } catch let error as SchemaMigrationError {
            throw MigrationError(
                error.code == .newerDatabase
                    ? .newerThanThisProcess : Obstacle(error)?.code ?? .unusableDatabase,
                "\(name): \(error.message)", remedy: Self.remedy(for: error), manager: manager,
                underlyingError: error)
        }
    }

    /// Returns the error's remedy; for tables without a ledger, with the manager's part in it.
    private static func remedy(for error: SchemaMigrationError) -> String {
        guard error.code == .unmanagedDatabase else { return error.remedy }
        return """
            \(error.remedy) The manager's own `adopting` has to say which app version created them.
            """
    }

    private func pending(_ moves: [any MoveWork], _ db: Database) throws -> [[String]] {
        var covered: Set<String> = []
        return try moves.map { move in
            guard let move = move as? any DatabaseMove else { return [] }
            let versions = try move.pending(db).filter { !covered.contains($0) }
            covered.formUnion(versions)
            return versions
        }
    }

    /// Returns the evidence in a database that has no record of the manager.
    private func evidence(_ moves: [any MoveWork], _ db: Database) throws -> Evidence {
        if try Ledger(db).exists || db.hasTable(Ledger.tableOfGRDB) { return .ledgerOnly }
        guard try Ledger.hasOtherTables(db) else { return .empty }
        // A migrator that could not find out which migrations the tables hold has refused them in `pending`.
        return moves.contains { $0 is SchemaMove } ? .ledgerOnly : .unmanaged
    }

    package func mistakes(in moves: [any MoveWork]) throws -> [MoveMistake] {
        guard let first = moves.first as? any DatabaseMove else { return [] }
        return first.mistakes(in: moves)
    }
}
