import Foundation
import GRDB
import MigrationDiagnostics
import MigrationFiles

/// A migration in a `.sql` file, which is read when it is needed.
struct SQLFile: SQLSource {
    let version: SchemaVersion
    let name: String
    package let fileName: String
    /// The name of the down migration's file.
    private let downName: String?
    /// The folder, joined with a name only when a file is read, because joining asks the file system.
    private let folder: URL

    init(_ entry: MigrationFileSet.Entry, in folder: URL) {
        version = entry.parsed.version
        name = entry.parsed.name
        fileName = entry.fileName
        downName = entry.down
        self.folder = folder
    }

    package var hasDown: Bool { downName != nil }

    package func script() throws -> SQLScript {
        try script(fileName)
    }

    package func downScript() throws -> SQLScript? {
        try downName.map(script)
    }

    func migrate(_ db: Database) throws {
        try script().run(db) {}
    }

    private func script(_ fileName: String) throws -> SQLScript {
        let data: Data
        do {
            data = try Data(contentsOf: folder.appendingPathComponent(fileName))
        } catch {
            throw SchemaMigrationError(
                .invalidMigration, at: .file(fileName), "cannot be read: \(error.localizedDescription)",
                remedy: "It was there when the folder was listed: make it readable.",
                underlyingError: error)
        }
        return try SQLScript(data, fileName: fileName)
    }
}
