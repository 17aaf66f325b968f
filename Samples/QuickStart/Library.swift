import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

// The rest of the app.

/// Moves the covers into the folder `Covers`, where version 1.1 looks for them.
///
/// A crash may interrupt the step, which then runs again: it moves only what is still in the old place.
func moveCovers(in folder: URL) throws {
    let covers = folder.appendingPathComponent("Covers")
    try FileManager.default.createDirectory(at: covers, withIntermediateDirectories: true)
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    where file.pathExtension == "jpg" {
        try FileManager.default.moveItem(
            at: file, to: covers.appendingPathComponent(file.lastPathComponent))
    }
}

/// Writes what version 1.0 wrote: its record, a database with the first migration, and two covers.
func writeDataOfVersion1(in folder: URL) throws {
    let schema = try SchemaMigrator(migrations: [SchemaMigrator(bundle: .module).migrations[0]])
    let store = try JSONStore(at: folder.appendingPathComponent("migrations.json"))
    let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)

    let manager = try MigrationManager(
        name: "Books", currentVersion: "1.0", adopting: .newApp, store: store)
    manager.whenMigratingToVersion("1.0", migrate: schema, in: dbQueue)
    try manager.migrate()

    try dbQueue.write { db in
        try db.execute(sql: "INSERT INTO book(title, author) VALUES ('Middlemarch', 'George Eliot')")
    }
    for cover in ["middlemarch.jpg", "portrait.jpg"] {
        try Data(cover.utf8).write(to: folder.appendingPathComponent(cover))
    }
}
