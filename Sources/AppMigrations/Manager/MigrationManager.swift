public import Foundation

/// Runs everything that an app must do to its data when it is launched in a newer version, once and in order.
///
/// Create a manager for each subsystem at every launch, register its steps in ascending order, and call
/// ``migrate(through:retrying:)``. Usually nothing is pending, so it takes no lock and
/// writes nothing.
///
/// ```swift
/// let manager = try MigrationManager(
///     name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
/// manager.whenMigratingToVersion("1.1") { try moveArchive() }
/// let report = try manager.migrate()
/// ```
///
/// A manager belongs to the thread or actor that creates it: it is not `Sendable`. Managers are independent of
/// each other, also in one store. Two managers of the same name, in one process or in several, take turns.
/// A synchronous call on the main thread cannot wait for an asynchronous one that needs the main actor: it throws `locked`.
public final class MigrationManager {
    /// The manager's name, under which its records are kept.
    public let name: String

    /// The app version that is being launched.
    package let currentVersion: AppVersion

    /// The progress of the run, by the weight of its steps.
    ///
    /// Cancel it to stop the run.
    ///
    /// A cancelled run stops between two steps, inside a migration of a schema, or inside a step that checks its
    /// own progress, and throws `CancellationError`. Completed steps stay complete. A cancelled
    /// progress stays cancelled: to continue, create another manager.
    ///
    /// On Linux, only one thread at a time may use Foundation's `Progress`: cancel the task there instead.
    public let progress: Progress = StepProgress(totalUnitCount: 1)

    /// The progress of deferred steps.
    ///
    /// Every step counts the same; within a step, the progress is the share of its rows that are done.
    ///
    /// Cancel it to stop ``runDeferred(for:while:retrying:)`` at the end of a batch, or inside a closure that checks its own
    /// progress. A cancelled progress stays cancelled: to continue, create another manager, or cancel the task instead.
    public private(set) lazy var deferredProgress: Progress = StepProgress(totalUnitCount: 1)

    /// The store that keeps the manager's record.
    package var store: any RecordStorage { registration.storePlace.store }

    package let options: MigrationOptions
    let adopting: Adoption
    let build: Build
    package let environment = Environment.current
    private(set) var registration: Registration
    /// The app's closures, which a ``StepBody`` names by their indexes.
    private(set) var closures: [StepClosure] = []
    /// The conditions under which closures run again, by the same indexes.
    private(set) var conditions: [Int: () throws -> Bool] = [:]
    /// The state of the launch that calls of this object have begun.
    var memory = LaunchMemory()
    private var isMigrating = false
    /// True if the manager was called, and not forgotten.
    private var wasCalled = false

    /// Creates a manager.
    ///
    /// ```swift
    /// let manager = try MigrationManager(name: "Library", adopting: .newApp)
    /// ```
    ///
    /// - Parameters:
    ///   - name: tells the manager from others in the same store, by its bytes. Not empty, and without a NUL. Never
    ///     change it once an app has shipped.
    ///   - currentVersion: the app version that is being launched; by default the main bundle's
    ///     `CFBundleShortVersionString`.
    ///   - adopting: determines the version of an install that has no record: that of people who have the app from
    ///     before it had this manager. Pass ``Adoption/newApp`` if there are none.
    ///   - store: where the record is kept; by default a JSON file in the app's own folder in Application Support.
    ///   - options: options that most apps leave at their defaults.
    /// - Throws: ``MigrationError`` with the code `misuse`.
    public init(
        name: String = "default", currentVersion: AppVersion? = nil, adopting: Adoption,
        store: MigrationStore? = nil, options: MigrationOptions = MigrationOptions()
    ) throws {
        let current = try currentVersion ?? .ofMainBundle()
        guard current.subMigration == nil else {
            throw MigrationError(
                .misuse, "the current version \(current) has a sub-migration number",
                remedy: "Pass \(current.release): sub-migrations are for steps.",
                manager: name)
        }
        if let problem = ManagerName(name).problem {
            throw MigrationError(
                .misuse, problem,
                remedy: "Name it after its subsystem, and never change the name once an app has shipped.")
        }
        if let oldest = options.oldestSupported, oldest > current.ceiling, !options.ignoresStepsAboveCurrent {
            throw MigrationError(
                .misuse, "oldestSupported, \(oldest), is above the current version \(current)",
                remedy: "Pass a version from which people may update: this one refuses them all.",
                manager: name)
        }
        self.name = name
        self.currentVersion = current
        self.options = options
        self.adopting = adopting
        build = Build(of: current, number: environment.build)
        let store = try store?.storage ?? JSONStore.inApplicationSupport()
        registration = Registration(
            manager: name, current: current,
            storePlace: StorePlace.of(environment.observer?.watching(store) ?? store),
            ignoresStepsAboveCurrent: options.ignoresStepsAboveCurrent, environment: environment)
    }

