import AppMigrations
import MigrationTesting

/// A process of the fleet, which may be killed, or have a step that throws.
final class FleetProcess: Sendable {
    struct StepFailed: Error {}

    private struct Life {
        var bodies = 0
        var writes = 0
        var whenLocking: (@Sendable () -> Void)?
    }

    let process: SimulatedProcess
    private let life: Locked<Life>
    private let throwsIn: Int?

    /// - Parameter whenLocking: is called once, when the process is about to take its first lock.
    init(killedAt: Int? = nil, throwsIn: Int? = nil, whenLocking: (@Sendable () -> Void)? = nil) {
        self.throwsIn = throwsIn
        process = SimulatedProcess(dying: killedAt.map { .moment($0) } ?? .never)
        life = Locked(Life(whenLocking: whenLocking))
    }

    var isDead: Bool { process.isDead }
    /// How often the process has written to the store.
    var writes: Int { life.withLock(\.writes) }

    /// A moment at which the process may be killed.
    func tick() throws { try process.moment() }

    /// Runs the body of a step, which may be the one that throws.
    func body(_ effect: () throws -> Void) throws {
        try tick()
        try effect()
        try tick()
        let number = life.withLock { life in
            life.bodies += 1
            return life.bodies
        }
        if number == throwsIn { throw StepFailed() }
    }

    /// Does something without a tick.
    func immortally<Result>(_ body: () throws -> Result) rethrows -> Result {
        try process.immortally(body)
    }

    fileprivate func willWrite() {
        life.withLock { $0.writes += 1 }
    }

    fileprivate func willLock() {
        let call = life.withLock { life in
            defer { life.whenLocking = nil }
            return life.whenLocking
        }
        call?()
    }
}

/// A store, as a process of the fleet sees it.
struct FleetStore: PlaceStore {
    private let base: WatchedStore
    private let process: FleetProcess

    init(base: any MigrationStore, process: FleetProcess) {
        self.base = WatchedStore(base: base, process: process.process)
        self.process = process
    }

    var name: String { base.name }
    var placeID: PlaceID { base.placeID }

    func look(_ manager: String) throws -> PlaceState { try base.look(manager) }

    func read(_ manager: String) throws -> StoreState { try base.read(manager) }

    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        process.willWrite()
        try base.update(manager, change)
    }

    func lock(_ manager: String) throws -> StoreLock {
        process.willLock()
        return try base.lock(manager)
    }
}
