import SchemaMigrations

extension Refill {
    /// Returns true if a row that a migration inserts can have been where a table has lost something.
    ///
    /// - Parameter id: nil in a table without row ids.
    func mayBeLost(_ id: Int64?, from layout: TableLayout) -> Bool {
        // A later migration gives the next ids, which are others beside the app's rows.
        if let id, id > version.lastIDs[layout.name] ?? .min { return false }
        let id = id ?? 0
        if unreadable[layout.name]?.contains(id) == true { return true }
        if let lost = lost[layout.name] { return lost.hold(id...id) }
        return found[layout.name]?.contains { $0.keys.contains(id) && !$0.lost.hold(id...id) } != true
    }
}
