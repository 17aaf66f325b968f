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
    public var manager: String { parts.name.text }

    /// The name of the database in which the work is done and recorded; nil for the manager's store.
    public var database: String? { parts.database }

    /// The kind of the work.
    public var kind: Kind { Kind(kind: id.kind.forPeople) }

    /// The version that the work is registered for; for a version change, the app's; 0 for a schema step without one.
    public var version: AppVersion { id.version }

    package var place: PlaceID { parts.place }
    package var id: WorkID { parts.id }

    private let parts: Parts

    /// An object, because plans, errors and events hold work by the dozen, and copy each as one reference.
    private final class Parts: Sendable {
        let name: ManagerName
        let id: WorkID
        let place: PlaceID
        let database: String?

        init(_ name: ManagerName, _ id: WorkID, _ place: PlaceID, _ database: String?) {
            self.name = name
            self.id = id
            self.place = place
            self.database = database
        }
    }

    package init(_ id: WorkID, of manager: String, in place: PlaceID, database: String?) {
        parts = Parts(ManagerName(manager), id, place, database)
    }

    /// Returns true if both stand for the same work: the names of databases are for people.
    @inline(never)
    public static func == (one: MigrationWork, other: MigrationWork) -> Bool {
        one.id == other.id && one.place == other.place && one.parts.name == other.parts.name
    }

    /// Hashes what identifies the work.
    ///
    /// - Parameter hasher: the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(place)
        hasher.combine(parts.name)
    }
}

extension MigrationWork: CustomStringConvertible {
    /// The work in words, as in `Library: schema step 2.0 in library.sqlite`.
    public var description: String {
        "\(manager): \(id.title)\(database.map { " in \($0)" } ?? "")"
    }
}
