extension MigrationManager {
    /// Registers a step: what has to happen once, when the app is launched in this version or a later one on
    /// data from before it.
    ///
    /// The closure runs where ``migrate()`` is called. It runs *at least once*: when the process dies after the
    /// work and before its record is written, the next launch runs it again. A step that works in one SQLite
    /// database can be had *exactly once*: `whenMigratingToVersion(_:in:run:)`, in SchemaMigrations.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before; at most the current version, whose
    ///     sub-migrations count as that version.
    ///   - onFreshInstall: whether the step runs where there is no old data.
    ///   - fileID: where it is registered, for messages: the file.
    ///   - line: the line in it.
    ///   - body: does the work. When it throws, ``migrate()`` throws, and the next launch runs it again.
    public func whenMigratingToVersion(
        _ version: AppVersion, onFreshInstall: FreshInstallRule = .skip, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping () throws -> Void
    ) {
        whenMigratingToVersion(version, onFreshInstall: onFreshInstall, fileID: fileID, line: line) { _ in
            try body()
        }
    }

    /// Registers a step that wants to know about the launch that runs it.
    public func whenMigratingToVersion(
        _ version: AppVersion, onFreshInstall: FreshInstallRule = .skip, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping (MigrationContext) throws -> Void
    ) {
        register(
            MigrationStep(
                version: version, place: storePlace, work: .closure(body),
                onFreshInstall: onFreshInstall, source: SourceLocation(fileID: fileID, line: line)))
    }

    /// Registers a step that may be suspended: a download, or work on an actor.
    ///
    /// Only the asynchronous `migrate` runs it; the synchronous one refuses as soon as such a step is registered,
    /// so that it fails on the developer's desk and not in the field. It runs at least once, like any closure.
    public func whenMigratingToVersion(
        _ version: AppVersion, onFreshInstall: FreshInstallRule = .skip, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable () async throws -> Void
    ) {
        whenMigratingToVersion(version, onFreshInstall: onFreshInstall, fileID: fileID, line: line) { _ in
            try await body()
        }
    }

    /// Registers a step that may be suspended, and wants to know about the launch that runs it.
    public func whenMigratingToVersion(
        _ version: AppVersion, onFreshInstall: FreshInstallRule = .skip, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (MigrationContext) async throws -> Void
    ) {
        register(
            MigrationStep(
                version: version, place: storePlace, work: .asynchronous(body),
                onFreshInstall: onFreshInstall, source: SourceLocation(fileID: fileID, line: line)))
    }

    /// Registers what is to run once for each change of the app's version, after the steps: the place for a
    /// what's-new screen and for clearing caches.
    ///
    /// Runs when the version was raised, not on a fresh install, a relaunch or a downgrade. Several may be
    /// registered; they run in order. When the process dies in one, or it throws, the next launch runs them
    /// again.
    public func whenVersionChanges(run body: @escaping (_ from: AppVersion, _ to: AppVersion) throws -> Void)
    {
        register(change: body)
    }
}
