import AppMigrations
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
    /// - Throws: `MigrationError`, with file and line.
    package init(contentsOf url: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw MigrationError(
                .misuse, at: .file(url.lastPathComponent),
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
        do {
            script = try SQLScript(data, fileName: name)
        } catch var error as MigrationError where error.detail == .refusedStatement {
            error.remedy = Self.dumpRemedy
            throw error
        }
    }

    /// The renames that comments record, such as `note.body=text` in `-- renamed: note.body=text`.
    var renames: [String] {
        script.comments.compactMap { comment in
            let mark = "-- renamed:"
            guard comment.text.hasPrefix(mark) else { return nil }
            return comment.text.dropFirst(mark.count).trimmingCharacters(in: .whitespaces)
        }
    }

    /// True if the comment `-- tool: synced` says that a sync engine mirrors the tables.
    var isSynchronized: Bool { script.comments.contains(where: \.saysSynced) }

    /// The remedy for a file that `sqlite3` has written, with a transaction or SQLite's own tables.
    private static let dumpRemedy = """
        `app-migrations dump --database FILE` writes a schema that fits, other than .schema and .dump do. Nothing was \
        written.
        """

    /// Creates the schema in an empty database in memory.
    ///
    /// - Throws: `MigrationError`, with file and line, if SQLite refuses a statement.
    func database(_ configuration: Configuration) throws -> DatabaseQueue {
        let queue = try configuration.scratchDatabase()
        try MigrationError.mapErrors {
            try queue.writeWithoutTransaction {
                try script.run(
                    $0,
                    fixing: script.sql.contains("sqlite_")
                        ? Self.dumpRemedy : "Correct it. Nothing was written.")
            }
        }
        return queue
    }
}
