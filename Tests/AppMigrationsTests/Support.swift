import AppMigrations
import Foundation
import TestTraits
import Testing

/// Lines that steps write when they run.
final class Log: Sendable {
    private let storage = Locked<[String]>([])

    var lines: [String] {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }
}

struct StepError: Error, CustomStringConvertible {
    let description: String
}

extension MigrationManager {
    /// Registers steps that write their version to a log.
    func register(_ versions: [AppVersion], log: Log) {
        for version in versions {
            whenMigratingToVersion(version) { log.lines.append(version.description) }
        }
    }
}

/// Launches an app: creates a manager, registers steps and migrates.
@discardableResult
func launch(
    _ version: String, steps: [AppVersion] = [], name: String = "Library", store: MigrationStore,
    log: Log = Log(), adopting: Adoption = .newApp, options: MigrationOptions = MigrationOptions()
) throws -> MigrationReport {
    let manager = try MigrationManager(
        name: name, currentVersion: version, adopting: adopting, store: store, options: options)
    manager.register(steps, log: log)
    return try manager.migrate()
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
