package import Foundation
import MigrationDiagnostics

// What is pending, without changing anything.
extension MigrationManager {
    /// Returns the work that is pending, in order: first what `migrate()` would do now, then the deferred steps.
    ///
    /// ```swift
    /// for pending in try manager.pending() { print(pending.work) }
    /// ```
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate(through:retrying:)`` does before anything runs.
    public func pending() throws -> [PendingWork] {
        try exclusively { try plan().pendingWork }
    }

    /// The work that is registered and due, pending or not, in the order in which it would run.
    ///
    /// To name work in calls such as ``rerun(_:)``:
    ///
    /// ```swift
    /// for work in manager.work where work.version == "2.1-1" && work.kind == .step { try manager.rerun(work) }
    /// ```
    public var work: [MigrationWork] { registration.work }

    /// Returns the settled steps, oldest first, from the store and from the databases that steps are registered for.
    ///
    /// - Throws: ``MigrationError``, when a store cannot be read.
    public func history() throws -> [SettledStep] {
        try exclusively {
            let steps = try registration.due.flatMap { place in
                try place.store.history(name).map { step in
                    let isOutside = place.id == .store || step.work.id.kind == .closure
                    return step.found(in: place.id, database: isOutside ? nil : place.name)
                }
            }
            return steps.inOrder { ($0.date, $0.version) < ($1.date, $1.version) }
        }
    }

    /// Returns the app versions that the store has seen, in the order in which they came, each with the date at which it
    /// came first.
    ///
    /// - Throws: ``MigrationError``, when the store cannot be read.
    package func seenVersions() throws -> [(version: AppVersion, date: Date)] {
        try exclusively {
            var versions: [(version: AppVersion, date: Date)] = []
            for seen in try store.read(name).seen[options.line, default: []]
            where seen.version != .zero && !versions.contains(where: { $0.version == seen.version }) {
                versions.append((seen.version, seen.first))
            }
            return versions
        }
    }
}

extension MigrationManager {
    /// Plans the launch as it stands, without writing or locking.
    ///
    /// - Parameter note: is called with the error of a condition that throws; if it returns, the condition holds.
    func plan(orNote note: (MigrationError) throws -> Void = { throw $0 }) throws -> LaunchPlan {
        try registration.check()
        let input = runInput(try request(through: nil, retrying: nil), progress, waitingFor: patience)
        var answer = memory.answer
        return try input.plan(input.readStates(), &answer, caller(), orNote: note)
    }

    func request(through stop: AppVersion?, retrying: MigrationWork?) throws -> LaunchRequest {
        if let stop, stop > currentVersion.ceiling {
            throw MigrationError(
                .misuse, "cannot migrate through \(stop), above the current version \(currentVersion)",
                remedy: "Ask for the current version or one below it.", manager: name, version: stop)
        }
        return LaunchRequest(
            manager: name, current: currentVersion, build: build.text, appBuild: build.ofApp,
            line: options.line, oldestSupported: options.oldestSupported,
            maximumAttempts: max(1, options.maximumAttempts), retrying: retrying, stop: stop,
            hasVersionChanges: !registration.versionChanges.isEmpty, date: environment.date())
    }

    /// Asks the app for the version of data without a record.
    func adoption(_ request: LaunchRequest) throws -> AdoptionAnswer {
        do {
            return try adopting.answer(request)
        } catch let error as MigrationError {
            throw error
        } catch {
            let obstacle = Obstacle(error)
            throw MigrationError(
                obstacle?.code ?? .undecided, "`adopting` has thrown: \(error.quotation)",
                remedy: obstacle?.remedy ?? "Nothing was run. Fix what `adopting` reports, and launch again.",
                manager: name, underlyingError: error)
        }
    }
}
