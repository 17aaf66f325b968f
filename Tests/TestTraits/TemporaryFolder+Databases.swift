package import Foundation
package import GRDB
package import SchemaMigrations
package import TestSupport
import Testing

extension TemporaryFolder {
    package func path(_ name: String) -> String { file(name).path }

    /// Writes files to a folder inside this one, and returns that folder.
    @discardableResult
    package func folder(_ files: [String: String], named name: String = "migrations") throws -> URL {
        try folder(data: files.mapValues { Data($0.utf8) }, named: name)
    }

    @discardableResult
    package func folder(data files: [String: Data], named name: String = "migrations") throws -> URL {
        let folder = file(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, contents) in files { try contents.write(to: folder.appendingPathComponent(name)) }
        return folder
    }

    /// Creates a migrator for files that it writes to a folder.
    package func migrator(_ files: [String: String], adopting: SchemaAdoption? = nil) throws
        -> SchemaMigrator
    {
        try SchemaMigrator(directory: folder(files), adopting: adopting)
    }

    package func queue(_ name: String = "app.sqlite", _ configuration: Configuration = Configuration()) throws
        -> DatabaseQueue
    {
        try DatabaseQueue(path: path(name), configuration: configuration)
    }

    /// True if every database is encrypted, as `Scripts/with-sqlite.sh` can see to.
    package static let encryptsDatabases: Bool = {
        guard let folder = try? TemporaryFolder(), let queue = try? folder.queue() else { return false }
        try? queue.execute("CREATE TABLE a(x)")
        let header = try? Data(contentsOf: folder.file("app.sqlite")).prefix(15)
        return header != Data("SQLite format 3".utf8)
    }()

    /// Replaces a text in the file of a closed database, as no SQL may in SQLite's defensive mode.
    ///
    /// Both texts have the same length, since SQLite notes lengths.
    package func damage(_ name: String = "app.sqlite", replacing text: String, with other: String) throws {
        precondition(text.utf8.count == other.utf8.count)
        var bytes = try Data(contentsOf: file(name))
        let range = try #require(bytes.range(of: Data(text.utf8)), "The file does not hold \(text).")
        bytes.replaceSubrange(range, with: Data(other.utf8))
        try bytes.write(to: file(name))
    }

    package func pool(_ name: String = "app.sqlite", _ configuration: Configuration = Configuration()) throws
        -> DatabasePool
    {
        try DatabasePool(path: path(name), configuration: configuration)
    }
}

extension Requirement {
    /// Databases whose files can be read without SQLite.
    package static let clearText = Self("databases in clear text", "Scripts/with-sqlite.sh encrypts them.") {
        !TemporaryFolder.encryptsDatabases
    }
}
