import AppMigrations
import SmallWorlds

// How the functions for recovery are called: everything that depends on how they name work.

/// A manager, with what the app has registered with it.
struct WorldManager {
    let manager: MigrationManager
    let app: SmallApp

    /// Makes a call for the recovery screen.
    func call(_ call: SmallEvent.Call) throws {
        switch call {
        case .skip(let work): try manager.skip(version(of: work))
        case .rerun(let work): try manager.rerunStep(version(of: work))
        case .rerunAllSteps: try manager.rerunAllSteps()
        case .removeRecord: try manager.removeRecord()
        case .replaceRecord(_, let version): try manager.replaceRecord(assuming: WorldScene.version(version))
        }
    }

    func migrate(through stop: Int?, retrying work: SmallWork?) throws {
        try manager.migrate(through: stop.map(WorldScene.version), retrying: work.map(version))
    }

    func migrate(through stop: Int?, retrying work: SmallWork?) async throws {
        _ = try await manager.migrate(
            through: stop.map(WorldScene.version), retrying: work.map(version), isolation: nil)
    }

    func runDeferred(retrying work: SmallWork?) throws {
        _ = try manager.runDeferred(retrying: work.map(version))
    }

    func runDeferred(retrying work: SmallWork?) async throws {
        _ = try await manager.runDeferred(retrying: work.map(version), isolation: nil)
    }

    /// The work that an error names; nil if it is more than one.
    ///
    /// - Parameter release: the release that has thrown it.
    func work(of error: MigrationError, in release: SmallRelease) -> SmallWork? {
        guard let version = error.version else { return nil }
        let number = Int(manager.name) ?? 0
        var works = app.steps(of: number, in: release).filter { WorldScene.version($0.version) == version }
            .map { SmallWork.step($0.id) }
        if number == 0, let move = app.move(in: release), WorldScene.version(move.version) == version {
            works.append(.move)
        }
        return works.count == 1 ? works[0] : nil
    }

    private func version(of work: SmallWork) -> AppVersion {
        if case .versionChange = work { return manager.currentVersion }
        return WorldScene.version(app.version(of: work.id))
    }
}
