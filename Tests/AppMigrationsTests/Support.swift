import AppMigrations
import Foundation
import Testing

/// A folder that is removed with the test that made it.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "AppMigrations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    var fileNames: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }
}

/// What steps have written down about themselves.
final class Log {
    var lines: [String] = []
}

struct StepError: Error, CustomStringConvertible {
    let description: String
}

extension MigrationManager {
    /// Registers steps that write their version into a log.
    func register(_ versions: [AppVersion], log: Log) {
        for version in versions {
            whenMigratingToVersion(version) { log.lines.append(version.description) }
        }
    }
}

/// Launches an app: a manager with some steps, migrated.
@discardableResult
func launch(
    _ version: String, steps: [AppVersion] = [], name: String = "Library", store: any MigrationStore,
    log: Log = Log(), options: MigrationOptions = MigrationOptions()
) throws -> MigrationReport {
    let manager = try MigrationManager(name: name, currentVersion: version, store: store, options: options)
    manager.register(steps, log: log)
    return try manager.migrate()
}
