import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestTraits
import Testing

@Suite("A failure of a database", .timed)
struct DatabaseFailureTests {
    @Test("has a sentence for the system's alerts")
    func localized() throws {
        let error: any Error = try failure {
            try SchemaMigrator(migrations: [SQLMigration(version: -1, name: "a", sql: "")])
        }
        #expect(
            error.localizedDescription == "The data could not be updated because of a problem in the app.")
        #expect((error as? MigrationError)?.advice == .contactDeveloper)
        #expect((error as? MigrationError)?.code == .invalidMigration)
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
            (ResultCode.SQLITE_FULL, .diskFull, "The disk is full. Free some space, then retry."),
            (.SQLITE_IOERR_SHMSIZE, .diskFull, "The disk is full. Free some space, then retry."),
            (
                .SQLITE_READONLY, .unwritable,
                "Make the file and its folder writable, and open it for writing, then retry."
            ),
            (
                .SQLITE_PROTOCOL, .locked,
                "Another connection or process is using the database. Let it finish, then retry."
            ),
            (.SQLITE_PERM, .databaseFailed, "Check the permissions of the file and its folder."),
            (.SQLITE_AUTH, .databaseFailed, "Nothing is half-done."),
            (
                .SQLITE_INTERRUPT, .suspended,
                "What is complete stays complete. Migrate again when the app is active."
            ),
            (
                .SQLITE_CORRUPT, .damagedDatabase,
                "Save its rows with DatabaseFile.salvage(into:), or restore a backup."
            ),
            (.SQLITE_CORRUPT_VTAB, .databaseFailed, "Rebuild the full-text table."),
            (.SQLITE_ABORT, .databaseFailed, "Nothing is half-done."),
        ] as [(ResultCode, MigrationError.Code, String)])
    func remedies(result: ResultCode, code: MigrationError.Code, remedy: String) throws {
        let error = try failure {
            try MigrationError.mapErrors { throw DatabaseError(resultCode: result, message: "no") }
        }
        #expect(error.code == code)
        #expect(error.description == "no (SQLite \(result.rawValue)). \(remedy)")
        #expect(error.sqliteCode == result.rawValue)
    }

    @Test(
        "calls a refused file a locked device only on systems that lock files with the device",
        arguments: [ResultCode.SQLITE_AUTH, .SQLITE_PERM, .SQLITE_IOERR_READ, .SQLITE_IOERR_WRITE])
    func lockedDevice(result: ResultCode) {
        let error = DatabaseError(resultCode: result)
        #expect(error.obstacle(isDeviceLockable: true)?.code == .deviceLocked)
        #expect(error.obstacle(isDeviceLockable: false) == nil)
    }

    @Test("from SQLite has SQLite's message and a general remedy")
    func mapErrors() throws {
        let error = try failure {
            try MigrationError.mapErrors { try DatabaseQueue().execute("SELECT nonsense") }
        }
        #expect(
            error.description == "no such column: nonsense (SQLite 1). Nothing is half-done.")
    }
}
