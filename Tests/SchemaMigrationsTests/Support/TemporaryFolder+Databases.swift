import Foundation
import GRDB
import SchemaMigrations
import TestSupport

extension TemporaryFolder {
    func path(_ name: String) -> String { file(name).path }

    /// Writes files to a folder inside this one, and returns that folder.
    @discardableResult
    func folder(_ files: [String: String], named name: String = "migrations") throws -> URL {
        try folder(data: files.mapValues { Data($0.utf8) }, named: name)
    }

    @discardableResult
    func folder(data files: [String: Data], named name: String = "migrations") throws -> URL {
        let folder = file(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, contents) in files { try contents.write(to: folder.appendingPathComponent(name)) }
        return folder
    }

    /// Creates a migrator for files that it writes to a folder.
    func migrator(_ files: [String: String], adopting: SchemaAdoption? = nil) throws
        -> SchemaMigrator
    {
        try SchemaMigrator(directory: folder(files), adopting: adopting)
    }

    func queue(_ name: String = "app.sqlite", _ configuration: Configuration = Configuration()) throws
        -> DatabaseQueue
    {
        try DatabaseQueue(path: path(name), configuration: configuration)
    }

    func pool(_ name: String = "app.sqlite") throws -> DatabasePool {
        try DatabasePool(path: path(name))
    }
}
