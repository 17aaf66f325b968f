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
                version: version, place: StorePlace(store: store), work: .closure(body),
                onFreshInstall: onFreshInstall, source: SourceLocation(fileID: fileID, line: line)))
    }
}
