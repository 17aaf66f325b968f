import AppMigrations
import Foundation
import GRDB

/// Prints the kind of a launch, and the versions whose steps ran.
func printLaunch(_ report: MigrationReport) {
    print("  launch  \(report.launch)")
    print("  steps   \(list(report.completed.map(\.description)))")
}

/// Prints the library in a folder: its tables, books and covers.
func printContents(of folder: URL) throws {
    let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("library.sqlite").path)
    let (tables, books) = try dbQueue.read { db in
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE name IN ('book', 'shelf') ORDER BY name")
        return (tables, try String.fetchAll(db, sql: "SELECT title || ' by ' || author FROM book"))
    }
    let covers = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".jpg") }
    print("  tables  \(list(tables))")
    print("  books   \(list(books))")
    print("  covers  \(list(covers.sorted()))")
}

/// Gives the body an empty folder, and removes the folder afterwards.
func withTemporaryFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("QuickStart-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
}

private func list(_ items: [String]) -> String {
    items.isEmpty ? "none" : items.joined(separator: ", ")
}
