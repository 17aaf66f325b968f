import AppMigrations
import GRDB

/// A process that lives until a given tick.
///
/// There is a tick before and after everything that leaves a trace; from
/// the one at which it is killed on, nothing that the process does has an effect.
final class FleetProcess: Sendable {
    struct Killed: Error {}
    struct StepFailed: Error {}

    private struct Life {
        var ticks = 0
        var bodies = 0
        var writes = 0
        var isDead = false
        var isImmortal = false
        var whenLocking: (@Sendable () -> Void)?
    }

    private let life: Locked<Life>
    private let killedAt: Int?
    private let throwsIn: Int?

    /// - Parameter whenLocking: is called once, when the process is about to take its first lock.
    init(killedAt: Int? = nil, throwsIn: Int? = nil, whenLocking: (@Sendable () -> Void)? = nil) {
        self.killedAt = killedAt
        self.throwsIn = throwsIn
        life = Locked(Life(whenLocking: whenLocking))
    }

    var isDead: Bool { life.withLock(\.isDead) }
    /// How often the process has written to the store.
    var writes: Int { life.withLock(\.writes) }

    func tick() throws {
        try life.withLock { life in
            guard !life.isDead else { throw Killed() }
            guard !life.isImmortal else { return }
            life.ticks += 1
            life.isDead = life.ticks == killedAt
            if life.isDead { throw Killed() }
        }
    }

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
        life.withLock { $0.isImmortal = true }
        defer { life.withLock { $0.isImmortal = false } }
        return try body()
    }

    fileprivate func willWrite() throws {
        try tick()
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

/// A store, as a process sees that may be killed.
struct FleetStore: IdentifiableStore {
    let base: any MigrationStore
    let process: FleetProcess

    var name: String { base.name }
    var placeID: PlaceID { (base as? any IdentifiableStore)?.placeID ?? .store }

    func read(_ manager: String) throws -> StoreState { try base.read(manager) }

    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        try process.willWrite()
        try base.update(manager, change)
        try process.tick()
    }

    func lock(_ manager: String) throws -> StoreLock {
        process.willLock()
        return try base.lock(manager)
    }
}

/// A database's commits, as a process makes them that may be killed: what it has not committed is rolled back.
final class FleetCommits: TransactionObserver {
    private let process: FleetProcess

    init(_ process: FleetProcess) { self.process = process }

    func databaseWillCommit() throws { try process.tick() }
    func databaseDidCommit(_ db: Database) { try? process.tick() }
    func databaseDidRollback(_ db: Database) {}
    func databaseDidChange(with event: DatabaseEvent) {}
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
}
