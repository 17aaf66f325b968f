package import AppMigrations

/// Apps compare no states, and do not pay for it.
extension StoreState: Equatable {
    /// Returns true if both would be stored alike.
    package static func == (one: StoreState, other: StoreState) -> Bool {
        (try? one.json()) == (try? other.json()) && one.newHistory == other.newHistory
    }
}
