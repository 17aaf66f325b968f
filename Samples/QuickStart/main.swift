import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

func migrateLibrary(in folder: URL) throws -> MigrationReport {
    let schema = try SchemaMigrator(bundle: .module)  // the bundle's .sql files; .main in an Xcode project
    let store = try JSONStore(at: folder.appendingPathComponent("migrations.json"))
    let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)

    // The README's first snippet: a test compares it with the lines between the two markers.
    // snippet: begin
    let manager = try MigrationManager(name: "Books", currentVersion: "2.0", adopting: .newApp, store: store)
    manager.whenMigratingToVersion("1.1") { try moveCovers(in: folder) }
    manager.whenMigratingToVersion("2.0", migrate: schema, in: dbQueue)  // a folder of .sql files
    let report = try manager.migrate()
    // snippet: end
    return report
}

try withTemporaryFolder { folder in
    print("A fresh install of 2.0")
    try printLaunch(migrateLibrary(in: folder))
    try printContents(of: folder)
}

try withTemporaryFolder { folder in
    try writeDataOfVersion1(in: folder)
    print("\nData that version 1.0 left")
    try printContents(of: folder)
    print("\nThe first launch of 2.0 on that data")
    try printLaunch(migrateLibrary(in: folder))
    try printContents(of: folder)
    print("\nThe second launch of 2.0")
    try printLaunch(migrateLibrary(in: folder))
}
