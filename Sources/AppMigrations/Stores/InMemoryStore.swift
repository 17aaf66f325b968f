/// A store that forgets everything with the process.
///
/// For tests and previews.
public final class InMemoryStore: MigrationStore {
    private struct Contents {
        var records: [String: MigrationRecord] = [:]
        var seen: [String: [SeenVersion]] = [:]
        var locked: Set<String> = []
    }

    private let contents = Locked(Contents())

    /// Creates a store that has seen nothing.
    public init() {}

    /// `memory`.
    public var name: String { "memory" }

    /// Returns what the store knows that concerns one manager.
    public func read(_ manager: String) -> StoreState {
        contents.withLock { StoreState(record: $0.records[manager], seen: $0.seen) }
    }

    /// Changes what concerns one manager.
    public func update(_ manager: String, _ change: (inout StoreState) throws -> Void) rethrows {
        try contents.withLock { contents in
            var state = StoreState(record: contents.records[manager], seen: contents.seen)
            try change(&state)
            contents.records[manager] = state.record
            contents.seen = state.seen
        }
    }

    /// Tries to lock a manager for a run.
    public func lock(_ manager: String) -> StoreLock {
        guard contents.withLock({ $0.locked.insert(manager).inserted }) else {
            return .held(by: "this process")
        }
        return .acquired { [contents] in
            contents.withLock { _ = $0.locked.remove(manager) }
        }
    }
}
