extension MigrationManager {
    /// Returns the versions whose closure would run now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does before anything runs.
    public func pendingVersions() throws -> [AppVersion] {
        try exclusively {
            try plan().pending.compactMap { pending in
                pending.step.isMove || pending.step.isForFreshInstalls ? nil : pending.step.version
            }
        }
    }

    /// Returns the moves that would apply something now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does before anything runs.
    public func pendingMoves() throws -> [MigrationMove] {
        try exclusively {
            try plan().pending.filter(\.step.isMove).map { pending in
                MigrationMove(
                    version: pending.step.version, database: pending.step.place.name,
                    schemaVersions: pending.schemaVersions)
            }
        }
    }

    /// Returns the settled steps, from the store and from the databases that steps are registered for, and the
    /// versions of the app that the store has seen.
    ///
    /// - Throws: ``MigrationError``, when a store cannot be read.
    public func history() throws -> MigrationHistory {
        try exclusively {
            let steps = try registration.places.flatMap { try $0.store.history(name) }
            return MigrationHistory(
                steps: steps.sorted { ($0.date, $0.version) < ($1.date, $1.version) },
                seen: try store.read(name).seen[options.line, default: []])
        }
    }
}
