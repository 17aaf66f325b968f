/// The manager's own store, as a place for plain closures.
struct StorePlace: MigrationPlace {
    let store: any MigrationStore
    let id: PlaceID

    init(store: any MigrationStore) {
        self.store = store
        id = PlaceID(of: store)
    }

    var name: String { store.name }

    func look(manager: String, moves: [any MoveWork]) throws -> PlaceState {
        try StoreAccess.read.of(name) {
            if let store = store as? any PlaceStore { return try store.look(manager) }
            return try PlaceState(of: manager, in: store.read(manager), evidence: .empty)
        }
    }

    func mistakes(in moves: [any MoveWork]) -> [MoveMistake] { [] }
}
