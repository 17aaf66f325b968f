/// Where steps do their work and are recorded: the manager's store, or a database.
///
/// Each place decides from its own record what kind of launch this is, and is brought up to date by itself. No place is
/// believed about another's work. A store in a database is a place itself; see ``StorePlace`` for all others.
package protocol MigrationPlace: Sendable {
    /// Equal for two objects that stand for the same place.
    var id: PlaceID { get }

    /// The name that messages use.
    var name: String { get }

    /// Where it is, without what changes between two installs; see ``Foundation/URL/pathInInstall``.
    var path: String { get }

    /// The store that keeps the place's records.
    var store: any RecordStorage { get }

    /// Reads what the place remembers about a manager, and what its schema steps still have to do.
    ///
    /// Neither writes nor locks. Any thread.
    ///
    /// - Parameters:
    ///   - schemaSteps: the schema steps of this place that are due, in order.
    ///   - limit: the longest time to wait for others; nil for the place's own.
    /// - Throws: ``MigrationError``; with the code `newerThanThisProcess` when a newer app has been here.
    func readState(of manager: String, schemaSteps: [any SchemaStepWork], waitingUpTo limit: Duration?) throws
        -> PlaceState

    /// Throws if the caller is inside a transaction of the app's here, which does not see what a run writes.
    func checkIsOutsideTransaction() throws

    /// True if another connection that is made like this place's fails while a batch is written, instead of waiting.
    var failsOthersWhileWriting: Bool { get }
}

extension MigrationPlace {
    package func checkIsOutsideTransaction() throws {}
    package var failsOthersWhileWriting: Bool { false }
}

/// A store that is not in a database, as a place for plain closures.
package struct StorePlace: MigrationPlace {
    package let store: any RecordStorage

    /// Returns the place that a store is in.
    package static func of(_ store: any RecordStorage) -> any MigrationPlace {
        store as? any MigrationPlace ?? StorePlace(store: store)
    }

    package var id: PlaceID { .store }
    package var name: String { store.name }
    package var path: String { store.name }

    package func readState(
        of manager: String, schemaSteps: [any SchemaStepWork], waitingUpTo limit: Duration?
    ) throws
        -> PlaceState
    {
        try StoreAccess.read.of(name) {
            try PlaceState(
                of: manager, in: store.read(manager), evidence: .empty, history: store.history(manager))
        }
    }
}

/// A mistake in the registration of a schema step.
package struct SchemaStepMistake: Sendable {
    /// The schema step's index among those of its place.
    let index: Int
    /// A clause with the schema step for its subject.
    let problem: String
    let remedy: String

    package init(index: Int, problem: String, remedy: String) {
        self.index = index
        self.problem = problem
        self.remedy = remedy
    }
}
