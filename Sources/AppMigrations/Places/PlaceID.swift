/// Identifies a place: equal for two objects that stand for the same one.
package enum PlaceID: Hashable, Sendable {
    /// A store that is nothing but a store.
    case store
    /// A database in a file.
    case file(String)
    /// A database in memory.
    case object(ObjectIdentifier)
}

/// A store that may be a place for transactions and moves as well.
///
/// Both then share one record.
package protocol IdentifiableStore: MigrationStore {
    var placeID: PlaceID { get }
}

extension PlaceID {
    /// The place that a store is in.
    package init(of store: any MigrationStore) {
        self = (store as? any IdentifiableStore)?.placeID ?? .store
    }
}
