import AppMigrations
import Foundation

// What `AppMigrations` adds.
let manager = try MigrationManager(
    currentVersion: "2.0",
    adopting: .newApp,
    store: try .jsonFile(at: FileManager.default.temporaryDirectory.appendingPathComponent("linked.json")))
manager.whenMigratingToVersion("1.1") {}
print(try manager.pending().isEmpty)
