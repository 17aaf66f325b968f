import AppMigrations
import Foundation
package import GRDB
import MigrationDiagnostics

/// A SQLite database file that several processes may open at the same time.
///
/// With GRDB's own initializers, processes that create a file at the same moment can fail with `SQLITE_BUSY`, which no busy
/// timeout covers.
package final class SQLiteFile: Sendable {
    package let path: String
    package let configuration: Configuration
    private let limit: Duration

    /// Creates a description of a file, without opening it.
    ///
    /// - Parameters:
    ///   - configuration: GRDB's configuration, used unchanged. If nil, connections wait for up to five seconds while another
    ///     connection writes.
    ///   - limit: how long opening may wait for another process.
    package init(
        path: String, configuration: Configuration? = nil, waitingFor limit: Duration = .defaultBusyTimeout
    ) {
        self.path = path
        self.configuration = configuration ?? Self.waiting
        self.limit = limit
    }

    package static var waiting: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        return configuration
    }

    /// Opens the file, or creates it.
    ///
    /// - Throws: `MigrationError`, which names the file.
    package func openQueue() throws -> DatabaseQueue {
        try open { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// Opens the file in WAL mode, or creates it.
    ///
    /// - Throws: as ``openQueue()`` does.
    package func openPool() throws -> DatabasePool {
        try open { try DatabasePool(path: path, configuration: configuration) }
    }

    private func open<Writer: DatabaseWriter>(_ open: () throws -> Writer) throws -> Writer {
        try mappingErrors { try waitWhileBusy(upTo: limit, open) }
    }

    /// Runs the body, and describes errors of SQLite as those of this file.
    package func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            let file = path.databasePath.map { URL(fileURLWithPath: $0) }
            guard let error = error.explained(beside: file) as? DatabaseError else { throw error }
            throw MigrationError(
                .databaseFailed, at: .file(URL(fileURLWithPath: path).lastPathComponent), error,
                remedy: error.remedy ?? "Check the configuration with which it is opened.")
        }
    }
}
