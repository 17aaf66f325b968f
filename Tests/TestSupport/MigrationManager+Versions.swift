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

extension [MigrationWork] {
    /// The versions of the work.
    package var versions: [AppVersion] { map(\.version) }
}

extension [SchemaStep] {
    /// What the schema steps have applied, as in `Library: schema step 1.0 in library.sqlite: 10, 12`.
    package var texts: [String] {
        map { "\($0.work): \($0.schemaVersions.joined(separator: ", "))" }
    }
}

/// No work of a version is registered.
package struct NoWork: Error {
    package let version: AppVersion
}

extension MigrationRecord {
    /// The versions whose steps are settled, ascending.
    package var settled: [AppVersion] {
        work.filter { $0.key.isStep && $0.value.isSettled }.map(\.key.version).sorted()
    }

    /// The work that is written down as running.
    package var running: [WorkID] { work.keys.filter { open($0)?.running != nil } }

    /// The number of attempts at work that have not come to an end: deaths, and one more for work that is running.
    package var attempts: [WorkID: Int] {
        var attempts: [WorkID: Int] = [:]
        for id in work.keys {
            guard let open = open(id) else { continue }
            attempts[id] = open.deaths + (open.running == nil ? 0 : 1)
        }
        return attempts.filter { $0.value > 0 }
    }

    /// How often the steps have failed that are not settled.
    package var failures: [AppVersion: Int] {
        var failures: [AppVersion: Int] = [:]
        for id in work.keys where id.kind == .step { failures[id.version] = open(id)?.failures }
        return failures.filter { $0.value > 0 }
    }

    /// Notes that the process has died in work, in a build of the app.
    package mutating func noteDeaths(
        _ count: Int, in version: AppVersion, _ kind: WorkID.Kind = .step, build: String, forgiven: Int = 0
    ) {
        changeOpen(WorkID(version, kind)) { open in
            open.deaths = count
            open.forgiven = forgiven
            open.build = build
        }
    }

    /// The number of deaths in work.
    package func deaths(in version: AppVersion, _ kind: WorkID.Kind = .step) -> Int {
        open(WorkID(version, kind))?.deaths ?? 0
    }
}
