import Foundation

/// A piece of work that is registered for one version of the app, as a plan sees it.
///
/// A class, because every launch filters and sorts lists of steps. What the step does is a ``StepBody``.
final class MigrationStep: Sendable {
    let version: AppVersion
    /// Where the work is done and recorded.
    let place: PlaceID
    let kind: Kind
    let onFreshInstall: FreshInstallRule
    /// The versions of deferred steps that have to be done before this one.
    let finishing: [AppVersion]
    /// True if it runs again whenever its condition holds.
    let hasCondition: Bool
    /// Its number among the steps that are registered, from 0.
    let number: Int
    /// The line of the registration; nil for a version change, for which any number of closures are registered.
    let source: SourceLocation?

    // Computed once: every part of a launch asks again.
    let isSchemaStep: Bool
    /// True if it runs after the launch.
    let isDeferred: Bool

    /// The kind of a step's work.
    enum Kind: Sendable {
        /// A closure, which the store records after it has returned.
        case closure
        /// A closure in a transaction of a database, which records it in that transaction.
        case transaction
        /// Brings a database to a schema version, which the database's own ledger records.
        case schemaStep
        /// A closure that runs after the launch, and saves where it is.
        case deferredClosure
        /// Batches after the launch, each of which its database records in the batch's transaction.
        case batches
        /// The closures for a change of the app's version.
        case versionChange

        /// Returns the kind of work that a place records.
        fileprivate func id(in place: PlaceID) -> WorkID.Kind {
            switch self {
            case .versionChange: .versionChange
            case .schemaStep: .schemaStep
            case .transaction, .batches: .step
            case .closure, .deferredClosure: place == .store ? .step : .closure
            }
        }
    }

    /// Creates the work of running the closures for a version change, which comes after all steps.
    convenience init(versionChangeTo version: AppVersion, in place: PlaceID) {
        self.init(
            version: version, place: place, kind: .versionChange, onFreshInstall: .skip, finishing: [],
            number: .max, source: nil)
    }

    init(
        version: AppVersion, place: PlaceID, kind: Kind, onFreshInstall: FreshInstallRule,
        finishing: [AppVersion], hasCondition: Bool = false, number: Int, source: SourceLocation?
    ) {
        self.version = version
        self.place = place
        self.kind = kind
        self.onFreshInstall = onFreshInstall
        self.finishing = finishing
        self.hasCondition = hasCondition
        self.number = number
        self.source = source
        isSchemaStep = kind == .schemaStep
        id = WorkID(version, kind.id(in: place))
        isDeferred = kind == .batches || kind == .deferredClosure
    }

    /// Names the work in the record of its place.
    let id: WorkID

    /// True if its place is a database that the app has registered it for.
    var worksInDatabase: Bool {
        switch kind {
        case .transaction, .schemaStep, .batches: true
        case .closure, .deferredClosure, .versionChange: false
        }
    }

    /// The name that messages use.
    var title: String {
        switch kind {
        case .versionChange: "a closure for a version change"
        case .schemaStep: id.title
        case .batches, .deferredClosure: "deferred step \(version)"
        case .closure, .transaction: "step \(version)"
        }
    }

    /// The line of the registration, as in `App/Migrations.swift:12`.
    var line: String { source?.description ?? "" }

    /// The name and the line of the registration, as in `step 1.1 (App/Migrations.swift:12)`.
    @inline(never)
    var titleAndSource: String { source.map { "\(title) (\($0))" } ?? title }

    /// Returns true if the condition of the step may ask about what other work makes.
    ///
    /// A closure outside databases may ask about any of them. What comes after the step finds what the step has done.
    func mayAsk(about other: MigrationStep) -> Bool {
        other.version <= version && other.runsBefore(self) && (other.place == place || !worksInDatabase)
    }

    /// Returns true if this step comes first where both are pending.
    ///
    /// Steps that only a fresh install needs go first. Schema steps of a version go before its closures, so that a closure finds the
    /// schema of its version; then the closures, in the order of their registration.
    func runsBefore(_ other: MigrationStep) -> Bool {
        let (isFirst, otherIsFirst) = (onFreshInstall == .only, other.onFreshInstall == .only)
        if isFirst != otherIsFirst { return isFirst }
        if version != other.version { return version < other.version }
        if isSchemaStep != other.isSchemaStep { return isSchemaStep }
        return number < other.number
    }
}
