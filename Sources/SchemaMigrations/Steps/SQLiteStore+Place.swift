package import AppMigrations
import GRDB

// A database in which a manager's steps do and record their work.
extension SQLiteStore: MigrationPlace {
    package var store: any RecordStorage { self }

    package var path: String { file?.pathInInstall ?? database.path }

    package var failsOthersWhileWriting: Bool {
        guard case .file = id, case .immediateError = database.configuration.busyMode else { return false }
        return true
    }

    package func checkIsOutsideTransaction() throws {
        try StoreAccess.read.of(name) {
            try database.unsafeReentrantRead { try Self.refuseTransactions(on: $0, name) }
        }
    }

    package func readState(
        of manager: String, schemaSteps: [any SchemaStepWork], waitingUpTo limit: Duration?
    ) throws
        -> PlaceState
    {
        if schemaSteps.isEmpty {
            // Nearly always there is a record, which one statement has read.
            let known = try PlaceState(
                of: manager, in: read(manager, waitingUpTo: limit ?? .defaultBusyTimeout), evidence: .empty,
                history: [])
            if known.record != nil { return known }
        }
        let limit =
            limit ?? schemaSteps.compactMap { ($0 as? any DatabaseSchemaStep)?.busyTimeout }.max()
            ?? .defaultBusyTimeout
        do {
            return try MigrationError.mapErrors {
                try database.readSnapshot(waitingUpTo: limit) { db in
                    let found = try readPending(of: schemaSteps, db)
                    return try PlaceState(
                        of: manager, in: state(of: manager, db), evidence: evidence(schemaSteps, db),
                        history: Self.history(of: manager, db), pending: found.pending, newer: found.newer)
                }
            }
        } catch var error as MigrationError {
            if error.code == .undecided {
                error.remedy += " The manager's own `adopting` has to say which app version created them."
            }
            throw error.ofManager(manager, in: name)
        }
    }

    /// Returns what each schema step still has to do, and the unknown migrations that stay.
    private func readPending(
        of schemaSteps: [any SchemaStepWork], _ db: Database
    ) throws -> (pending: [PendingSchema], newer: [String]) {
        var covered: Set<String> = []
        var newer: [String] = []
        var (isWritten, applied, coveredBefore) = (false, 0, 0)
        let pending = try schemaSteps.map { schemaStep in
            guard let schemaStep = schemaStep as? any DatabaseSchemaStep else { return PendingSchema() }
            let found = try schemaStep.readPending(db)
            newer = found.newer
            func isLeft(_ version: String) -> Bool { covered.insert(version).inserted }
            defer { isWritten = isWritten || found.pending.writesLedger }
            var pending = PendingSchema(
                undo: found.pending.undo.filter(isLeft), apply: found.pending.apply.filter(isLeft),
                writesLedger: found.pending.writesLedger && !isWritten)
            let appliedHere = found.pending.covered - found.pending.apply.count
            pending.hasBegun = appliedHere > applied
            if pending.hasBegun, !pending.apply.isEmpty {
                pending.appliedBy = try schemaStep.latestApp(applyingAfter: coveredBefore, db)
            }
            applied = max(applied, appliedHere)
            coveredBefore = found.pending.covered
            return pending
        }
        return (pending, newer)
    }

    /// Returns the evidence in a database that has no record of the manager.
    private func evidence(_ schemaSteps: [any SchemaStepWork], _ db: Database) throws -> Evidence {
        // A `SchemaMigrator` among the steps has refused another tool's ledger in `look`.
        if try Ledger.unlessForeign(db)?.exists == true { return .ledgerOnly }
        guard try Ledger.hasOtherTables(db) else { return .empty }
        if try db.hasTable(OwnTables.ofGRDB) { return .ledgerOnly }
        // A migrator that could not find out which migrations the tables hold has refused them in `pending`.
        return schemaSteps.contains { $0 is SQLSchemaStep } ? .adopted : .unmanaged
    }
}
