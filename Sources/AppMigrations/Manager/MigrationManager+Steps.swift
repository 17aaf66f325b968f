extension MigrationManager {
    /// Registers a step: work to do once, when the app is launched in this version or a later one on older data.
    ///
    /// ```swift
    /// manager.whenMigratingToVersion("1.1") { try moveArchive() }
    /// manager.whenMigratingToVersion("1.1-1") { context in try resumeMove(attempt: context.attempt) }
    /// manager.whenMigratingToVersion("1.2", onFreshInstall: .only) { try emptyKeychain() }
    /// ```
    ///
    /// The closure runs where ``migrate(through:retrying:)`` is called. It runs *at least once*: if the process dies after the work
    /// and before its record is written, the next launch runs it again. A step that works in one SQLite database can
    /// run *exactly once*: `whenMigratingToVersion(_:in:run:)`, in SchemaMigrations.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before outside databases, and at most the current version or
    ///     one of its sub-migrations.
    ///   - deferred: the versions of deferred steps to run to their end before this one.
    ///   - onFreshInstall: whether the step runs where there is no old data.
    ///   - condition: returns true if the step that has run is needed again, because data in the old form has come since: each
    ///     launch asks, where it is called. If it still holds after the step has run again, that is an error.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work. If it throws, ``migrate(through:retrying:)`` throws, and the next launch retries it.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [],
        onFreshInstall: FreshInstallRule = .skip, again condition: (() throws -> Bool)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: @escaping () throws -> Void
    ) {
        register(
            version, .plain { _ in try body() }, finishing: deferred, onFreshInstall: onFreshInstall,
            again: condition, source: SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a step whose closure receives a ``MigrationContext``.
    ///
    /// ```swift
    /// manager.whenMigratingToVersion("2.1") { context in
    ///     if context.attempt > 1 { removeHalfImportedFiles() }
    ///     try importFiles(observing: context.progress)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before outside databases, and at most the current version or
    ///     one of its sub-migrations.
    ///   - deferred: the versions of deferred steps to run to their end before this one.
    ///   - onFreshInstall: the rule for fresh installs, which have no old data.
    ///   - condition: returns true if the step that has run is needed again.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work, and receives its context.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [],
        onFreshInstall: FreshInstallRule = .skip, again condition: (() throws -> Bool)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: @escaping (MigrationContext) throws -> Void
    ) {
        register(
            version, .plain(body), finishing: deferred, onFreshInstall: onFreshInstall,
            again: condition, source: SourceLocation(fileID: fileID, line: line))
    }

    /// Registers an asynchronous step: a download, or work on an actor.
    ///
    /// ```swift
    /// manager.whenMigratingToVersion("2.1") { _ in
    ///     for file in try imageFiles() { try await makeThumbnail(of: file) }
    /// }
    /// try await manager.migrate()
    /// ```
    ///
    /// The step runs on the actor that calls `migrate`, so that a class can call its own methods in it. Only the
    /// asynchronous `migrate` runs it. The synchronous one throws as soon as such a step is registered, pending or
    /// not, so that you notice the mistake during development. The step runs at least once, like any closure.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before outside databases, and at most the current version or
    ///     one of its sub-migrations.
    ///   - deferred: the versions of deferred steps to run to their end before this one.
    ///   - onFreshInstall: the rule for fresh installs, which have no old data.
    ///   - condition: returns true if the step that has run is needed again.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work, on the actor that calls `migrate`, and receives its context. An asynchronous closure always
    ///     does: write `{ _ in … }` if it needs none.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [],
        onFreshInstall: FreshInstallRule = .skip, again condition: (() throws -> Bool)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping (MigrationContext) async throws -> Void
    ) {
        register(
            version, .asynchronous(body), finishing: deferred, onFreshInstall: onFreshInstall,
            again: condition, source: SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a closure that runs once for each change of the app's version, after the steps: the place for a
    /// what's-new screen and for clearing caches.
    ///
    /// ```swift
    /// manager.whenVersionChanges { from, _ in showNews(since: from) }
    /// ```
    ///
    /// The closure runs after an upgrade, not on a fresh install, a relaunch or a downgrade. If there are
    /// several, they run in order. If the process dies in one, or it throws, the next launch runs all of them again.
    ///
    /// - Parameter body: receives the version before and the current one.
    public func whenVersionChanges(run body: @escaping (_ from: AppVersion, _ to: AppVersion) throws -> Void)
    {
        register(
            forVersionChange: .plain { context in
                if let from = context.from { try body(from, context.to) }
            })
    }

    /// Registers an asynchronous closure that runs once for each change of the app's version.
    ///
    /// It runs on the actor that calls `migrate`. Only the asynchronous `migrate` runs it; the synchronous one
    /// refuses.
    ///
    /// - Parameter body: receives the version before and the current one.
    public func whenVersionChanges(
        run body:
            nonisolated(nonsending) @escaping (_ from: AppVersion, _ to: AppVersion) async throws -> Void
    ) {
        register(
            forVersionChange: .asynchronous { context in
                if let from = context.from { try await body(from, context.to) }
            })
    }
}
