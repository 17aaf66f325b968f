/// Where steps do their work and are recorded: the manager's store, or a database.
///
/// One truth per place: each decides from its own record what kind of launch this is, and is brought up to date
/// by itself. No place is believed about another's work.
package protocol MigrationPlace: Sendable {
    /// Equal for two objects that stand for the same place.
    var id: PlaceID { get }

    /// The name that messages use.
    var name: String { get }

    /// The store that keeps the place's records.
    var store: any MigrationStore { get }

    /// Reads what the place remembers about a manager, and what its moves still have to do.
    ///
    /// Neither writes nor locks. Any thread.
    ///
    /// - Parameter moves: the moves of this place that are due, in order.
    /// - Throws: ``MigrationError``; with the code `newerThanThisProcess` when a newer app has been here.
    func look(manager: String, moves: [any MoveWork]) throws -> PlaceState

    /// Finds the mistakes in how this place's moves are registered.
    func mistakes(in moves: [any MoveWork]) throws -> [MoveMistake]
}

/// A mistake in the registration of a move.
package struct MoveMistake: Sendable {
    /// The move's index among those of its place.
    package let index: Int
    /// A clause with the move for its subject.
    package let problem: String
    package let remedy: String

    package init(index: Int, problem: String, remedy: String) {
        self.index = index
        self.problem = problem
        self.remedy = remedy
    }
}
