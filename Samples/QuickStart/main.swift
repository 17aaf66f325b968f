// The README's first snippet is the code between the two markers, word for word. A test compares them.

// snippet: begin
import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

func migrateLibrary(in folder: URL) throws -> MigrationReport {
    let schema = try SchemaMigrator(bundle: .module)  // the bundle's .sql files; .main in an Xcode project
    let store = try JSONStore(at: folder.appendingPathComponent("migrations.json"))
    let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)

    let manager = try MigrationManager(
        name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
    manager.whenMigratingToVersion("1.1") { try moveCovers("jpg", in: folder) }
    manager.whenMigratingToVersion("1.1-1") { try moveCovers("jpeg", in: folder) }  // 1.1 forgot these
    manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20240601120000000, in: dbQueue)
    manager.whenMigratingToVersion("2.0", in: dbQueue) { db in
        try db.execute(sql: "UPDATE book SET author = trim(author)")
    }
    return try manager.migrate()
}
// snippet: end

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
