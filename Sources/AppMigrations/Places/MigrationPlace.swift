/// Where steps do their work and are recorded: the manager's store, or a database.
///
/// Each place decides from its own record what kind of launch this is, and is brought up to date by itself. No place is
/// believed about another's work. A store in a database is a place itself; see ``StorePlace`` for all others.
package protocol MigrationPlace: Sendable {
    /// Equal for two objects that stand for the same place.
    var id: PlaceID { get }

    /// The name that messages use.
    var name: String { get }

    /// The store that keeps the place's records.
    var store: any MigrationStore { get }

    /// Reads what the place remembers about a manager, and what its schema steps still have to do.
    ///
    /// Neither writes nor locks. Any thread.
    ///
    /// - Parameters:
    ///   - schemaSteps: the schema steps of this place that are due, in order.
    ///   - limit: the longest time to wait for others; nil for the place's own.
    /// - Throws: ``MigrationError``; with the code `newerThanThisProcess` when a newer app has been here.
    func look(manager: String, schemaSteps: [any SchemaStepWork], waitingUpTo limit: Duration?) throws
        -> PlaceState

    /// True if another connection that is made like this place's fails while a batch is written, instead of waiting.
    var failsOthersWhileWriting: Bool { get }

    /// Finds the mistakes in how this place's schema steps are registered.
    func mistakes(in schemaSteps: [any SchemaStepWork]) throws -> [SchemaStepMistake]
}

extension MigrationPlace {
    package var failsOthersWhileWriting: Bool { false }
}

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

/// A store that is not in a database, as a place for plain closures.
package struct StorePlace: MigrationPlace {
    package let store: any MigrationStore

    /// Returns the place that a store is in.
    package static func of(_ store: any MigrationStore) -> any MigrationPlace {
        store as? any MigrationPlace ?? StorePlace(store: store)
    }

    package var id: PlaceID { .store }
    package var name: String { store.name }

    package func look(manager: String, schemaSteps: [any SchemaStepWork], waitingUpTo limit: Duration?) throws
        -> PlaceState
    {
        try StoreAccess.read.of(name) {
            try PlaceState(of: manager, in: store.read(manager), evidence: .empty)
        }
    }

    package func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake] { [] }
}

/// The record that a place has of a manager, and the evidence beside it.
///
/// A class, because copies of so many fields would weigh more than the code that reads them.
package final class PlaceState: Sendable {
    /// The manager's record in this place; nil if there is none.
    package let record: MigrationRecord?
    /// True if the app has removed the record, and with it the manager's data.
    package let hasRemovedRecord: Bool
    /// The record of the manager of which this one is a part; nil if there is none.
    let splitRecord: MigrationRecord?
    /// The app versions that the place has seen, by line of versions, each line in the order in which they came.
    package let seen: [String: [SeenVersion]]
    /// The versions that the data was assumed to be at when damaged records were replaced, by line.
    let assumptions: [String: AppVersion]
    /// The evidence beside the record.
    package let evidence: Evidence
    /// For each schema step, what it will do after the schema steps before it.
    package let pending: [PendingSchema]
    /// The schema versions that the place has had and that no schema step knows, ascending; they stay.
    package let newer: [String]

    init(
        record: MigrationRecord?, hasRemovedRecord: Bool = false, splitRecord: MigrationRecord? = nil,
        seen: [String: [SeenVersion]], assumptions: [String: AppVersion] = [:], evidence: Evidence,
        pending: [PendingSchema] = [], newer: [String] = []
    ) {
        self.record = record
        self.hasRemovedRecord = hasRemovedRecord
        self.splitRecord = splitRecord
        self.seen = seen
        self.assumptions = assumptions
        self.evidence = evidence
        self.pending = pending
        self.newer = newer
    }

    /// Creates the part of a store's state that is about a manager.
    ///
    /// - Parameter evidence: the evidence beside the store, read only if there is no record.
    package convenience init(
        of manager: String, in state: StoreState, evidence: @autoclosure () throws -> Evidence,
        pending: [PendingSchema] = [], newer: [String] = []
    ) throws {
        guard let record = try state.record(of: manager) else {
            let found = try evidence()
            self.init(
                record: nil, hasRemovedRecord: try state.hasRemovedRecord(of: manager), seen: state.seen,
                assumptions: try state.assumptions,
                evidence: found == .empty && state.isReplacement ? .replaced : found,
                pending: pending, newer: newer)
            return
        }
        self.init(record: record, seen: state.seen, evidence: .empty, pending: pending, newer: newer)
    }

    /// Returns the state for a manager that is a part of another one, with a record.
    func splitting(off record: MigrationRecord?) -> PlaceState {
        PlaceState(
            record: nil, hasRemovedRecord: hasRemovedRecord, splitRecord: record, seen: seen,
            assumptions: assumptions, evidence: evidence, pending: pending, newer: newer)
    }

    /// Returns true if a version was launched here.
    func hasLaunched(_ version: AppVersion, in line: String) -> Bool {
        for seen in seen(in: line) where !seen.isAdopted { if seen.version == version { return true } }
        return false
    }
}

/// The schema versions with which a schema step will do something, in order.
package struct PendingSchema: Sendable, Equatable {
    /// The unknown versions that it will undo first, newest first.
    package var undo: [String]
    /// The versions that it will apply.
    package var apply: [String]
    /// True if it will write into the ledger what has been corrected since: how migrations are undone.
    package var correctsLedger: Bool

    package init(undo: [String] = [], apply: [String] = [], correctsLedger: Bool = false) {
        self.undo = undo
        self.apply = apply
        self.correctsLedger = correctsLedger
    }

    /// True if it will do nothing.
    var isEmpty: Bool { count == 0 && !correctsLedger }

    var count: Int { undo.count + apply.count }
}

/// The evidence in a place that has no record of a manager.
package enum Evidence: Sendable {
    /// Nothing: no data that an earlier version could have left here.
    case empty
    /// There is data and a ledger of schema migrations, but no step was ever recorded here.
    case ledgerOnly
    /// There is data without a ledger, of which a migrator has found out the schema version.
    case adopted
    /// There is data, and nothing says which version it belongs to.
    case unmanaged
    /// There were records, which were damaged and have been replaced.
    case replaced
}

/// A mistake in the registration of a schema step.
package struct SchemaStepMistake: Sendable {
    /// The schema step's index among those of its place.
    package let index: Int
    /// A clause with the schema step for its subject.
    package let problem: String
    package let remedy: String

    package init(index: Int, problem: String, remedy: String) {
        self.index = index
        self.problem = problem
        self.remedy = remedy
    }
}
