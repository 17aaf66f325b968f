/// Identifies a place: equal for two objects that stand for the same one.
package enum PlaceID: Hashable, Sendable {
    /// A store that is nothing but a store.
    case store
    /// A database in a file, by the bytes of its path.
    ///
    /// Swift takes two paths for equal that Unicode takes for equivalent, and that may be two files.
    case file([UInt8])
    /// A database in memory.
    case object(ObjectIdentifier)
}

/// A store in a database, which may be a place for transactions and moves as well.
///
/// Both then share one record.
package protocol PlaceStore: MigrationStore {
    var placeID: PlaceID { get }

    /// Reads what the store remembers about a manager, and the evidence beside it.
    func look(_ manager: String) throws -> PlaceState
}

extension PlaceID {
    /// The place that a store is in.
    package init(of store: any MigrationStore) {
        self = (store as? any PlaceStore)?.placeID ?? .store
    }
}
