import AppMigrations
import TestSupport
import TextOutput

/// A rule that every store obeys.
struct StoreRule {
    /// The subject of the rule, with which messages begin.
    let subject: String
    /// Tests the rule, and notes how the store breaks it.
    let check: @Sendable (StoreTrial) throws -> Void

    static let all = reading + updating + locking + keepingHistory + recovering
}

// read(_:)
extension StoreRule {
    private static let reading = [
        StoreRule(subject: "read of a store that was never used") { trial in
            for manager in StoreSamples.managers {
                try trial.expect(
                    trial.store().read(manager), of: manager, is: StoreSample(),
                    "read of a store that was never used")
            }
        },
        StoreRule(subject: "read of a damaged store") { trial in
            guard let damage = trial.suite.damage else { return }
            try trial.write(StoreSamples.full, to: trial.store())
            try damage(trial.folder)
            try trial.byEachView { store, whose in
                do {
                    _ = try StoreSample(store.read("Library"), of: "Library")
                    trial.note(
                        "read of a damaged store returns, \(whose): an old install would be taken for a new one"
                    )
                } catch let error as MigrationError {
                    let codes: [MigrationError.Code] = [
                        .damagedStore, .unreadableStore, .newerThanThisProcess,
                    ]
                    trial.expect(
                        codes.contains(error.code),
                        """
                        read of a damaged store throws the code \(error.code), and neither damagedStore, \
                        unreadableStore nor newerFormat
                        """)
                } catch {
                    trial.note(
                        "read of a damaged store throws an error that is not a MigrationError: \(error)")
                }
            }
        },
    ]
}

// update(_:_:)
extension StoreRule {
    private struct Refusal: Error {}

    private static let updating = [
        StoreRule(subject: "update") { trial in
            try trial.write(StoreSamples.full, to: trial.store())
            try trial.byEachView { store, whose in
                try trial.expect(store.read("Library"), is: StoreSamples.full, "read \(whose) after update")
            }
        },
        StoreRule(subject: "update that clears fields") { trial in
            try trial.write(StoreSamples.full, to: trial.store())
            try trial.write(StoreSamples.bare, to: trial.store())
            try trial.byEachView { store, whose in
                try trial.expect(
                    store.read("Library"), is: StoreSamples.bare,
                    "read \(whose) after an update that clears fields")
            }
        },
        StoreRule(subject: "the change of an update") { trial in
            try trial.write(StoreSamples.full, to: trial.store())
            try trial.byEachView { store, whose in
                var calls = 0
                try store.update("Library") { state in
                    calls += 1
                    try trial.expect(state, is: StoreSamples.full, "the change of an update \(whose)")
                }
                trial.expect(
                    calls == 1,
                    "update calls its change \(calls.counting("time")) instead of once (\(whose))")
                try trial.expect(
                    store.read("Library"), is: StoreSamples.full,
                    "read \(whose) after an update that changes nothing")
            }
        },
        StoreRule(subject: "update whose change throws") { trial in
            try trial.write(StoreSamples.settled("1.1"), to: trial.store())
            do {
                try trial.store().update("Library") { state in
                    try StoreSamples.full.write(to: &state, of: "Library")
                    state.newHistory = StoreSamples.history(of: "Library")
                    throw Refusal()
                }
                trial.note("update does not throw when its change does")
            } catch {}
            try trial.byEachView { store, whose in
                try trial.expect(
                    store.read("Library"), is: StoreSamples.settled("1.1"),
                    "read \(whose) after an update whose change throws")
                trial.expect(
                    try store.history("Library").isEmpty,
                    "an update whose change throws leaves a history, as read \(whose)")
            }
        },
        StoreRule(subject: "update of one manager") { trial in
            let store = try trial.store()
            let samples = try StoreSamples.managers.indices.map {
                StoreSamples.settled(try AppVersion(parsing: "1.\($0 + 1)"))
            }
            for (manager, sample) in zip(StoreSamples.managers, samples) {
                try trial.write(sample, of: manager, to: store)
            }
            try trial.byEachView { store, whose in
                for (manager, sample) in zip(StoreSamples.managers, samples) {
                    try trial.expect(
                        store.read(manager), of: manager, is: sample,
                        "read of `\(manager)` \(whose) after updates of other managers")
                }
                try trial.expect(
                    store.read("Nobody"), of: "Nobody", is: StoreSample(),
                    "read of a manager that was never updated, \(whose)")
            }
        },
        StoreRule(subject: "the versions seen") { trial in
            try trial.write(StoreSample(seen: StoreSamples.full.seen), to: trial.store())
            try trial.byEachView { store, whose in
                trial.expect(
                    try store.read("Settings").seen == StoreSamples.full.seen,
                    "the versions that one manager has seen are not seen by another, \(whose)")
            }
        },
        StoreRule(subject: "updates by several threads") { trial in
            let lost = try StoreCrowd(stores: [trial.store(), trial.other()]).lostUpdates()
            trial.expect(
                lost == 0,
                "two threads update at once, and \(lost) of \(StoreCrowd.updates) changes are lost")
        },
    ]
}

