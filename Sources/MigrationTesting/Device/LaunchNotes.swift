import AppMigrations
import TextOutput

/// Notes on the work of a launch's managers, for a log in words.
struct LaunchNotes: Sendable {
    private struct Manager: Sendable {
        let name: String
        var launch: Launch?
        /// True if `migrate()` has returned, so that further steps are deferred ones.
        var isLaunched = false
        var done: [MigrationEvent.Step] = []
        /// The failure of a step before the end of `migrate()`, in words.
        var failure: String?
        /// The fate of deferred steps after the launch, in words.
        var deferred: [AppVersion: String] = [:]
    }

    private var managers: [Manager] = []
    /// The version of the step that is running, or that ended and is not recorded yet.
    private(set) var running: AppVersion?
    /// The versions whose step began.
    private(set) var begun: Set<AppVersion> = []
    /// The batches that deferred steps have committed, except the last one of each step.
    private(set) var batches: [AppVersion: Int] = [:]
    /// The batches that were committed after the launch.
    private(set) var deferredBatches = 0

    /// True if no manager was launched.
    var isEmpty: Bool { managers.isEmpty }

    mutating func add(_ event: MigrationEvent) {
        if case .launchRecognized(let launch) = event.kind {
            if managers.last?.name != event.manager { managers.append(Manager(name: event.manager)) }
            managers[managers.count - 1].launch = launch
            managers[managers.count - 1].isLaunched = false
            managers[managers.count - 1].failure = nil
            return
        }
        guard let index = managers.lastIndex(where: { $0.name == event.manager }) else { return }
        let isDeferred = managers[index].isLaunched
        switch event.kind {
        case .willRun(let step):
            running = step.version
            begun.insert(step.version)
        case .didRun(let step, _) where isDeferred:
            // Its last batch has recorded it.
            running = nil
            deferredBatches += 1
            managers[index].deferred[step.version] = "ran deferred \(step.version)"
        case .didRun(let step, _): managers[index].done.append(step)
        case .didRunBatch(let step, let done, let total):
            batches[step.version, default: 0] += 1
            guard isDeferred else { break }
            deferredBatches += 1
            managers[index].deferred[step.version] =
                "ran deferred \(step.version) up to \(done)\(total.map { " of \($0)" } ?? "")"
        case .didFail(let step, let error):
            running = nil
            let failure = "\(step.version) \(error.verb): \(error)"
            if isDeferred {
                managers[index].deferred[step.version] = "deferred \(failure)"
            } else {
                managers[index].failure = failure
            }
        case .finished:
            running = nil
            managers[index].isLaunched = true
        case .launchRecognized, .lacksBusyTimeout: break
        }
    }

    /// How a launch has ended.
    enum End {
        case returned
        case failed(any Error)
        /// A step that was not recorded does not count.
        case killed
    }

    /// Returns a clause for each manager, such as `upgrade from 1.0, ran 1.1 and 1.1-1`.
    func text(of end: End) -> String {
        let isDead = if case .killed = end { true } else { false }
        // The error with which the launch has ended says what became of this manager.
        let culprit: String? =
            if case .failed(let error) = end {
                (error as? MigrationError)?.manager
                    ?? managers.last { $0.failure != nil && !$0.isLaunched }?.name
            } else {
                nil
            }
        var clauses = managers.map { manager in
            var parts = [manager.launch?.words ?? "nothing"]
            let done = manager.done.filter { !(isDead && $0.version == running) }
            let steps = done.filter { $0.schemaVersions == nil }.map(\.version.description)
            if !steps.isEmpty { parts.append("ran \(steps.asList)") }
            for schemaStep in done {
                guard let versions = schemaStep.schemaVersions, !versions.isEmpty else { continue }
                parts.append("migrated \(schemaStep.database ?? "") to \(versions.last ?? "")")
            }
            switch end {
            // The app has caught the error.
            case .returned where !manager.isLaunched: parts.append(manager.failure ?? "failed")
            case .failed where !manager.isLaunched && manager.name != culprit:
                parts += [manager.failure].compactMap(\.self)
            default: break
            }
            parts += manager.deferred.sorted { $0.key < $1.key }.map(\.value)
            return (manager.name == "default" ? "" : "\(manager.name): ") + parts.joined(separator: ", ")
        }
        if isDead {
            let death = running.map { "killed at \($0)" } ?? "killed"
            clauses = clauses.isEmpty ? [death] : clauses.dropLast() + ["\(clauses.last ?? ""), \(death)"]
        }
        return clauses.joined(separator: "; ")
    }
}

extension Launch {
    /// The words for it in a log.
    fileprivate var words: String {
        switch self {
        case .freshInstall: "fresh install"
        case .adoption(let version): "adoption from \(version)"
        case .upgrade(let version): "upgrade from \(version)"
        case .relaunch: "relaunch"
        case .downgrade(let version): "downgrade from \(version)"
        }
    }
}
