import Foundation

/// Runs, once and in order, what has to happen to an app's data when a newer version is launched.
///
/// Create one for each subsystem at every launch, register its steps in ascending order, and call
/// ``migrate()``. Nearly always there is nothing to do; then nothing is locked and nothing is written.
///
/// ```swift
/// let manager = try MigrationManager(name: "Library", currentVersion: "2.0", store: store)
/// manager.whenMigratingToVersion("1.1") { try moveArchive() }
/// let report = try manager.migrate()
/// ```
///
/// A manager belongs to the thread or actor that creates it: it is not `Sendable`. Managers are independent of
/// each other, also in one store.
public final class MigrationManager {
    /// The manager's name: its records are kept under it.
    public let name: String

    /// The app version that is being launched.
    public let currentVersion: AppVersion

    /// Where the manager's record is kept.
    package let store: any MigrationStore

    private let options: MigrationOptions
    private let build: String
    private let line = "app"
    private var steps: [MigrationStep] = []
    /// What kind of launch this is, by place.
    ///
    /// Decided once, so that all calls of `migrate` agree.
    private var launches: [PlaceID: Launch] = [:]
    private var returnedFromDowngrade = false
    private var isMigrating = false

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
        self.store = try store ?? JSONStore.inApplicationSupport()
        self.options = options
        build = currentVersion.map(\.description) ?? AppVersion.buildOfMainBundle ?? current.description
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

    /// Adds a step.
    ///
    /// Does not throw: all mistakes are reported together, by ``migrate()``.
    package func register(_ step: MigrationStep) {
        steps.append(step)
    }

    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Call it on every launch, once everything is registered and before the data is used.
    ///
    /// - Throws: ``MigrationError``. Mistakes in the registration are thrown before anything runs. When a step
    ///   throws, what ran before it stays done, and the next launch goes on with it.
    @discardableResult
    public func migrate() throws -> MigrationReport {
        try migrate(.whole)
    }

    /// Runs the steps that are pending up to a version, that version included.
    ///
    /// For code that must run between two steps. ``migrate()`` has to follow: it alone completes the launch.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does; also when the version is above the current one.
    @discardableResult
    public func migrate(through version: AppVersion) throws -> MigrationReport {
        guard version <= currentVersion.ceiling else {
            throw MigrationError(
                .versionAboveCurrent,
                "\(name): cannot migrate through \(version), above the current version \(currentVersion).",
                remedy: "Ask for the current version or one below it.", manager: name, version: version)
        }
        return try migrate(.through(version))
    }

    /// The versions whose closure would run now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does before anything runs.
    public func pendingVersions() throws -> [AppVersion] {
        try exclusively { try survey(.whole).items.filter { !$0.step.isMove }.map(\.step.version) }
    }

    /// The moves that have something to do now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does before anything runs.
    public func pendingMoves() throws -> [PendingMove] {
        try exclusively {
            try survey(.whole).items.filter(\.step.isMove).map { item in
                PendingMove(
                    version: item.step.version, database: item.step.place.name,
                    schemaVersions: item.schemaVersions)
            }
        }
    }

    /// Makes every due step pending again, in the store and in the databases that steps and moves are
    /// registered for.
    ///
    /// What moves have applied to databases stays applied.
    ///
    /// Without a record there is nothing to reset.
    public func reset() throws {
        try changeRecords { record in
            guard let old = record else { return }
            var new = MigrationRecord(floor: nil)
            new.completed = old.completed
            new.highest = old.highest
            new.downgradedTo = old.downgradedTo
            record = new
        }
    }

    /// Removes the record, from the store and from the databases that steps and moves are registered for.
    ///
    /// The next launch is told from what is left: the versions that the store has seen, and `adopting`.
    public func forget() throws {
        try changeRecords { $0 = nil }
    }
}

extension MigrationManager {
    private func migrate(_ extent: MigrationExtent) throws -> MigrationReport {
        try exclusively {
            let peek = try survey(extent)
            if peek.isSettled(extent) { return report(on: peek) }
            return try locked {
                // Another process may have done it all while this one waited.
                let survey = try survey(extent)
                let run = MigrationRun(
                    manager: name, build: build, survey: survey, extent: extent, report: report(on: survey))
                return try run.run()
            }
        }
    }

    private func survey(_ extent: MigrationExtent) throws -> MigrationSurvey {
        let places = self.places
        try checkRegistration(places: places)
        let target = if case .through(let version) = extent { version } else { currentVersion.ceiling }
        var answer: AppVersion??
        let survey = try MigrationSurvey(
            manager: name, current: currentVersion, line: line, places: places, steps: steps, known: launches,
            target: target
        ) {
            if let answer { return answer }
            let version = try options.adopting?.version()
            answer = version
            return version
        }
        return survey
    }

    /// The report of a launch on which nothing has run yet.
    ///
    /// From now on, the kind of launch is decided.
    private func report(on survey: MigrationSurvey) -> MigrationReport {
        if launches.isEmpty {
            returnedFromDowngrade = survey.findings[0].stored.record?.downgradedTo != nil
        }
        for finding in survey.findings { launches[finding.place.id] = finding.launch }
        let launch = survey.findings[0].launch
        let isUpgrade = if case .upgrade = launch { true } else { false }
        return MigrationReport(
            manager: name, launch: launch, returnedFromDowngrade: isUpgrade && returnedFromDowngrade)
    }

    /// All places, the store's first.
    private var places: [any MigrationPlace] {
        var places: [any MigrationPlace] = [StorePlace(store: store)]
        for place in steps.map(\.place) where !(place is StorePlace) {
            if let index = places.firstIndex(where: { $0.id == place.id }) {
                // A database that is the store as well: it is one place, and knows more than the store alone.
                if places[index] is StorePlace { places[index] = place }
            } else {
                places.append(place)
            }
        }
        return places
    }

    private func checkRegistration(places: [any MigrationPlace]) throws {
        let mistakes = try RegistrationReview(
            manager: name, current: currentVersion, steps: steps, places: places
        ).mistakes
        guard !mistakes.isEmpty else { return }
        var error = MigrationError(
            .invalidRegistration, mistakes.map(\.message).joined(separator: "\n"),
            remedy: mistakes.map(\.remedy).joined(separator: "\n"), manager: name)
        error.causes = mistakes
        throw error
    }

    private func changeRecords(_ change: (inout MigrationRecord?) -> Void) throws {
        try exclusively {
            try locked {
                for place in places where try place.store.read(name).record != nil {
                    try place.store.update(name) { state in change(&state.record) }
                }
            }
        }
        launches = [:]
    }

    /// Refuses calls from inside a step, which would wait for themselves.
    private func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        guard !isMigrating else {
            throw MigrationError(
                .reentrantCall, "\(name): a step calls the manager that is running it.",
                remedy: "Call the manager before or after migrate(), not from a step.", manager: name)
        }
        isMigrating = true
        defer { isMigrating = false }
        return try body()
    }

    private func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let release: @Sendable () -> Void
        do {
            release = try waiting(
                for: options.lockTimeout, taking: { try store.lock(name) },
                pausing: { Thread.sleep(forTimeInterval: .random(in: 0.002...0.01)) })
        } catch let error as LockTimeout {
            throw MigrationError(
                .locked, "\(name): \(error.holder) is migrating, and has not finished within \(error.limit).",
                remedy: "Launch again when it has, or allow more time with the option `lockTimeout`.",
                manager: name)
        }
        defer { release() }
        return try body()
    }
}
