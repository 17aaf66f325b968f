// The README's first snippet: what stands between the two markers, word for word. A test compares them.

// snippet: begin
import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

let folder = try dataFolder()
let schema = try SchemaMigrator(directory: folder.appendingPathComponent("Migrations"))
let store = try JSONStore(at: folder.appendingPathComponent("migrations.json"))
let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)

let manager = try MigrationManager(name: "Library", currentVersion: "2.0", store: store)
manager.whenMigratingToVersion("1.1") { try moveArchive() }
manager.whenMigratingToVersion("1.1-1") { context in try resumeMove(attempt: context.attempt) }
manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20240601120000000, in: dbQueue)
manager.whenMigratingToVersion("2.0", in: dbQueue) { db in
    try db.execute(sql: "UPDATE book SET author = trim(author)")
}

let report = try manager.migrate()
print(report.launch)  // upgrade(from: 1.0)
// snippet: end

try FileManager.default.removeItem(at: folder)
