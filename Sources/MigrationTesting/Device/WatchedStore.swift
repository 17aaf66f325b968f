package import AppMigrations

/// A store whose calls throw and write nothing once the process is dead.
package struct WatchedStore: PlaceStore {
    private let base: any MigrationStore
    private let process: SimulatedProcess

    package init(base: any MigrationStore, process: SimulatedProcess) {
        self.base = base
        self.process = process
    }

    package var name: String { base.name }
    package var placeID: PlaceID { PlaceID(of: base) }

    package func look(_ manager: String) throws -> PlaceState {
        try process.checkAlive()
        if let base = base as? any PlaceStore { return try base.look(manager) }
        return try PlaceState(of: manager, in: base.read(manager), evidence: .empty)
    }

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
        return try base.history(manager)
    }

    package func setAside(replacingWith state: StoreState) throws {
        try process.moment()
        try base.setAside(replacingWith: state)
        try process.moment()
    }
}
