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
    private let build: String
    /// The test that plays this launch; nil in an app.
    private let witness = PlayedLaunch.witness
    /// The greatest version that is due.
    private let ceiling: AppVersion
    private(set) var steps: [MigrationStep] = []
    private(set) var changes: [VersionChange] = []
    /// What has been told about this launch, once, so that all calls of `migrate` agree.
    private var decision: Decision?
    /// A step that was given up, and is tried again by this call of `migrate`.
    var forgiving: AppVersion?
    private var isMigrating = false
    /// Whether anybody has called the manager: it was not forgotten.
    private var wasAsked = false

    private struct Decision {
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

    /// What is pending, as seen without writing or locking.
    func survey(_ extent: MigrationExtent) throws -> MigrationSurvey {
        let inquiries = try inquiries(extent)
        return try survey(extent, inquiries, views: inquiries.map { try $0.look() })
    }
}

// What the synchronous and the asynchronous launch share: everything but waiting.
extension MigrationManager {
    /// Whom to ask, and about what.
    ///
    /// Checks the registration first.
    func inquiries(_ extent: MigrationExtent) throws -> [PlaceInquiry] {
        let places = self.places
        let target = target(of: extent)
        try checkRegistration(places: places)
        try checkNotAbove(target)
        let due = steps.filter { $0.version <= ceiling }
        return places.map { place in
            let here = places.count == 1 ? due : due.filter { $0.place.id == place.id }
            return PlaceInquiry(
                place: place, manager: name,
                moves: here.filter { $0.isMove && $0.version <= target }
                    .sorted { $0.version < $1.version },
                closures: here.filter { !$0.isMove })
        }
    }

    /// Plans, from what the places have shown.
    func survey(
        _ extent: MigrationExtent, _ inquiries: [PlaceInquiry], views: [PlaceView]
    ) throws -> MigrationSurvey {
        var answer: AppVersion??
        return try MigrationSurvey(
            subject, Array(zip(inquiries, views)), known: decision?.launches ?? [:],
            target: target(of: extent)
        ) {
            if let answer { return answer }
            let version = try options.adopting?.version()
            answer = .some(version)
            return version
        }
    }

    /// The report of a launch on which there is nothing to do; nil when there is.
    func reportIfSettled(_ survey: MigrationSurvey, _ extent: MigrationExtent) throws -> MigrationReport? {
        if case .waits = options.role { try checkMigrated(survey, extent) }
        guard survey.isSettled(extent) else { return nil }
        let report = report(on: survey)
        progress.completedUnitCount = progress.totalUnitCount
        tell(.launchRecognized(report.launch))
        tell(.finished(report))
        return report
    }

    /// The run that carries out a survey.
    func run(_ survey: MigrationSurvey, _ extent: MigrationExtent, _ interruption: Interruption)
        -> MigrationRun
    {
        let report = report(on: survey)
        tell(.launchRecognized(report.launch))
        return MigrationRun(
            survey: survey, extent: extent, changes: changes, progress: progress, interruption: interruption,
            report: report, tell: tell)
    }

    /// The report of a launch on which nothing has run yet.
    ///
    /// From now on, the kind of launch is decided.
    private func report(on survey: MigrationSurvey) -> MigrationReport {
        let decision = self.decision ?? decide(survey)
        self.decision = Decision(
            launches: decision.launches.merging(survey.launches) { known, _ in known },
            returnedFromDowngrade: decision.returnedFromDowngrade,
            isFirstLaunchOfVersion: decision.isFirstLaunchOfVersion)
        return MigrationReport(
            manager: name, launch: survey.findings[0].launch,
            returnedFromDowngrade: decision.returnedFromDowngrade,
            isFirstLaunchOfVersion: decision.isFirstLaunchOfVersion)
    }

    private func decide(_ survey: MigrationSurvey) -> Decision {
        let record = survey.findings[0].stored.record
        let isNewer = record?.highest.map { $0 < currentVersion } ?? true
        let (isUpgrade, isMove) =
            switch survey.findings[0].launch {
            case .upgrade: (true, true)
            case .freshInstall, .adoption: (false, true)
            case .relaunch, .downgrade: (false, false)
            }
        return Decision(
            launches: [:], returnedFromDowngrade: isUpgrade && record?.downgradedTo != nil,
            isFirstLaunchOfVersion: isMove && isNewer)
    }

    /// Forgets what kind of launch this is, after the records were changed by hand.
    func undecide() {
        decision = nil
    }

    private var subject: MigrationSurvey.Subject {
        MigrationSurvey.Subject(
            manager: name, current: currentVersion, build: build, line: options.line,
            oldestSupported: options.oldestSupported, maximumAttempts: max(1, options.maximumAttempts),
            forgiving: forgiving)
    }

    private func target(of extent: MigrationExtent) -> AppVersion {
        if case .through(let version) = extent { version } else { ceiling }
    }

    /// All places, the store's first.
    var places: [any MigrationPlace] {
        var places: [any MigrationPlace] = [storePlace]
        for place in steps.lazy.filter(\.worksInDatabase).map(\.place) {
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
            manager: name, current: currentVersion, aboveCurrent: options.aboveCurrent, steps: steps,
            places: places
        ).mistakes
        guard !mistakes.isEmpty else { return }
        var error = MigrationError(
            .invalidRegistration, mistakes.map(\.message).joined(separator: "\n"),
            remedy: mistakes.map(\.remedy).joined(separator: "\n"), manager: name)
        error.causes = mistakes
        throw error
    }

    private func checkNotAbove(_ version: AppVersion) throws {
        guard version > ceiling else { return }
        throw MigrationError(
            .versionAboveCurrent,
            "\(name): cannot migrate through \(version), above the current version \(currentVersion).",
            remedy: "Ask for the current version or one below it.", manager: name, version: version)
    }

    private func checkMigrated(_ survey: MigrationSurvey, _ extent: MigrationExtent) throws {
        for finding in survey.findings {
            guard case .downgrade(let version) = finding.launch else { continue }
            throw MigrationError(
                .newerThanThisProcess,
                "\(name): version \(version) of the app has been here; this process is at \(currentVersion).",
                remedy: "Leave the data alone until this process has been updated as well.", manager: name,
                version: version)
        }
        guard !survey.isSettled(extent) else { return }
        throw MigrationError(
            .notYetMigrated, "\(name): the data is not yet at version \(currentVersion).",
            remedy: "Leave the data alone until the app has been launched.", manager: name)
    }

    private func tell(_ kind: MigrationEvent.Kind) {
        let event = MigrationEvent(manager: name, kind: kind)
        witness?.note(event)
        options.onEvent?(event)
    }

    // MARK: One at a time

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

extension MigrationSurvey {
    fileprivate var launches: [PlaceID: Launch] {
        Dictionary(findings.map { ($0.place.id, $0.launch) }, uniquingKeysWith: { first, _ in first })
    }
}