// lock(_:)
extension StoreRule {
    private static let locking = [
        StoreRule(subject: "lock") { trial in
            guard case .acquired(_, let release) = try trial.store().lock("Library") else {
                return trial.note("lock of a manager that nobody has locked is held by somebody")
            }
            try trial.byEachView { store, whose in
                if case .acquired(_, let second) = try store.lock("Library") {
                    trial.note("lock is acquired a second time before it is released, \(whose)")
                    second()
                }
                guard case .acquired(_, let other) = try store.lock("Settings") else {
                    trial.note("lock of one manager locks another one, \(whose)")
                    return
                }
                other()
                // Deferred steps take locks of their own, whose names have a NUL, which no manager's name has.
                guard case .acquired(_, let run) = try store.lock("Library\0deferred"),
                    case .acquired(_, let batch) = try store.lock("Library\0batch")
                else {
                    trial.note("lock of a name with a NUL locks more than that name, \(whose)")
                    return
                }
                batch()
                run()
                // A run reads and updates all the time: neither waits for the lock.
                _ = try store.read("Library")
                try trial.write(StoreSamples.settled("1.1"), to: store)
            }
            release()
            try trial.byEachView { store, whose in
                guard case .acquired(_, let again) = try store.lock("Library") else {
                    trial.note("lock is still held after its release, \(whose)")
                    return
                }
                again()
            }
        }
    ]
}

// history(_:) and setAside(replacingWith:), which a store may leave at their defaults
extension StoreRule {
    private static let keepingHistory = [
        StoreRule(subject: "history") { trial in
            let store = try trial.store()
            trial.expect(
                try store.history("Library").isEmpty, "history of a store that was never used has steps")
            let history = StoreSamples.history(of: "Library")
            let other = StoreSamples.history(of: "Settings")[1]
            try store.update("Library") { $0.newHistory = [history[0]] }
            // A store without a history returns an empty one.
            guard try !store.history("Library").isEmpty else { return }
            try store.update("Settings") { $0.newHistory = [other] }
            try store.update("Library") { state in
                trial.expect(state.newHistory.isEmpty, "the change of an update finds history from before")
                state.newHistory = [history[1], history[2]]
            }
            try trial.write(StoreSample(record: StoreSamples.full.record), to: store)
            try trial.byEachView { view, whose in
                trial.expect(
                    try view.history("Library") == history,
                    "history, as read \(whose), is not what the updates of the manager have added, in their order"
                )
                trial.expect(
                    try view.history("Settings") == [other],
                    "history of one manager, as read \(whose), is not kept apart from another's")
                trial.expect(
                    try view.read("Library").newHistory.isEmpty, "read \(whose) returns new history")
            }
        }
    ]

    private static let recovering = [
        StoreRule(subject: "setAside") { trial in
            let store = try trial.store()
            try trial.write(StoreSamples.full, to: store)
            try trial.write(StoreSample(record: StoreSamples.full.record), of: "Settings", to: store)
            try trial.suite.damage?(trial.folder)
            var state = StoreState()
            try StoreSamples.settled("1.3").write(to: &state, of: "Library")
            do {
                try store.setAside(replacingWith: state)
            } catch let error as MigrationError where error.code == .damagedStore {
                return  // This kind of store cannot set its contents aside, and says so.
            }
            trial.subject = "read after setAside"
            try trial.byEachView { view, whose in
                try trial.expect(
                    view.read("Library"), is: StoreSamples.settled("1.3"),
                    "read \(whose) after setAside")
                try trial.expect(
                    view.read("Settings"), of: "Settings", is: StoreSample(),
                    "read of another manager \(whose) after setAside")
            }
        }
    ]
}
