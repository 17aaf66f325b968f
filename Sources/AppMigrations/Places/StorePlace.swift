/// The manager's own store, as a place for plain closures.
///
/// A class, because every step of the store refers to it.
final class StorePlace: MigrationPlace {
    let store: any MigrationStore
    let id: PlaceID
    private let placeStore: (any PlaceStore)?

    init(store: any MigrationStore) {
        self.store = store
        id = PlaceID(of: store)
        placeStore = store as? any PlaceStore
    }

    var name: String { store.name }

    func look(manager: String, moves: [any MoveWork]) throws -> PlaceState {
        try StoreAccess.read.of(name) {
            if let placeStore { return try placeStore.look(manager) }
            return try PlaceState(of: manager, in: store.read(manager), evidence: .empty)
        }
    }

    func mistakes(in moves: [any MoveWork]) -> [MoveMistake] { [] }
}
