import Foundation
import GRDB
import GRDBMigrations

// Release 2.0 calls this at launch, before anything reads the data. Release 1.0 ran the migrator alone.
func launch(_ migrator: DatabaseMigrator, in folder: URL) throws -> MigrationReport {
    let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)
    let manager = try MigrationManager(
        name: "Library", currentVersion: "2.0",  // an app's bundle has it
        adopting: .databaseHasTables(dbQueue, means: "1.0"), store: .database(dbQueue))
    manager.whenMigratingToVersion(migrate: migrator, in: dbQueue)  // all that is not applied
    manager.whenMigratingToVersion("2.0") {  // after a crash, it runs again
        let old = folder.appendingPathComponent("covers.zip")
        guard FileManager.default.fileExists(atPath: old.path) else { return }
        try FileManager.default.moveItem(at: old, to: folder.appendingPathComponent("images.zip"))
    }
    return try manager.migrate()
}

// Ana has the data of 1.0, a database and a file. Ben is new.
let home = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
let (ana, ben) = (home.appendingPathComponent("Ana"), home.appendingPathComponent("Ben"))
for folder in [ana, ben] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
}
var migrator = DatabaseMigrator()
migrator.registerMigration("createBook") { try $0.execute(sql: "CREATE TABLE book(title TEXT)") }
try migrator.migrate(DatabaseQueue(path: ana.appendingPathComponent("library.sqlite").path))
try Data().write(to: ana.appendingPathComponent("covers.zip"))

migrator.registerMigration("addPages") { try $0.execute(sql: "ALTER TABLE book ADD COLUMN pages INT") }
let launches = [("Ben installs 2.0", ben), ("Ana updates to 2.0", ana), ("Ana launches it again", ana)]
for (what, folder) in launches {
    let report = try launch(migrator, in: folder)
    print("\(what): \(report.launch)", report.schemaSteps.flatMap(\.schemaVersions), report.completed)
}
try FileManager.default.removeItem(at: home)
