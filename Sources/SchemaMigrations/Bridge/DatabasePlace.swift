package import AppMigrations
package import GRDB

/// A database in which a manager's steps and moves do and record their work.
///
/// A class, because every step of the database refers to it.
package final class DatabasePlace: MigrationPlace {
    package let database: any DatabaseWriter
    let records: SQLiteStore

    init(_ database: any DatabaseWriter) {
        self.database = database
        records = SQLiteStore(database)
    }

    package var id: PlaceID { records.placeID }
    package var name: String { records.name }
    package var store: any MigrationStore { records }

    package func look(manager: String, moves: [any MoveWork]) throws -> PlaceState {
        let limit = moves.compactMap { ($0 as? any DatabaseMove)?.busyTimeout }.max() ?? .defaultBusyTimeout
        do {
            return try SchemaMigrationError.mapErrors {
                try database.readSnapshot(waitingUpTo: limit) { db in
                    let pending = try pending(moves, db)
                    return try PlaceState(
                        of: manager, in: records.state(of: manager, db), evidence: evidence(moves, db),
                        pending: pending)
                }
            }
        } catch let error as SchemaMigrationError {
            throw MigrationError(
                error.code == .newerDatabase
                    ? .newerThanThisProcess : error.obstacle?.code ?? .unusableDatabase,
                "\(name): \(error.message)", remedy: Self.remedy(for: error), manager: manager,
                underlyingError: error)
        }
    }

    /// Returns the error's remedy; for tables without a ledger, with the manager's part in it.
    private static func remedy(for error: SchemaMigrationError) -> String {
        guard error.code == .unmanagedDatabase else { return error.remedy }
        return """
            \(error.remedy) The manager's own option `adopting` has to tell which app version left them.
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
        let evidence = try Evidence(in: db)
        // A migrator that could not tell which migrations the tables hold has refused them in `pending`.
        if case .unmanaged = evidence, moves.contains(where: { $0 is SchemaMove }) { return .ledgerOnly }
        return evidence
    }

    package func mistakes(in moves: [any MoveWork]) throws -> [MoveMistake] {
        guard let first = moves.first as? any DatabaseMove else { return [] }
        return first.mistakes(in: moves)
    }
}

extension Evidence {
    /// Finds the evidence in a database, in statements that have to see one state of it.
    init(in db: Database) throws {
        if try Ledger(db).exists || db.hasTable(Ledger.tableOfGRDB) {
            self = .ledgerOnly
        } else {
            self = try Ledger.hasOtherTables(db) ? .unmanaged : .empty
        }
    }
}
