import AppMigrations
import SmallWorlds

// How the functions for recovery are called: everything that depends on how they name work.

/// A manager, with what the app has registered with it.
struct WorldManager {
    let manager: MigrationManager
    let app: SmallApp
    /// The databases that the process has opened, by their numbers.
    var places: [Int: PlaceID] = [:]

    /// Makes a call for the recovery screen.
    func call(_ call: SmallEvent.Call) throws {
        switch call {
        case .skip(let work): try manager.skip(self.work(work))
        case .rerun(let work): try manager.rerun(self.work(work))
        case .rerunAllSteps: try manager.rerunAllSteps()
        case .removeRecord: try manager.removeRecord()
        case .replaceRecord(_, let version): try manager.replaceRecord(assuming: WorldScene.version(version))
        }
    }

    func migrate(through stop: Int?, retrying work: SmallWork?) throws {
        try manager.migrate(
            through: stop.map(WorldScene.version), retrying: work.flatMap { try? self.work($0) })
    }

    func migrate(through stop: Int?, retrying work: SmallWork?) async throws {
        _ = try await manager.migrate(
            through: stop.map(WorldScene.version), retrying: work.flatMap { try? self.work($0) },
            isolation: nil)
    }

    func runDeferred(retrying work: SmallWork?) throws {
        _ = try manager.runDeferred(retrying: work.flatMap { try? self.work($0) })
    }

    func runDeferred(retrying work: SmallWork?) async throws {
        _ = try await manager.runDeferred(retrying: work.flatMap { try? self.work($0) }, isolation: nil)
    }

    /// The work that an error names; nil if it is more than one.
    ///
    /// - Parameter release: the release that has thrown it.
    func work(of error: MigrationError, in release: SmallRelease) -> SmallWork? {
        guard let work = error.work else { return nil }
        switch work.kind {
        case .schemaStep: return .move
        case .versionChange: return .versionChange(Int(manager.name) ?? 0)
        default:
            let number = Int(manager.name) ?? 0
            return app.steps(of: number, in: release).first {
                WorldScene.version($0.version) == work.version
                    && isIn($0.place, work)
            }.map { SmallWork.step($0.id) }
        }
    }

    private func isIn(_ place: SmallApp.Place, _ work: MigrationWork) -> Bool {
        guard case .database(let number) = place else { return work.database == nil }
        return work.database != nil && work.place == places[number]
    }

    /// Returns the work that a name of the world stands for.
    private func work(_ work: SmallWork) throws -> MigrationWork {
        switch work {
        case .versionChange:
            guard let change = try manager.pending().first(where: { $0.work.kind == .versionChange }) else {
                throw Self.noWork
            }
            return change.work
        case .move: return try found { $0.kind == .schemaStep }
        case .step(let id):
            let version = WorldScene.version(app.version(of: id))
            let place = app.step(id)?.place ?? .files
            return try found { $0.kind == .step && $0.version == version && isIn(place, $0) }
        }
    }

    /// The error of a call that names work of another release.
    private static var noWork: MigrationError {
        MigrationError(.misuse, "there is no such work", remedy: "Ask pending().")
    }

    private func found(_ isWanted: (MigrationWork) -> Bool) throws -> MigrationWork {
        guard let work = manager.work.first(where: isWanted) else { throw Self.noWork }
        return work
    }
}
