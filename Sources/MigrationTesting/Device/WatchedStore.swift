package import AppMigrations

/// A store whose calls throw and write nothing once the process is dead.
package struct WatchedStore: MigrationPlace, RecordStorage {
    private let base: any RecordStorage
    private let process: SimulatedProcess

    package init(base: any RecordStorage, process: SimulatedProcess) {
        self.base = base
        self.process = process
    }

    package var name: String { base.name }
    package var store: any RecordStorage { self }
    package var id: PlaceID { place.id }
    package var path: String { place.path }

    private var place: any MigrationPlace { StorePlace.of(base) }

    package func readState(
        of manager: String, schemaSteps: [any SchemaStepWork], waitingUpTo limit: Duration?
    ) throws
        -> PlaceState
    {
        try process.checkAlive()
        return try place.readState(of: manager, schemaSteps: schemaSteps, waitingUpTo: limit)
    }

    package func syncFiles() throws { try base.syncFiles() }

    package func checkIsOutsideTransaction() throws { try place.checkIsOutsideTransaction() }

    package var failsOthersWhileWriting: Bool { place.failsOthersWhileWriting }

    package func read(_ manager: String) throws -> StoreState {
        try process.checkAlive()
        return try base.read(manager)
    }

    package func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        try process.moment()
        try base.update(manager, waitingUpTo: limit, change)
        try process.moment()
    }

    package func lock(_ manager: String) throws -> StoreLock {
        try process.checkAlive()
        // A simulated process that dies releases its locks like any other code, so nothing is known of how it ended.
        return switch try base.lock(manager) {
        case .acquired(_, let release): .acquired(release: release)
        case .held(let holder): .held(by: holder)
        }
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
