package import AppMigrations

// Work by its version alone, for tests in which a version has one step.
extension MigrationManager {
    /// Returns the versions of the steps that `migrate()` would run now.
    package func pendingVersions() throws -> [AppVersion] {
        try pending().filter { !$0.isDeferred && $0.work.kind == .step }.map(\.work.version)
    }

    /// Returns the schema steps that would apply something now.
    package func pendingSchemaSteps() throws -> [PendingWork] {
        try pending().filter { $0.work.kind == .schemaStep }
    }

    /// Returns the deferred steps that wait.
    package func pendingDeferred() throws -> [PendingWork] { try pending().filter(\.isDeferred) }

    /// Returns the registered work of a version; a step if there is one.
    package func work(_ version: AppVersion, _ kind: MigrationWork.Kind = .step) throws -> MigrationWork {
        guard let work = work.first(where: { $0.version == version && $0.kind == kind }) else {
            throw NoWork(version: version)
        }
        return work
    }

    /// Skips the step of a version.
    package func skip(_ version: AppVersion) throws { try skip(work(version)) }

    /// Runs the step of a version again.
    package func rerun(_ version: AppVersion) throws { try rerun(work(version)) }
}

/// No work of a version is registered.
package struct NoWork: Error {
    package let version: AppVersion
}

extension MigrationRecord {
    /// The versions whose steps are settled, ascending.
    package var settled: [AppVersion] {
        work.filter { $0.key.kind == .step && $0.value.isSettled }.map(\.key.version).sorted()
    }

    /// The work that is written down as running.
    package var running: [WorkID] { work.keys.filter { open($0)?.running != nil } }

    /// The number of deaths in work.
    package func deaths(in version: AppVersion, _ kind: WorkID.Kind = .step) -> Int {
        open(WorkID(version, kind))?.deaths ?? 0
    }
}
