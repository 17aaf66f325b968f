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
            let state = try store.read(manager)
            return PlaceState(
                record: try state.record(of: manager), seen: state.seen, evidence: .empty)
        }
    }

    func mistakes(in moves: [any MoveWork]) -> [MoveMistake] { [] }
}
