import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

// What the snippet finds: the data of an app that people have used since version 1.0.

/// Creates a folder with the data that version 1.0 left behind, and with the app's migrations.
func dataFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("QuickStart-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let migrations = folder.appendingPathComponent("Migrations")
    try FileManager.default.copyItem(
        at: (Bundle.module.resourceURL ?? Bundle.module.bundleURL).appendingPathComponent("Migrations"),
        to: migrations)

    // This is what version 1.0 was: it knew the first migration only.
    let schema = try SchemaMigrator(
        migrations: [SchemaMigrator(directory: migrations).migrations[0]])
    let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)
    let manager = try MigrationManager(
        name: "Library", currentVersion: "1.0",
        store: JSONStore(at: folder.appendingPathComponent("migrations.json")))
    manager.whenMigratingToVersion("1.0", migrate: schema, in: dbQueue)
    try manager.migrate()
    try dbQueue.write { db in
        try db.execute(sql: "INSERT INTO book(title, author) VALUES ('Middlemarch', ' George Eliot ')")
    }
    return folder
}

/// Moves the archive to where version 1.1 looks for it.
func moveArchive() throws {
    print("moving the archive")
}

/// Moves what version 1.1 forgot.
///
/// It may have been cut short before, and must then go on where it was.
func resumeMove(attempt: Int) throws {
    print("moving the rest, attempt \(attempt)")
}
