/// Keeps records in memory, and forgets them with the process.
package final class InMemoryStore: RecordStorage {
    private struct Contents {
        var state = StoreState()
        var locked: Set<String> = []
    }

    private let contents = Locked(Contents())

    package init() {}

    package var name: String { "memory" }

    package func read(_ manager: String) -> StoreState {
        contents.withLock { $0.state }
    }

    package func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) rethrows {
        try contents.withLock { contents in
            var state = contents.state
            try change(&state)
            state.newHistory = []
            contents.state = state
        }
    }

    package func lock(_ manager: String) -> StoreLock {
        guard contents.withLock({ $0.locked.insert(ManagerName(manager).key).inserted }) else {
            return .held(by: .thisProcess)
        }
        return .acquired(
            release: LockRelease { [contents] _ in
                contents.withLock { _ = $0.locked.remove(ManagerName(manager).key) }
            })
    }

    /// Returns nothing: no history is kept.
    package func history(_ manager: String) -> [SettledStep] { [] }

    package func setAside(replacingWith state: StoreState) {
        contents.withLock { $0.state = state }
    }
}
