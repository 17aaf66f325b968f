package import AppMigrations

/// A store, as a process sees it that may be killed.
package struct WatchedStore: IdentifiableStore, HistoryStore, RecoverableStore {
    private let base: any MigrationStore
    private let process: SimulatedProcess

    package init(base: any MigrationStore, process: SimulatedProcess) {
        self.base = base
        self.process = process
    }

    package var name: String { base.name }
    package var placeID: PlaceID { PlaceID(of: base) }

    package func read(_ manager: String) throws -> StoreState {
        try process.checkAlive()
        return try base.read(manager)
    }

    package func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        try process.moment()
        try base.update(manager, change)
        try process.moment()
    }

    package func lock(_ manager: String) throws -> StoreLock {
        try process.checkAlive()
        return try base.lock(manager)
    }

    package func history(_ manager: String) throws -> [SettledStep] {
        try process.checkAlive()
        return try (base as? any HistoryStore)?.history(manager) ?? []
    }

    package func setAside(replacing manager: String, with state: StoreState) throws {
        guard let base = base as? any RecoverableStore else {
            // The manager does not ask a store to set its contents aside unless they are damaged.
            throw MigrationError(
                .damagedStore, "\(name) is damaged, and cannot be set aside.",
                remedy: "Make the store conform to RecoverableStore.", manager: manager)
        }
        try process.moment()
        try base.setAside(replacing: manager, with: state)
        try process.moment()
    }
}
