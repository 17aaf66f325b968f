import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

extension TemporaryFolder {
    func path(_ name: String) -> String { file(name).path }

    func queue() throws -> DatabaseQueue { try DatabaseQueue(path: path("app.sqlite")) }

    /// Writes files to a folder inside this one, and returns that folder.
    @discardableResult
    func folder(_ files: [String: String]) throws -> URL {
        let folder = file("migrations")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        return folder
    }

    /// Creates a migrator for files that it writes to a folder.
    func migrator(_ files: [String: String], adopting: SchemaAdoption? = nil) throws -> SchemaMigrator {
        try SchemaMigrator(directory: folder(files), adopting: adopting)
    }
}

extension DatabaseReader {
    func strings(_ sql: String) throws -> [String] {
        try unsafeRead { db in try String.fetchAll(db, sql: sql) }
    }

    /// The names of the tables, without the ledger's.
    func tables() throws -> [String] {
        try strings(
            """
            SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'schema_migrations%'
            AND name NOT LIKE 'sqlite%' ORDER BY name
            """)
    }

    /// The versions in the ledger.
    func ledger() throws -> [Int64] {
        try unsafeRead { db in
            try Int64.fetchAll(db, sql: "SELECT version FROM schema_migrations ORDER BY version")
        }
    }
}

extension DatabaseWriter {
    func execute(_ sql: String) throws {
        try writeWithoutTransaction { db in try db.execute(sql: sql) }
    }
}

/// Returns the error of a body that must fail.
func failure<Value>(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Value
) throws -> SchemaMigrationError {
    try #require(throws: SchemaMigrationError.self, sourceLocation: sourceLocation) { _ = try body() }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
