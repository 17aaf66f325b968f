import AppMigrations
import MigrationTesting

/// A process of the fleet, which may be killed, or have a step that throws.
final class FleetProcess: Sendable {
    struct StepFailed: Error {}

    private struct Life {
        var bodies = 0
        var writes = 0
        var whenLocking: (@Sendable () -> Void)?
        var locksBefore: Int
        /// Everything that the process has done of a manager's deferred work; nil while it launches.
        var deferred: Deferred?
        /// The lock of the deferred work at which ``whenLocking`` was called.
        var calledAt: Int?
    }

    private struct Deferred {
        let limit: Int
        var batches = 0
        var locks = 0
    }

    let process: SimulatedProcess
    private let life: Locked<Life>
    private let trouble: FleetModel.Trouble?

    /// - Parameters:
    ///   - whenLocking: is called once, when the process is about to take a lock.
    ///   - lock: the number of that lock, from 1.
    init(
        killedAt: Int? = nil, trouble: FleetModel.Trouble? = nil, before lock: Int = 1,
        whenLocking: (@Sendable () -> Void)? = nil
    ) {
        self.trouble = trouble
        process = SimulatedProcess(dying: killedAt.map { .moment($0) } ?? .never)
        life = Locked(Life(whenLocking: whenLocking, locksBefore: lock - 1))
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
        guard let trouble, trouble.strikes(number) else { return }
        throw trouble.isObstacle ? MigrationPostponed(reason: "not yet") : StepFailed()
    }

    /// Does something without a tick.
    func immortally<Result>(_ body: () throws -> Result) rethrows -> Result {
        try process.immortally(body)
    }

    /// Does a manager's deferred work, as many batches as there is time for.
    ///
    /// - Returns: the number of the lock at which another process has come in between, from 0; nil if none has.
    func afterLaunch(batches limit: Int, _ work: () -> Void) -> Int? {
        life.withLock { life in
            life.deferred = Deferred(limit: limit)
            life.calledAt = nil
        }
        work()
        return life.withLock { life in
            life.deferred = nil
            return life.calledAt
        }
    }

    fileprivate func willWrite() {
        life.withLock { $0.writes += 1 }
    }

    fileprivate func willLock(_ name: String) {
        let call: (@Sendable () -> Void)? = life.withLock { life in
            let number = life.deferred?.locks
            life.deferred?.locks += 1
            // A launch that finishes deferred steps holds the lock that the other process would wait for.
            guard life.deferred != nil || !name.contains("\0") else { return nil }
            guard life.locksBefore == 0 else {
                life.locksBefore -= 1
                return nil
            }
            guard let call = life.whenLocking else { return nil }
            life.whenLocking = nil
            life.calledAt = number
            return call
        }
        // What the other process commits is no moment of this one.
        if let call { immortally(call) }
    }
}

extension FleetProcess: LaunchObserver {
    // The process watches stores and databases itself.
    func watching(_ store: any MigrationStore) -> any MigrationStore { store }
    func willUse(_ place: any MigrationPlace) {}

    func note(_ event: MigrationEvent) {
        switch event.kind {
        case .didRun, .didRunBatch: life.withLock { $0.deferred?.batches += 1 }
        default: break
        }
    }

    var batchSize: Int { FleetApp.rowsPerBatch }
    var isTimeOver: Bool { life.withLock { $0.deferred.map { $0.batches >= $0.limit } ?? false } }
}

/// A store, as a process of the fleet sees it.
struct FleetStore: MigrationPlace, MigrationStore {
    private let base: WatchedStore
    private let process: FleetProcess

    init(base: any MigrationStore, process: FleetProcess) {
        self.base = WatchedStore(base: base, process: process.process)
        self.process = process
    }

    var name: String { base.name }
    var id: PlaceID { base.id }
    var store: any MigrationStore { self }

    func look(
        manager: String, moves: [any SchemaStepWork], waitingUpTo limit: Duration?
    ) throws -> PlaceState {
        try base.look(manager: manager, moves: moves, waitingUpTo: limit)
    }

    func mistakes(in moves: [any SchemaStepWork]) throws -> [SchemaStepMistake] { try base.mistakes(in: moves) }

    func read(_ manager: String) throws -> StoreState { try base.read(manager) }

    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        process.willWrite()
        try base.update(manager, change)
    }

    func lock(_ manager: String) throws -> StoreLock {
        process.willLock(manager)
        return try base.lock(manager)
    }
}
