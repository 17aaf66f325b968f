import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import TestSupport

/// A stand-in of the shape of a real app, with its releases from before it had this package.
protocol Port: Sendable {
    /// The app, in messages.
    static var name: String { get }
    /// The number of releases; the last one has this package.
    static var releases: Int { get }

    init(in folder: URL) throws

    /// Does what a release without this package does when it is launched for the first time, and writes the data of a user.
    func use(release: Int) throws
    /// Launches the last release, and runs what it has deferred.
    ///
    /// - Returns: the number of steps and schema steps that ran.
    func launch(_ process: SimulatedProcess) throws -> Int
    /// Returns what is wrong after a launch of the last release that came to its end; nil if nothing is.
    func problem(from release: Int?) throws -> String?
    /// Changes the data as an older release, another device or a repair would, once the last release has run.
    func disturb() throws
}

extension Port {
    func disturb() throws {}
}

/// The number of pieces of work that a manager has done in a launch, with what it has deferred.
func run(_ manager: MigrationManager) throws -> Int {
    let report = try manager.migrate()
    let deferred = try manager.runDeferred()
    if let failure = deferred.failures.first { throw failure }
    return report.completed.count + report.schemaSteps.count + deferred.completed.count
}

extension DatabaseReader {
    /// Returns the first integer of a query.
    func number(_ sql: String) throws -> Int { try read { try Int.fetchOne($0, sql: sql) ?? -1 } }
}

extension URL {
    func file(_ name: String) -> URL { appendingPathComponent(name) }

    /// The names of the files in a folder.
    var fileNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}
