/// One thing that a manager has to do: a step, a schema step, or the closures for a version change.
///
/// Errors, events, `pending()` and `history()` name the work that they are about, and an app says with it what to do about
/// that work and no other:
///
/// ```swift
/// do {
///     try manager.migrate()
/// } catch let error as MigrationError where error.code == .gaveUp {
///     guard let work = error.work else { throw error }
///     try manager.skip(work)
///     try manager.migrate()
/// }
/// ```
public struct MigrationWork: Sendable, Hashable {
    /// The kind of a piece of work.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        let kind: WorkID.Kind

        /// `step`, `schema step` or `version change`.
        public var description: String { kind.rawValue }

        /// A closure that is registered for a version, in a database or not, deferred or not.
        public static let step = Kind(kind: .step)
        /// Brings a database to a schema version.
        public static let schemaStep = Kind(kind: .schemaStep)
        /// The closures for a change of the app's version.
        public static let versionChange = Kind(kind: .versionChange)
    }

    /// The manager's name.
    public var manager: String { name.text }

    /// The name of the database in which the work is done and recorded; nil for the manager's store.
    public let database: String?

    /// The kind of the work.
    public var kind: Kind { Kind(kind: id.kind) }

    /// The version that the work is registered for; for a version change, the app's.
    public var version: AppVersion { id.version }

    private let name: ManagerName
    package let place: PlaceID
    package let id: WorkID

    package init(_ id: WorkID, of manager: String, in place: PlaceID, database: String?) {
        name = ManagerName(manager)
        self.id = id
        self.place = place
        self.database = database
    }

    /// Returns true if both stand for the same work: the names of databases are for people.
    public static func == (one: MigrationWork, other: MigrationWork) -> Bool {
        one.id == other.id && one.place == other.place && one.name == other.name
    }

    /// Hashes what identifies the work.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(place)
        hasher.combine(name)
    }
}

extension MigrationWork: CustomStringConvertible {
    /// The work in words, as in `Library: schema step 2.0 in library.sqlite`.
    public var description: String {
        "\(manager): \(kind) \(version)\(database.map { " in \($0)" } ?? "")"
    }
}

/// A piece of work that is pending, and how far it is.
///
/// ```swift
/// let rows = try manager.pending().filter(\.isDeferred).reduce(0) { $0 + ($1.total ?? 0) - $1.done }
/// ```
public struct PendingWork: Sendable, Hashable {
    /// The work.
    public let work: MigrationWork

    /// A Boolean value that indicates whether the work waits for ``MigrationManager/runDeferred(for:while:retrying:)``.
    public internal(set) var isDeferred: Bool

    /// The schema versions that a schema step will apply, in order; empty for other work.
    public internal(set) var schemaVersions: [String] = []

    /// The unknown schema versions that a schema step will undo first, newest first.
    public internal(set) var undone: [String] = []

    /// The rows that a deferred step has done; for other steps, the calls or checkpoints.
    public internal(set) var done = 0

    /// The rows that there were when `migrate()` noted a deferred step; nil if unknown.
    ///
    /// An estimate, where counting a large table would have held up the launch.
    public internal(set) var total: Int?

    /// The keys of the rows that failed and are set aside, as in `42`, `'Rome'` or `('Rome', 2)`.
    ///
    /// Each run retries them. Keys may be private: don't send them anywhere.
    public internal(set) var rowsSetAside: [String] = []

    init(_ work: MigrationWork, isDeferred: Bool = false) {
        self.work = work
        self.isDeferred = isDeferred
    }

    init(deferred work: MigrationWork, _ position: StepPosition?) {
        self.init(work, isDeferred: true)
        done = position?.done ?? 0
        total = position?.total
        rowsSetAside = (position?.setAside ?? []).map(StepPosition.description(ofKey:))
    }
}
