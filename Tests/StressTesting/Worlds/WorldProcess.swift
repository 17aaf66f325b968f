import AppMigrations
import Foundation
import SmallWorlds

/// The process of an event of a small world: it may die before any change that it makes, and steps may fail in it.
///
/// One thread at a time uses it.
final class WorldProcess: LaunchObserver, @unchecked Sendable {
    struct Dead: Error {}
    struct StepFailed: Error {}

    let app: SmallApp
    let release: Int
    private let fault: SmallEvent.Fault?
    private let failing: Set<Int>
    /// The number of batches of deferred work that there is time for; nil for all.
    private var batchesLeft: Int?

    var device: WorldDevice
    /// The manager that is being called.
    var manager = 0
    private(set) var outcome: SmallOutcome
    private(set) var isDead = false
    private var isImmortal = false

    init(
        _ app: SmallApp, _ device: WorldDevice, release: Int, fault: SmallEvent.Fault?, failing: Set<Int>,
        batches: Int? = nil
    ) {
        self.app = app
        self.device = device
        self.release = release
        self.fault = fault
        self.failing = failing
        batchesLeft = batches
        outcome = SmallOutcome(managers: app.managers.count)
    }

    /// Notes that the process is about to change a place, by the manager that it calls.
    ///
    /// - Throws: ``Dead``, if it dies first.
    func willChange(_ place: SmallApp.Place) throws {
        try checkAlive()
        guard !isImmortal else { return }
        outcome.changes += 1
        guard case .dies(before: outcome.changes) = fault else {
            outcome.changed[manager, default: []].insert(place)
            return
        }
        (isDead, outcome.died) = (true, true)
        outcome.changes -= 1
        throw Dead()
    }

    func checkAlive() throws {
        if isDead { throw Dead() }
    }

    /// Runs what the app does itself: it makes no changes that count, and the process does not die in it.
    func immortally(_ body: () throws -> Void) throws {
        isImmortal = true
        defer { isImmortal = false }
        try body()
    }

    /// Ends the calls of the manager that is being called.
    func end(with result: SmallOutcome.Result) {
        if !isDead { outcome.results[manager] = result }
    }

    /// Throws if a step is to fail now, or asks to wait.
    func mayFail(_ step: Int) throws {
        try checkAlive()
        if fault == .postpones(step) {
            outcome.postponed.insert(step)
            throw MigrationPostponed(reason: "not yet")
        }
        if fault == .fails(step) || failing.contains(step) {
            outcome.failed[step, default: 0] += 1
            throw StepFailed()
        }
    }

    /// Notes that the body of a step has come to its end.
    func didRun(_ step: Int) { outcome.ran.append(step) }

    // MARK: As an observer

    func watching(_ store: any MigrationStore) -> any MigrationStore { store }
    func willUse(_ place: any MigrationPlace) {}
    let batchSize = 1
    var isTimeOver: Bool { batchesLeft.map { $0 <= 0 } ?? false }

    func note(_ event: MigrationEvent) {
        switch event.kind {
        case .didRun, .didRunBatch: batchesLeft? -= 1
        default: break
        }
    }
}

/// The JSON store of a small world.
struct WorldStore: MigrationStore {
    let process: WorldProcess
    var name: String { "store" }

    func read(_ manager: String) throws -> StoreState {
        try process.checkAlive()
        return process.device.store
    }

    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        var state = process.device.store
        try change(&state)
        state.newHistory = []
        try process.willChange(.files)
        process.device.store = state
    }

    func lock(_ manager: String) throws -> StoreLock { try process.lock(manager, of: name) }
}

extension WorldProcess {
    /// Takes a lock, which is not released if the process dies.
    func lock(_ name: String, of store: String) throws -> StoreLock {
        try checkAlive()
        let key = "\(store) \(name)"
        let wasReleased = device.locks[key] ?? false
        device.locks[key] = false
        return .acquired(wasReleased: wasReleased) { [self] in
            if !isDead { device.locks[key] = true }
        }
    }
}
