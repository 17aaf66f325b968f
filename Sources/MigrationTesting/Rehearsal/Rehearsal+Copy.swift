import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations

extension Rehearsal {
    /// Copies a database, and those that the app attaches as it prepares a connection, has the body rehearse on the copy, and removes
    /// the copies.
    ///
    /// - Throws: `MigrationError`, or the body's error.
    static func withCopy(
        of database: any DatabaseReader, in folder: URL?, _ progress: Progress?,
        _ body: (DatabaseQueue) throws -> Rehearsal
    ) throws -> Rehearsal {
        try MigrationError.mapErrors {
            try CopyFile.withPrivateName(in: folder) { file in
                try CopyFile.create(at: file, like: database.originalFile)
                let configuration = database.configuration.forCopying()
                let queue = try DatabaseQueue(path: file.path, configuration: configuration)
                try database.backup(to: queue, progress: progress)
                try queue.inDatabase {
                    try replaceAttachedFiles($0, byCopiesIn: file.deletingLastPathComponent())
                }
                let result = Result { try AttachedDatabases.refusingOthers(on: queue) { try body(queue) } }
                try queue.close()
                return try result.get()
            }
        }
    }

    /// Replaces each file that the connection has attached by a copy.
    private static func replaceAttachedFiles(_ db: Database, byCopiesIn folder: URL) throws {
        for (number, name) in try AttachedDatabases.fetchFiles(db).enumerated() {
            let copy = folder.appendingPathComponent("attached-\(number + 1).sqlite").path
            try db.execute(sql: "VACUUM \(name.sql) INTO ?", arguments: [copy])
            try db.execute(sql: "DETACH \(name.sql)")
            try db.execute(sql: "ATTACH ? AS \(name.sql)", arguments: [copy])
        }
    }
}
