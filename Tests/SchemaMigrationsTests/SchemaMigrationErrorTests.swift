import Foundation
import GRDB
import SchemaMigrations
import Testing

@Suite("A schema migration error")
struct SchemaMigrationErrorTests {
    @Test("has the same text in the system's alerts")
    func localized() throws {
        let error: any Error = try failure {
            try SchemaMigrator(migrations: [SQLMigration(version: -1, name: "a", sql: "")])
        }
        let localized = try #require(error as? any LocalizedError)
        #expect(error.localizedDescription == "\(error)")
        let parts = [localized.failureReason, localized.recoverySuggestion].compactMap(\.self)
        #expect(parts.joined(separator: " ") == "\(error)")
    }

    @Test("names an unnamed migration by its version")
    func names() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 7, name: "", sql: "SELECT nonsense", down: "SELECT 1")
        ])
        let queue = try DatabaseQueue()
        #expect(
            try failure { try schema.migrate(queue) }.message
                == "7.sql:1: no such column: nonsense (SQLite 1).")
        let error = try failure { try queue.read { try schema.pending($0, upTo: 8) } }
        #expect(error.description == "No migration has version 8. The latest is 7.")
        #expect(try queue.read { try schema.pending($0, upTo: 7) } == [7])
    }

    @Test(
        "from SQLite has a remedy that depends on its code",
        arguments: [
            (ResultCode.SQLITE_FULL, "The disk is full. Free some space, then retry."),
            (.SQLITE_READONLY, "Make the file and its folder writable, then retry."),
            (
                .SQLITE_PROTOCOL,
                "Another connection or process is using the database. Let it finish, then retry."
            ),
            (.SQLITE_CORRUPT, "Restore the database from a backup."),
            (.SQLITE_MISUSE, "Nothing was left half-done."),
        ])
    func remedies(code: ResultCode, remedy: String) throws {
        let error = try failure {
            try SchemaMigrationError.mapErrors { throw DatabaseError(resultCode: code, message: "no") }
        }
        #expect(error.code == .databaseFailed)
        #expect(error.description == "no (SQLite \(code.rawValue)). \(remedy)")
        #expect(error.sqliteCode == code.rawValue)
    }

    @Test("from SQLite has SQLite's message and a general remedy")
    func mapErrors() throws {
        let error = try failure {
            try SchemaMigrationError.mapErrors { try DatabaseQueue().execute("SELECT nonsense") }
        }
        #expect(
            error.description == "no such column: nonsense (SQLite 1). Nothing was left half-done.")
    }
}
