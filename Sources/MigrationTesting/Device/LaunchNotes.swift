import AppMigrations
import TextOutput

/// Notes on the work of a launch's managers, for a log in words.
struct LaunchNotes: Sendable {
    private struct Manager: Sendable {
        let name: String
        var launch: Launch?
        var done: [MigrationEvent.Step] = []
    }

    private var managers: [Manager] = []
    /// The version of the step that is running, or that ended and is not recorded yet.
    private(set) var running: AppVersion?
    /// The versions whose step or move began.
    private(set) var begun: Set<AppVersion> = []

    /// Whether no manager was launched.
    var isEmpty: Bool { managers.isEmpty }

    mutating func add(_ event: MigrationEvent) {
        if managers.last?.name != event.manager { managers.append(Manager(name: event.manager)) }
        let index = managers.count - 1
        switch event.kind {
        case .launchRecognized(let launch): managers[index].launch = launch
        case .willRun(let step):
            running = step.version
            begun.insert(step.version)
        case .didRun(let step, _): managers[index].done.append(step)
        case .didRunBatch: break
        case .didFail, .didGiveUp, .finished: running = nil
        }
    }

    /// Returns a clause for each manager, such as `upgrade from 1.0, ran 1.1 and 1.1-1`.
    ///
    /// - Parameter isDead: whether the process was killed. Then a step that was not recorded does not count.
    func text(isDead: Bool) -> String {
        var clauses = managers.map { manager in
            var parts = [manager.launch?.words ?? "nothing"]
            let done = manager.done.filter { !(isDead && $0.version == running) }
            let steps = done.filter { $0.schemaVersions == nil }.map(\.version.description)
            if !steps.isEmpty { parts.append("ran \(steps.asList)") }
            for move in done {
                guard let versions = move.schemaVersions, !versions.isEmpty else { continue }
                parts.append("moved \(move.database ?? "") to \(versions.last ?? "")")
            }
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
