package import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// A file of SQL that creates a whole schema, which a person edits.
package struct SchemaFile: Sendable {
    /// The name of the file.
    package let name: String
    private let script: SQLScript

    /// Reads a file.
    ///
    /// - Throws: `SchemaMigrationError`, with file and line.
    package init(contentsOf url: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw SchemaMigrationError(
                .invalidRequest, at: .file(url.lastPathComponent),
                "cannot be read: \(error.localizedDescription)",
                remedy: """
                    Pass the file that creates the schema you want. `app-migrations dump --database FILE` writes a first one.
                    """
            )
        }
        try self.init(data, name: url.lastPathComponent)
    }

    /// Reads the contents of a file.
    package init(_ data: Data, name: String) throws {
        self.name = name
        script = try SQLScript(data, fileName: name)
    }

    /// Creates the schema in an empty database in memory.
    ///
    /// - Throws: `SchemaMigrationError`, with file and line, if SQLite refuses a statement.
    func database(_ configuration: Configuration) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: configuration)
        try SchemaMigrationError.mapErrors {
            try queue.writeWithoutTransaction {
                try script.run($0, fixing: "Correct it. Nothing was written.")
            }
        }
        return queue
    }
}
