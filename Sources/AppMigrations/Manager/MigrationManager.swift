public import Foundation

/// Runs, once and in order, what has to happen to an app's data when a newer version is launched.
///
/// Create one for each subsystem at every launch, register its steps in ascending order, and call ``migrate()``.
/// Nearly always there is nothing to do; then nothing is locked and nothing is written.
///
/// ```swift
/// let manager = try MigrationManager(
///     name: "Library", currentVersion: "2.0", store: store)
/// manager.whenMigratingToVersion("1.1") { try moveArchive() }
/// let report = try manager.migrate()
/// ```
///
/// A manager belongs to the thread or actor that creates it: it is not `Sendable`. Managers are independent of
/// each other, also in one store. Two of one name, in one process or in several, take turns.
public final class MigrationManager {
    /// The manager's name: its records are kept under it.
    public let name: String

    /// The app version that is being launched.
    public let currentVersion: AppVersion

    /// How far the run is, by the weight of its steps; cancelling it stops the run.
    ///
    /// A run that is cancelled stops between two steps, inside a migration of a schema, or inside a step that
    /// looks at its own progress, and throws `CancellationError`. What is settled stays settled. A progress that
    /// has been cancelled stays so: to go on, create another manager.
    ///
    /// On Linux, Foundation's `Progress` may be used by one thread at a time: there, cancel the task instead.
    public let progress = Progress(totalUnitCount: 1)

    /// Where the manager's record is kept.
    package var store: any MigrationStore { storePlace.store }

    /// The store, as a place for plain closures.
    let storePlace: StorePlace

    let options: MigrationOptions
    let build: String
    /// The test that plays this launch; nil in an app.
    let witness = PlayedLaunch.witness
    /// The greatest version that is due.
    let ceiling: AppVersion
    private(set) var steps: [MigrationStep] = []
    private(set) var changes: [VersionChange] = []
    /// What has been told about this launch, once, so that all calls of `migrate` agree.
    var decision: Decision?
    /// A step that was given up, and is tried again by this call of `migrate`.
    var forgiving: AppVersion?
    private var isMigrating = false
    /// Whether anybody has called the manager: it was not forgotten.
    private var wasAsked = false

    struct Decision {
        let launches: [PlaceID: Launch]
        let returnedFromDowngrade: Bool
        let isFirstLaunchOfVersion: Bool
    }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - name: tells the manager from others in the same store. Never change it once an app has shipped.
    ///   - currentVersion: the app version that is being launched; by default the main bundle's
    ///     `CFBundleShortVersionString`.
    ///   - store: where the record is kept; by default a JSON file in a folder of the app's own in Application
    ///     Support.
    ///   - options: what is asked for rarely.
    /// - Throws: ``MigrationError``, `invalidCurrentVersion` or `noStoreLocation`.
    public init(
        name: String = "default", currentVersion: AppVersion? = nil, store: (any MigrationStore)? = nil,
        options: MigrationOptions = MigrationOptions()
    ) throws {
        let current = try currentVersion ?? .ofMainBundle()
        guard current.subMigration == nil else {
            throw MigrationError(
                .invalidCurrentVersion,
                "\(name): the current version \(current) has a sub-migration number.",
                remedy: "An app is at version \(current.release); sub-migrations are for steps.",
                manager: name)
        }
        self.name = name
        self.currentVersion = current
        let store = try store ?? JSONStore.inApplicationSupport()
        storePlace = StorePlace(store: witness?.watching(store) ?? store)
        self.options = options
        build = current.withBuildOfMainBundle
        ceiling = current.ceiling
    }

    /// Creates a manager for a current version that is given as text.
    ///
    /// - Throws: ``MigrationError``, also when the text is not a version.
    public convenience init(
        name: String = "default", currentVersion: String, store: (any MigrationStore)? = nil,
        options: MigrationOptions = MigrationOptions()
    ) throws {
        let version: AppVersion
        do {
            version = try AppVersion(parsing: currentVersion)
        } catch {
            throw MigrationError(
                .invalidCurrentVersion, "\(name): the current version is malformed: \(error)",
                remedy: "Pass a version such as 2.1 or 2.0.0-beta.3.", manager: name, underlyingError: error)
        }
        try self.init(name: name, currentVersion: version, store: store, options: options)
    }

    deinit {
        guard !wasAsked, !steps.isEmpty else { return }
        let versions = steps.map(\.version.description).joined(separator: ", ")
        let warning = "\(name): released with steps that were never migrated: \(versions). Call migrate()."
        assertionFailure(warning)
        NSLog("AppMigrations: %@", warning)
    }

    /// Adds a step.
    ///
    /// Does not throw: all mistakes are reported together, by ``migrate()``.
    package func register(_ step: MigrationStep) {
        steps.append(step)
        if step.worksInDatabase { witness?.willUse(step.place) }
    }

    func register(change: @escaping VersionChange) {
        changes.append(change)
    }
}

// One at a time.
extension MigrationManager {
    /// Refuses calls from inside a step, which would wait for themselves.
    func enter() throws {
        wasAsked = true
        guard !isMigrating else {
            throw MigrationError(
                .reentrantCall, "\(name): a step calls the manager that is running it.",
                remedy: "Call the manager before or after migrate(), not from a step.", manager: name)
        }
        isMigrating = true
    }

    func leave() {
        isMigrating = false
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try enter()
        defer { leave() }
        return try body()
    }

    func describing(_ timeout: LockTimeout) -> MigrationError {
        MigrationError(
            .locked, "\(name): \(timeout.holder) is migrating, and has not finished within \(timeout.limit).",
            remedy: "Launch again when it has, or allow more time with the option `lockTimeout`.",
            manager: name)
    }
}
