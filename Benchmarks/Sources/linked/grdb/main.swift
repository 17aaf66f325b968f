import Foundation
import GRDB

// What GRDB adds, which an app with a database has already.
let queue = try DatabaseQueue()
var migrator = DatabaseMigrator()
migrator.registerMigration("1") { db in try db.execute(sql: "CREATE TABLE t(a)") }
try migrator.migrate(queue)
print(try queue.read { try migrator.hasCompletedMigrations($0) })
