import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

// What `SchemaMigrations` adds to that.
let queue = try DatabaseQueue()
let schema = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "t", sql: "CREATE TABLE t(a)")])
let manager = try MigrationManager(currentVersion: "2.0", adopting: .newApp, store: .database(queue))
manager.whenMigratingToVersion("2.0", migrate: schema, in: queue)
try manager.migrate()
print(try queue.read(schema.status).pendingVersions)
