extension MigrationManager {
    /// Registers a step: work to do once, when the app is launched in this version or a later one on older data.
    ///
    /// ```swift
    /// manager.whenMigratingToVersion("1.1") { try moveArchive() }
    /// manager.whenMigratingToVersion("1.1-1") { context in try resumeMove(attempt: context.attempt) }
    /// ```
    ///
    /// The closure runs where ``migrate()`` is called. It runs *at least once*: if the process dies after the work
    /// and before its record is written, the next launch runs it again. A step that works in one SQLite database can
    /// run *exactly once*: `whenMigratingToVersion(_:in:run:)`, in SchemaMigrations.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before, and at most the current version or one of its
    ///     sub-migrations.
    ///   - deferred: the versions of deferred steps to run to their end before this one.
    ///   - onFreshInstall: whether the step runs where there is no old data.
    ///   - onError: whether the manager stops when the step throws.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work. If it throws, ``migrate()`` throws, and the next launch retries it.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [],
        onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, fileID: StaticString = #fileID, line: UInt = #line,
        run body: @escaping () throws -> Void
    ) {
        whenMigratingToVersion(
            version, finishing: deferred, onFreshInstall: onFreshInstall, onError: onError, fileID: fileID,
            line: line
        ) { _ in
            try body()
        }
    }

    /// Registers a step that asks about the launch that runs it.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [],
        onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, fileID: StaticString = #fileID, line: UInt = #line,
        run body: @escaping (MigrationContext) throws -> Void
    ) {
        register(
            .closure(body), version, deferred, onFreshInstall, onError,
            SourceLocation(fileID: fileID, line: line))
    }

    /// Registers an asynchronous step: a download, or work on an actor.
    ///
    /// The step runs on the actor that calls `migrate`, so that a class can call its own methods in it. Only the
    /// asynchronous `migrate` runs it. The synchronous one throws as soon as such a step is registered, pending or
    /// not, so that you notice the mistake during development. The step runs at least once, like any closure.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [],
        onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping () async throws -> Void
    ) {
        whenMigratingToVersion(
            version, finishing: deferred, onFreshInstall: onFreshInstall, onError: onError, fileID: fileID,
            line: line
        ) { _ in
            try await body()
        }
    }

    /// Registers an asynchronous step that asks about the launch that runs it.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [],
        onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping (MigrationContext) async throws -> Void
    ) {
        register(
            .asynchronous(body), version, deferred, onFreshInstall, onError,
            SourceLocation(fileID: fileID, line: line))
    }

    /// Registers work that a fresh install needs besides its tables, such as emptying the keychain that outlived the
    /// last install, or writing defaults.
    ///
    /// ```swift
    /// manager.whenFreshlyInstalled { try emptyKeychain() }
    /// ```
    ///
    /// The closure runs on fresh installs only, before every step and move. The manager owes it until it has
    /// succeeded, however often the first launch is cut short. Several run in the order of their registration.
    ///
    /// - Warning: in the first release with a manager, an old install has no record either. Pass
    ///   ``MigrationOptions/adopting``, or the closure runs there as well, and empties a keychain that is in use.
    ///
    /// - Parameters:
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work. If it throws, ``migrate()`` throws, and the next launch retries it.
    public func whenFreshlyInstalled(
        fileID: StaticString = #fileID, line: UInt = #line, run body: @escaping () throws -> Void
    ) {
        registerForFreshInstalls(.closure { _ in try body() }, SourceLocation(fileID: fileID, line: line))
    }

    /// Registers an asynchronous closure that a fresh install needs.
    ///
    /// It runs on the actor that calls `migrate`. Only the asynchronous `migrate` runs it; the synchronous one
    /// refuses.
    public func whenFreshlyInstalled(
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping () async throws -> Void
    ) {
        registerForFreshInstalls(
            .asynchronous { _ in try await body() }, SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a closure that runs once for each change of the app's version, after the steps: the place for a
    /// what's-new screen and for clearing caches.
    ///
    /// The closure runs when the version was raised, not on a fresh install, a relaunch or a downgrade. If there are
    /// several, they run in order. If the process dies in one, or it throws, the next launch runs all of them again.
    public func whenVersionChanges(run body: @escaping (_ from: AppVersion, _ to: AppVersion) throws -> Void)
    {
        register(.blocking(body))
    }

    /// Registers an asynchronous closure that runs once for each change of the app's version.
    ///
    /// It runs on the actor that calls `migrate`. Only the asynchronous `migrate` runs it; the synchronous one
    /// refuses.
    public func whenVersionChanges(
        run body:
            nonisolated(nonsending) @escaping (_ from: AppVersion, _ to: AppVersion) async throws -> Void
    ) {
        register(.asynchronous(body))
    }

    private func register(
        _ work: MigrationStep.Work, _ version: AppVersion, _ deferred: [AppVersion],
        _ onFreshInstall: FreshInstallRule, _ onError: ErrorRule, _ source: SourceLocation
    ) {
        register(
            MigrationStep(
                version: version, place: registration.storePlace, work: work, onFreshInstall: onFreshInstall,
                onError: onError, finishing: deferred, source: source))
    }

    private func registerForFreshInstalls(_ work: MigrationStep.Work, _ source: SourceLocation) {
        register(
            MigrationStep(
                version: registration.nextFreshInstallVersion, place: registration.storePlace, work: work,
                onFreshInstall: .run, isForFreshInstalls: true, source: source))
    }
}
