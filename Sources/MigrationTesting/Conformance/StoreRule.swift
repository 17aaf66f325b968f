import AppMigrations

/// A rule that every store keeps.
struct StoreRule {
    /// What the rule is about, as messages begin.
    let subject: String
    /// Notes how the rule is broken.
    let check: @Sendable (StoreTrial) throws -> Void

    static let all = reading + updating + locking + keepingHistory + recovering
}

// read(_:)
extension StoreRule {
    private static let reading = [
        StoreRule(subject: "read of a store that was never used") { trial in
            for manager in StoreSamples.managers {
                trial.expect(
                    try trial.store().read(manager), is: StoreState(),
                    "read of a store that was never used")
            }
        },
        StoreRule(subject: "read of a damaged store") { trial in
            guard let damage = trial.suite.damage else { return }
            try trial.store().update("Library") { $0 = StoreSamples.full }
            try damage(trial.folder)
            try trial.byEachView { store, whose in
                do {
                    _ = try store.read("Library")
                    trial.note(
                        "read of a damaged store returns, \(whose): an old install would be taken for a new one"
                    )
                } catch let error as MigrationError {
                    let codes: [MigrationError.Code] = [.damagedStore, .unreadableStore, .newerFormat]
                    trial.expect(
                        codes.contains(error.code),
                        """
                        read of a damaged store throws the code \(error.code.rawValue), and neither damagedStore, \
                        unreadableStore nor newerFormat
                        """)
                } catch {
                    trial.note("read of a damaged store throws what is no MigrationError: \(error)")
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
            try trial.store().update("Library") { $0 = StoreSamples.full }
            try trial.byEachView { store, whose in
                let state = try store.read("Library")
                trial.expect(state, is: StoreSamples.full, "read \(whose) after update")
            }
        },
        StoreRule(subject: "update that clears fields") { trial in
            try trial.store().update("Library") { $0 = StoreSamples.full }
            try trial.store().update("Library") { $0.record = StoreSamples.bare.record }
            try trial.byEachView { store, whose in
                let state = try store.read("Library")
                trial.expect(
                    state, is: StoreSamples.bare, "read \(whose) after an update that clears fields")
            }
        },
        StoreRule(subject: "the change of an update") { trial in
            try trial.store().update("Library") { $0 = StoreSamples.full }
            try trial.byEachView { store, whose in
                var calls = 0
                try store.update("Library") { state in
                    calls += 1
                    trial.expect(state, is: StoreSamples.full, "the change of an update \(whose)")
                }
                trial.expect(
                    calls == 1,
                    "update calls its change \(calls.counting("time")), and not once (\(whose))")
                let state = try store.read("Library")
                trial.expect(
                    state, is: StoreSamples.full, "read \(whose) after an update that changes nothing")
            }
        },
        StoreRule(subject: "update whose change throws") { trial in
            try trial.store().update("Library") { $0 = StoreSamples.settled("1.1") }
            do {
                try trial.store().update("Library") { state in
                    state = StoreSamples.full
                    state.newHistory = StoreSamples.history
                    throw Refusal()
                }
                trial.note("update does not throw when its change does")
            } catch {}
            try trial.byEachView { store, whose in
                let state = try store.read("Library")
                trial.expect(
                    state, is: StoreSamples.settled("1.1"),
                    "read \(whose) after an update whose change throws")
                guard let history = try (store as? any HistoryStore)?.history("Library") else { return }
                trial.expect(
                    history.isEmpty, "an update whose change throws leaves a history, as read \(whose)")
            }
        },
        StoreRule(subject: "update of one manager") { trial in
            let store = try trial.store()
            let states = try StoreSamples.managers.indices.map {
                StoreSamples.settled(try AppVersion(parsing: "1.\($0 + 1)"))
            }
            for (manager, state) in zip(StoreSamples.managers, states) {
                try store.update(manager) { $0.record = state.record }
            }
            try trial.byEachView { store, whose in
                for (manager, state) in zip(StoreSamples.managers, states) {
                    let found = try store.read(manager)
                    trial.expect(
                        found, is: state, "read of `\(manager)` \(whose) after updates of other managers")
                }
                let unknown = try store.read("Nobody")
                trial.expect(
                    unknown, is: StoreState(), "read of a manager that was never updated, \(whose)")
            }
        },
        StoreRule(subject: "the versions seen") { trial in
            try trial.store().update("Library") { $0.seen = StoreSamples.full.seen }
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
            guard case .acquired(let release) = try trial.store().lock("Library") else {
                return trial.note("lock of a manager that nobody has locked is held by somebody")
            }
            try trial.byEachView { store, whose in
                if case .acquired(let second) = try store.lock("Library") {
                    trial.note("lock is acquired a second time before it is released, \(whose)")
                    second()
                }
                guard case .acquired(let other) = try store.lock("Settings") else {
                    trial.note("lock of one manager locks another one, \(whose)")
                    return
                }
                other()
                // What a run does all the time: neither waits for the lock.
                _ = try store.read("Library")
                try store.update("Library") { $0 = StoreSamples.settled("1.1") }
            }
            release()
            try trial.byEachView { store, whose in
                guard case .acquired(let again) = try store.lock("Library") else {
                    trial.note("lock is still held after its release, \(whose)")
                    return
                }
                again()
            }
        }
    ]
}

// HistoryStore and RecoverableStore
extension StoreRule {
    private static let keepingHistory = [
        StoreRule(subject: "history") { trial in
            guard let store = try trial.store() as? any HistoryStore else { return }
            trial.expect(
                try store.history("Library").isEmpty, "history of a store that was never used has steps")
            let history = StoreSamples.history
            try store.update("Library") { $0.newHistory = [history[0]] }
            try store.update("Settings") { $0.newHistory = [history[1]] }
            try store.update("Library") { state in
                trial.expect(state.newHistory.isEmpty, "the change of an update finds history from before")
                state.newHistory = [history[1], history[2]]
            }
            try store.update("Library") { $0.record = StoreSamples.full.record }
            try trial.byEachView { view, whose in
                guard let view = view as? any HistoryStore else { return }
                trial.expect(
                    try view.history("Library") == history,
                    "history, as read \(whose), is not what the updates of the manager have added, in their order"
                )
                trial.expect(
                    try view.history("Settings") == [history[1]],
                    "history of one manager, as read \(whose), is not kept apart from another's")
                trial.expect(
                    try view.read("Library").newHistory.isEmpty, "read \(whose) returns new history")
            }
        }
    ]

    private static let recovering = [
        StoreRule(subject: "setAside") { trial in
            guard let store = try trial.store() as? any RecoverableStore else { return }
            try store.update("Library") { $0 = StoreSamples.full }
            try store.update("Settings") { $0.record = StoreSamples.full.record }
            try trial.suite.damage?(trial.folder)
            try store.setAside(replacing: "Library", with: StoreSamples.settled("1.3"))
            trial.subject = "read after setAside"
            try trial.byEachView { view, whose in
                trial.expect(
                    try view.read("Library"), is: StoreSamples.settled("1.3"),
                    "read \(whose) after setAside")
                trial.expect(
                    try view.read("Settings"), is: StoreState(),
                    "read of another manager \(whose) after setAside")
            }
        }
    ]
}
