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
    let release: SmallRelease
    private let fault: SmallEvent.Fault?
    private let failing: Set<Int>
    private let postponing: Set<Int>
    /// The number of batches of deferred work that there is time for; nil for all.
    private var batchesLeft: Int?

    var device: WorldDevice
    /// The manager that is being called.
    var manager = 0
    private(set) var outcome: SmallOutcome
    private(set) var isDead = false
    private var isImmortal = false
    /// The work whose body is running.
    private var running: Int?
    /// True if that is so until a change has been made.
    private var endsWithChange = false
    /// Cancels the calls of the manager that is being called.
    var cancel: (() -> Void)?

    init(
        _ app: SmallApp, _ device: WorldDevice, release: SmallRelease, fault: SmallEvent.Fault?,
        failing: Set<Int>, postponing: Set<Int> = [], batches: Int? = nil
    ) {
        self.app = app
        self.device = device
        self.release = release
        self.fault = fault
        self.failing = failing
        self.postponing = postponing
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
        switch fault {
        case .dies(before: outcome.changes):
            outcome.changes -= 1
            throw die()
        case .diesIn(let work) where work == running:
            outcome.changes -= 1
            throw die()
        case .cancels(before: outcome.changes):
            outcome.wasCancelled = true
            cancel?()
        default: break
        }
        outcome.changed[manager, default: [:]][place, default: 0] += 1
        if endsWithChange { (running, endsWithChange) = (nil, false) }
    }

    private func die() -> Dead {
        // What was not committed has not run.
        if endsWithChange, let running, let index = outcome.ran.lastIndex(of: running) {
            outcome.ran.remove(at: index)
        }
        (isDead, outcome.died, outcome.diedIn) = (true, true, running)
        return Dead()
    }

    /// Begins the body of a work, which ends with the change that it makes.
    func enter(_ work: Int) throws {
        try checkAlive()
        outcome.entered.append(work)
        (running, endsWithChange) = (work, true)
    }

    /// Runs the body of a work.
    func run<Result>(_ work: Int, _ body: () throws -> Result) throws -> Result {
        try checkAlive()
        outcome.entered.append(work)
        running = work
        defer { running = nil }
        return try body()
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
    func end(with result: SmallOutcome.Result, culprit: SmallWork? = nil) {
        guard !isDead else { return }
        outcome.results[manager] = result
        outcome.culprits[manager] = culprit
    }

    /// Cancels calls that are cancelled before they begin.
    func beginCalls() {
        guard fault == .cancels(before: 0) else { return }
        outcome.wasCancelled = true
        cancel?()
    }

    /// Begins a second round of calls in the same process.
    func beginAgain() { outcome = SmallOutcome(managers: app.managers.count) }

    /// Throws if a step is to fail now, or asks to wait.
    func mayFail(_ step: Int) throws {
        try checkAlive()
        let (before, endedWithChange) = (running, endsWithChange)
        if endedWithChange { running = nil }
        if fault == .postpones(step) || fault == .postponesAlways(step) || postponing.contains(step) {
            outcome.postponed.insert(step)
            throw MigrationPostponed(reason: "not yet")
        }
        if fault == .fails(step) || fault == .failsAlways(step) || failing.contains(step) {
            outcome.failed[step, default: 0] += 1
            throw StepFailed()
        }
        running = before
    }

    /// Notes that a work has got further.
    func didAdvance(_ work: Int) { outcome.advanced.insert(work) }

    /// Notes that the body of a step has come to its end.
    func didRun(_ step: Int) { outcome.ran.append(step) }

    // MARK: As an observer

    func watching(_ store: any RecordStorage) -> any RecordStorage { store }
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
struct WorldStore: RecordStorage {
    let process: WorldProcess
    var name: String { "store" }

    func read(_ manager: String) throws -> StoreState {
        try process.checkAlive()
        if process.device.isDamaged { throw MigrationError.damaged(name) }
        return process.device.store
    }

    func setAside(replacingWith state: StoreState) throws {
        try process.willChange(.files)
        process.device.store = state
        process.device.isDamaged = false
    }

    func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        if process.device.isDamaged { throw MigrationError.damaged(name) }
        var state = process.device.store
        try change(&state)
        state.newHistory = []
        try process.willChange(.files)
        process.device.store = state
    }

    func history(_ manager: String) -> [SettledStep] { [] }

    func lock(_ manager: String) throws -> StoreLock { try process.lock(manager, of: name) }
}

extension WorldProcess {
    /// Takes a lock, which is not released if the process dies.
    func lock(_ name: String, of store: String) throws -> StoreLock {
        try checkAlive()
        let key = "\(store) \(name)"
        let wasReleased = device.locks[key] ?? false
        device.locks[key] = false
        let release = LockRelease { [self] isEnd in
            if !isDead { device.locks[key] = isEnd }
        }
        return .acquired(wasReleased: wasReleased, release: release)
    }
}

extension MigrationError {
    /// As a store reports what it cannot understand.
    static func damaged(_ store: String) -> MigrationError {
        MigrationError(.damagedStore, "\(store) is damaged", remedy: "Replace the record.")
    }
}
