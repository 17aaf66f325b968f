import AppMigrations
import GRDB
import SchemaMigrations

let dbQueue = try DatabaseQueue()  // in memory; an app passes a path
let createBook = SQLMigration(version: 20240110090000, name: "book", sql: "CREATE TABLE book(title TEXT)")
for version: AppVersion in ["1.0", "2.0", "2.0"] {  // three launches
    let manager = try MigrationManager(
        name: "Library", currentVersion: version, adopting: .newApp, store: .database(dbQueue))
    manager.whenMigratingToVersion("1.0", migrate: try SchemaMigrator(migrations: [createBook]), in: dbQueue)
    if version >= "2.0" {  // release 2.0 adds a step
        manager.whenMigratingToVersion("2.0") { print("moving the covers") }
    }
    print("\(version):", try manager.migrate().launch)
}
