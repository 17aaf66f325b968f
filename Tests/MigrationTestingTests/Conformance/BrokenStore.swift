import AppMigrations
import Foundation

/// A store that breaks a rule.
struct BrokenStore: HistoryStore, RecoverableStore {
    enum Fault {
        case takesDamageForAbsence
        case forgetsOwed
        case losesSeenOrder
        case writesWhatThrew
        case swallowsWhatThrew
        case changesTwice
        case mixesManagers
        case keepsCopies
        case loses
        case locksNothing
        case locksEverything
        case neverReleases
        case forgetsHistory
        case recoversNothing
    }

    let fault: Fault
    let base: JSONStore
    /// What was read first, for a store that never looks again.
    private let copy = Locked<StoreState?>(nil)
    private let meeting = Meeting()

    init(_ fault: Fault, in folder: URL) throws {
        self.fault = fault
        base = try JSONStore(at: folder.appendingPathComponent("broken.json"), barrier: .none)
    }

    var name: String { base.name }

    func read(_ manager: String) throws -> StoreState {
        switch fault {
        case .takesDamageForAbsence: return (try? base.read(manager)) ?? StoreState()
        case .mixesManagers: return try base.read(manager.lowercased())
        case .losesSeenOrder:
            var state = try base.read(manager)
            state.seen = state.seen.mapValues { $0.sorted { $0.version < $1.version } }
            return state
        case .keepsCopies where manager == "Library":
            return try copy.withLock { copy in
                let state = try copy ?? base.read(manager)
                copy = state
                return state
            }
        default: return try base.read(manager)
        }
    }

    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        switch fault {
        case .forgetsOwed:
            try base.update(manager) { state in
                try change(&state)
                state.record?.owed = []
            }
        case .writesWhatThrew:
            var thrown: (any Error)?
            try base.update(manager) { state in
                do { try change(&state) } catch { thrown = error }
            }
            if let thrown { throw thrown }
        case .swallowsWhatThrew: try? base.update(manager, change)
        case .changesTwice:
            var state = try base.read(manager)
            try change(&state)
            try base.update(manager, change)
        case .mixesManagers: try base.update(manager.lowercased(), change)
        case .loses:
            var state = try base.read(manager)
            try change(&state)
            if manager == "Crowd" { meeting.wait() }
            try base.update(manager) { $0 = state }
        case .forgetsHistory:
            try base.update(manager) { state in
                try change(&state)
                state.newHistory = []
            }
        default: try base.update(manager, change)
        }
    }

    func lock(_ manager: String) throws -> StoreLock {
        switch fault {
        case .locksNothing: .acquired {}
        case .locksEverything: try base.lock("everything")
        case .neverReleases:
            switch try base.lock(manager) {
            case .acquired(let release): .acquired { withExtendedLifetime(release) {} }
            case .held(let holder): .held(by: holder)
            }
        default: try base.lock(manager)
        }
    }

    func history(_ manager: String) throws -> [SettledStep] { try base.history(manager) }

    func setAside(replacing manager: String, with state: StoreState) throws {
        if fault != .recoversNothing { try base.setAside(replacing: manager, with: state) }
    }
}

/// Where two threads wait for each other, so that both have read before either writes.
private final class Meeting: Sendable {
    private let arrived = Locked(0)

    func wait() {
        let place = arrived.withLock { arrived in
            arrived += 1
            return arrived
        }
        let size = place + place % 2
        while arrived.withLock({ $0 }) < size { Thread.sleep(forTimeInterval: 0.000_1) }
    }
}
