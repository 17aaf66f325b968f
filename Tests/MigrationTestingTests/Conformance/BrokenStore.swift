import AppMigrations
import Foundation

/// A store that breaks a rule.
struct BrokenStore: RecordStorage {
    enum Fault {
        case takesDamageForAbsence
        case forgetsOwed
        case losesSeenOrder
        case writesWhatThrew
        case swallowsWhatThrew
        case changesTwice
        case keepsManagersApart
        case keepsCopies
        case loses
        case locksNothing
        case locksEverything
        case locksUpToNUL
        case neverReleases
        case forgetsHistory
        case recoversNothing
    }

    /// How long a writer waits for another one, however slow the disk is.
    private static let patience: Duration = .seconds(600)

    let fault: Fault
    let base: JSONStore
    /// The state that was read first, for a store that never looks again.
    private let copy = Locked<StoreState?>(nil)
    private let meeting = Meeting()

    init(_ fault: Fault, in folder: URL) throws {
        self.fault = fault
        base = try JSONStore(at: folder.appendingPathComponent("broken.json"), durability: .recordOnly)
    }

    var name: String { base.name }

    func read(_ manager: String) throws -> StoreState {
        switch fault {
        case .takesDamageForAbsence: return (try? base.read(manager)) ?? StoreState()
        case .keepsManagersApart: return try own(manager).read(manager)
        case .losesSeenOrder:
            let state = try base.read(manager)
            var sorted = StoreState()
            try sorted.setRecord(state.record(of: manager), of: manager)
            for (line, versions) in state.seen {
                for seen in versions.sorted(by: { $0.version < $1.version }) {
                    sorted.see(seen.version, build: seen.build, in: line, at: seen.first)
                }
            }
            return sorted
        case .keepsCopies where manager == "Library":
            return try copy.withLock { copy in
                let state = try copy ?? base.read(manager)
                copy = state
                return state
            }
        default: return try base.read(manager)
        }
    }

    func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        switch fault {
        case .forgetsOwed:
            try base.update(manager, waitingUpTo: Self.patience) { state in
                try change(&state)
                try state.changeRecord(of: manager) { record in
                    for id in record?.work.keys ?? [:].keys { record?.changeOpen(id) { $0.isOwed = false } }
                }
            }
        case .writesWhatThrew:
            var thrown: (any Error)?
            try base.update(manager, waitingUpTo: Self.patience) { state in
                do { try change(&state) } catch { thrown = error }
            }
            if let thrown { throw thrown }
        case .swallowsWhatThrew: try? base.update(manager, waitingUpTo: Self.patience, change)
        case .changesTwice:
            var state = try base.read(manager)
            try change(&state)
            try base.update(manager, waitingUpTo: Self.patience, change)
        case .keepsManagersApart: try own(manager).update(manager, waitingUpTo: Self.patience, change)
        case .loses:
            var state = try base.read(manager)
            try change(&state)
            if manager == "Crowd" { meeting.wait() }
            try base.update(manager, waitingUpTo: Self.patience) { $0 = state }
        case .forgetsHistory:
            let isKept = try base.history(manager).isEmpty
            try base.update(manager, waitingUpTo: Self.patience) { state in
                try change(&state)
                if !isKept { state.newHistory = [] }
            }
        default: try base.update(manager, waitingUpTo: Self.patience, change)
        }
    }

    func lock(_ manager: String) throws -> StoreLock {
        switch fault {
        case .locksNothing: .acquired(release: LockRelease { _ in })
        case .locksEverything: try base.lock("everything")
        case .locksUpToNUL: try base.lock(String(manager.prefix { $0 != "\0" }))
        case .neverReleases:
            switch try base.lock(manager) {
            case .acquired(_, let release):
                .acquired(release: LockRelease { _ in withExtendedLifetime(release) {} })
            case .held(let holder): .held(by: holder)
            }
        default: try base.lock(manager)
        }
    }

    func history(_ manager: String) throws -> [SettledStep] {
        try fault == .keepsManagersApart ? own(manager).history(manager) : base.history(manager)
    }

    private func own(_ manager: String) throws -> JSONStore {
        guard manager != "Library" else { return base }
        let file = "broken-\(manager.asFileName).json"
        return try JSONStore(
            at: base.url.deletingLastPathComponent().appendingPathComponent(file), durability: .recordOnly)
    }

    func setAside(replacingWith state: StoreState) throws {
        if fault != .recoversNothing { try base.setAside(replacingWith: state) }
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
