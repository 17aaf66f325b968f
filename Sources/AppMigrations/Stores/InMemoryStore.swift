/// A store that forgets everything with the process.
///
/// For tests and previews.
///
/// ```swift
/// let manager = try MigrationManager(currentVersion: "2.0", adopting: .newApp, store: InMemoryStore())
/// ```
public final class InMemoryStore: MigrationStore {
    private struct Contents {
        var state = StoreState()
        var locked: Set<String> = []
    }

    private let contents = Locked(Contents())

    /// Creates a store that has never been used.
    public init() {}

    /// `memory`.
    public var name: String { "memory" }

    /// Returns what the store keeps.
    ///
    /// - Parameter manager: the name of the manager.
    public func read(_ manager: String) -> StoreState {
        contents.withLock { $0.state }
    }

    /// Changes what the store keeps.
    ///
    /// - Parameters:
    ///   - manager: the name of the manager.
    ///   - change: changes the state; when it throws, the state stays.
    /// - Throws: the error of the change.
    public func update(_ manager: String, _ change: (inout StoreState) throws -> Void) rethrows {
        try contents.withLock { contents in
            var state = contents.state
            try change(&state)
            state.newHistory = []
            contents.state = state
        }
    }

    /// Tries to lock a manager for a run.
    ///
    /// - Parameter manager: the name of the manager.
    public func lock(_ manager: String) -> StoreLock {
        guard contents.withLock({ $0.locked.insert(ManagerName(manager).key).inserted }) else {
            return .held(by: "this process")
        }
        return .acquired { [contents] in
            contents.withLock { _ = $0.locked.remove(ManagerName(manager).key) }
        }
    }
}
