import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits

/// A small app's database in a folder of its own, which tests damage.
struct NotesDatabase {
    let folder: TemporaryFolder
    let schema: SchemaMigrator
    var path: String { folder.path("app.sqlite") }
    var url: URL { URL(fileURLWithPath: path) }

    /// Makes 40 notes in 4 folders, at version 1 of 2.
    init(options: SchemaOptions = SchemaOptions()) throws {
        folder = try TemporaryFolder()
        let migrations = folder.file("migrations")
        try FileManager.default.createDirectory(at: migrations, withIntermediateDirectories: true)
        try Data(
            """
            CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, folder INTEGER NOT NULL REFERENCES folder(id));
            """.utf8
        ).write(to: migrations.appendingPathComponent("1_begin.sql"))
        try Data("ALTER TABLE note ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;".utf8)
            .write(to: migrations.appendingPathComponent("2_stars.sql"))
        schema = try SchemaMigrator(directory: migrations, options: options)
        var first = schema
        first.options.backupFolder = nil
        let queue = try DatabaseQueue(path: path)
        try first.migrate(queue, upTo: 1)
        try queue.write { db in
            for id in 1...4 {
                try db.execute(sql: "INSERT INTO folder VALUES (?, ?)", arguments: [id, "folder \(id)"])
            }
            for id in 1...40 {
                let title = "note \(id) " + String(repeating: "words ", count: 60)
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [id, title, id % 4 + 1])
            }
        }
        try queue.close()
    }

    /// Changes the file's bytes.
    func change(_ body: (inout Data) -> Void) throws { try DatabasePages(path: path).change(body) }

    /// The names of the files beside the database, without locks.
    func names() throws -> [String] {
        try folder.fileNames.filter { !$0.hasSuffix(".lock") && $0 != "migrations" }.sorted()
    }
}
