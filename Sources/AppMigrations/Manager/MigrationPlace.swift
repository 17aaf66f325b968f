import Foundation

/// Where steps do their work and are remembered: the manager's store, or a database.
///
/// One truth per place. Each place is asked by itself what kind of launch this is, from its own record, and is
/// brought up to date by itself: never is one believed about another.
package protocol MigrationPlace: Sendable {
    /// Equal for two objects that stand for the same place.
    var id: PlaceID { get }

    /// How messages call the place.
    var name: String { get }

    /// Where the place keeps its records.
    var store: any MigrationStore { get }

    /// Looks, without writing or locking, at what the place remembers about a manager and at what its moves
    /// still have to do. Throws when the place belongs to a newer app than this one.
    ///
    /// - Parameter moves: the moves of this place that are due, in order.
    func look(manager: String, moves: [any MigrationMove]) throws -> PlaceView

    /// The mistakes in how this place's moves are registered.
    func mistakes(in moves: [any MigrationMove]) throws -> [MoveMistake]
}

/// What tells places apart.
package enum PlaceID: Hashable, Sendable {
    /// A store that is nothing but a store.
    case store
    /// A database in a file.
    case file(String)
    /// A database in memory.
    case object(ObjectIdentifier)
}

/// What a place shows.
package struct PlaceView: Sendable {
    package var state: StoreState
    package var evidence: Evidence
    /// For each move, what it will apply after the moves before it.
    package var pending: [[String]]

    package init(state: StoreState, evidence: Evidence, pending: [[String]] = []) {
        self.state = state
        self.evidence = evidence
        self.pending = pending
    }
}

/// A mistake in the registration of a move.
package struct MoveMistake: Sendable {
    /// The move's index among those of its place.
    package let index: Int
    /// What is wrong, as a clause with the move for its subject.
    package let problem: String
    package let remedy: String

    package init(index: Int, problem: String, remedy: String) {
        self.index = index
        self.problem = problem
        self.remedy = remedy
    }
}

/// Brings a database to a schema version.
package protocol MigrationMove: Sendable {
    /// Applies what is pending.
    func perform(_ context: MigrationContext) throws -> MoveOutcome
}

/// What a move has done.
package struct MoveOutcome: Sendable {
    /// The schema versions that were applied, in order.
    package let applied: [String]
    /// What was found to be wrong with the database from before.
    package let warnings: [String]

    package init(applied: [String], warnings: [String] = []) {
        self.applied = applied
        self.warnings = warnings
    }
}

/// The body of a step that works in one transaction.
package protocol TransactionalWork: Sendable {
    /// Runs the body and records the settlement in the same transaction.
    func perform(_ context: MigrationContext, settlement: Settlement) throws
}

/// That a step is done, to be recorded in the transaction that did it.
package struct Settlement: Sendable {
    package let manager: String
    let version: AppVersion
    let appVersion: AppVersion
    let started: ContinuousClock.Instant

    /// Whether another process has done the step since this one looked.
    package func isRecorded(in state: StoreState) -> Bool {
        state.record?.settled.contains(version) ?? false
    }

    package func record(in state: inout StoreState) {
        state.record?.settle(version)
        state.newHistory.append(step)
    }

    /// The step, as it has just ended.
    var step: SettledStep {
        SettledStep(
            version: version, outcome: .ran, date: Date(), seconds: (ContinuousClock.now - started).inSeconds,
            appVersion: appVersion)
    }
}

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

/// A store that may be a place for transactions and moves as well.
///
/// Both then share one record.
package protocol IdentifiableStore: MigrationStore {
    /// The id of the place that the store is in.
    var placeID: PlaceID { get }
}

extension PlaceID {
    /// The place that a store is in.
    package init(of store: any MigrationStore) {
        self = (store as? any IdentifiableStore)?.placeID ?? .store
    }
}

/// The manager's own store, as a place for plain closures.
struct StorePlace: MigrationPlace {
    let store: any MigrationStore
    let id: PlaceID

    init(store: any MigrationStore) {
        self.store = store
        id = PlaceID(of: store)
    }

    var name: String { store.name }

    func look(manager: String, moves: [any MigrationMove]) throws -> PlaceView {
        PlaceView(state: try store.read(manager), evidence: .versionsSeen)
    }

    func mistakes(in moves: [any MigrationMove]) -> [MoveMistake] { [] }
}