    /// Creates a manager for a current version that is given as text.
    ///
    /// - Parameters:
    ///   - name: the name that distinguishes the manager from others in the same store.
    ///   - currentVersion: the app version that is being launched, such as `2.1` or `2.0.0-beta.3`.
    ///   - adopting: determines the version of an install that has no record.
    ///   - store: where the record is kept; by default a JSON file in Application Support.
    ///   - options: options that most apps leave at their defaults.
    /// - Throws: ``MigrationError`` with the code `misuse`, also when the text is not a version.
    public convenience init(
        name: String = "default", currentVersion: String, adopting: Adoption,
        store: MigrationStore? = nil, options: MigrationOptions = MigrationOptions()
    ) throws {
        let version: AppVersion
        do {
            version = try AppVersion(parsing: currentVersion)
        } catch {
            throw MigrationError(
                .misuse, "the current version is malformed: \(error)",
                remedy: "Pass a version such as 2.1 or 2.0.0-beta.3.", manager: name, underlyingError: error)
        }
        try self.init(
            name: name, currentVersion: version, adopting: adopting, store: store, options: options)
    }

    deinit {
        guard !wasCalled, !registration.steps.isEmpty else { return }
        let versions = registration.steps.map(\.version.description).joined(separator: ", ")
        // Not an assertion: it would hide the error that was thrown between registering and migrating.
        NSLog(
            "AppMigrations: %@",
            "\(name): released with steps that were never migrated: \(versions). Call migrate().")
    }

    /// Adds a step.
    ///
    /// Does not throw: ``migrate(through:retrying:)`` reports all mistakes together.
    ///
    /// - Parameter database: the place of a step in a database; nil for one in the store.
    package func register(
        _ version: AppVersion, _ body: StepBody, in database: (any MigrationPlace)? = nil,
        finishing: [AppVersion] = [], onFreshInstall: FreshInstallRule = .skip, hasCondition: Bool = false,
        source: SourceLocation
    ) {
        registration.add(
            version, body, in: database, finishing: finishing, onFreshInstall: onFreshInstall,
            hasCondition: hasCondition, source: source)
        if let database { environment.observer?.willUse(database) }
    }

    /// Adds a step that is a closure of the app's.
    func register(
        _ version: AppVersion, _ closure: StepClosure, isDeferred: Bool = false, finishing: [AppVersion] = [],
        onFreshInstall: FreshInstallRule, again condition: (() throws -> Bool)? = nil, source: SourceLocation
    ) {
        let index = add(closure)
        if let condition { conditions[index] = condition }
        register(
            version,
            isDeferred ? .deferredClosure(index) : .closure(index, isAsynchronous: closure.isAsynchronous),
            finishing: finishing, onFreshInstall: onFreshInstall, hasCondition: condition != nil,
            source: source)
    }

    /// Adds a closure that runs for each change of the app's version.
    func register(forVersionChange closure: StepClosure) {
        registration.addVersionChange(add(closure), isAsynchronous: closure.isAsynchronous)
    }

    private func add(_ closure: StepClosure) -> Int {
        closures.append(closure)
        return closures.count - 1
    }

    /// How long a call that blocks its thread waits for others.
    var patience: Duration { options.lockTimeout ?? .seconds(5) }

    /// The database of the step that was registered last in one.
    package var lastPlace: (any MigrationPlace)? { registration.lastPlace }
}

extension MigrationManager {
    /// Refuses calls from inside a step, which would wait for themselves.
    @inline(never)
    func enter() throws {
        wasCalled = true
        guard !isMigrating else {
            throw MigrationError(
                .misuse, "called while it is migrating, by one of its steps or by another task",
                remedy: "Call the manager before migrate(), or when migrate() has returned.", manager: name)
        }
        isMigrating = true
    }

    func leave() {
        isMigrating = false
    }

    /// Runs the body, while no step may call the manager.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try enter()
        defer { leave() }
        return try body()
    }
}

extension AppVersion {
    /// The version of the app that this process is.
    ///
    /// - Throws: ``MigrationError`` with the code `misuse`.
    static func ofMainBundle() throws -> AppVersion {
        guard let text = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        else {
            throw MigrationError(
                .misuse, "The main bundle has no CFBundleShortVersionString.",
                remedy: "Pass the app's version: MigrationManager(currentVersion: \"2.0\", …).")
        }
        do {
            return try AppVersion(parsing: text)
        } catch {
            throw MigrationError(
                .misuse, "The main bundle's CFBundleShortVersionString is malformed: \(error)",
                remedy: "Fix it, or pass the app's version: MigrationManager(currentVersion: \"2.0\", …).",
                underlyingError: error)
        }
    }
}

/// The build of an app.
struct Build {
    /// The manager's version with the number of the build, as in `2.0 (417)`.
    let text: String
    /// The app's version with that number, which tells builds apart for managers of all lines, also where each version of
    /// an app begins with build 1.
    ///
    /// An extension may have numbers of its own, so only the app notes one.
    let ofApp: String?

    /// - Parameter number: the number of the build; nil for that of the main bundle.
    init(of version: AppVersion, number: String?) {
        text = (number ?? Self.number).map { "\(version) (\($0))" } ?? version.description
        ofApp = Self.isExtension ? nil : number ?? Self.ofMainBundle
    }

    // Looked up once: it does not change while the app runs.
    private static let number = Bundle.main.object(forInfoDictionaryKey: "CFBundleVersion") as? String
    private static let ofMainBundle = number.map { number in
        let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        return version.map { "\($0) (\(number))" } ?? number
    }
    private static let isExtension = Bundle.main.bundleURL.pathExtension == "appex"
}
