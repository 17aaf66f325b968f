import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

// An app takes its version from its bundle; this program takes it from its argument, to play two releases.
let version = try AppVersion(parsing: CommandLine.arguments.dropFirst().first ?? "1.1")
let folder = URL(fileURLWithPath: "Data", isDirectory: true)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let books = folder.appendingPathComponent("books.txt")
let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)

let schema = try SchemaMigrator(migrations: [
    SQLMigration(version: 20240110090000, name: "create_book", sql: "CREATE TABLE book(title TEXT NOT NULL)")
])
let manager = try MigrationManager(
    name: "Library", currentVersion: version, adopting: .newApp,
    store: .jsonFile(at: folder.appendingPathComponent("migrations.json")),
    // Release 1.0 does not have the step of 1.1 yet.
    options: MigrationOptions(ignoresStepsAboveCurrent: true))
manager.whenMigratingToVersion("1.0", migrate: schema, in: dbQueue)
manager.whenMigratingToVersion("1.1", in: dbQueue) { db in
    guard FileManager.default.fileExists(atPath: books.path) else { return }
    for title in try String(contentsOf: books, encoding: .utf8).split(separator: "\n") {
        try db.execute(sql: "INSERT INTO book(title) VALUES (?)", arguments: [String(title)])
    }
}

do {
    let report = try manager.migrate()
    print("\(version): \(report.launch), ran \(report.completed)")
} catch let error as MigrationError {
    print(error.localizedDescription, error.advice.localizedDescription)
    exit(1)
}

// The rest of the app may use the data now.
if version < "1.1" { try Data("Emma\nPersuasion\n".utf8).write(to: books) }
print(try dbQueue.read { db in try String.fetchAll(db, sql: "SELECT title FROM book") })
