import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations

/// An account, whose database is migrated.
///
/// The record of its migrations lives in the database too. So an account that is added today is fresh, however old the
/// install is, and one that is deleted takes its record along.
struct Account {
    let folder: URL
    let dbQueue: DatabaseQueue
    let report: MigrationReport

    var name: String { folder.lastPathComponent }

    /// Opens the database in an account's folder and migrates it; a new account's is created.
    ///
    /// No other code opens the database, so none ever sees data of an older version.
    init(in folder: URL, role: MigrationOptions.Role) throws {
        self.folder = folder
        dbQueue = try DatabaseFile(path: folder.appendingPathComponent("mail.sqlite").path).openQueue()

        // One name for all: each account has a store of its own.
        let manager = try MigrationManager(
            name: "Account", currentVersion: "2.0", adopting: .newApp, store: .database(dbQueue),
            options: MigrationOptions(role: role))
        manager.whenMigratingToVersion(
            "2.0", migrate: try SchemaMigrator(migrations: Migrations.all), in: dbQueue)
        manager.whenMigratingToVersion("2.0", in: dbQueue) { db in
            try db.execute(sql: "UPDATE message SET sender = lower(trim(sender))")
        }
        report = try manager.migrate()
    }

    func senders() throws -> [String] {
        try dbQueue.read { try String.fetchAll($0, sql: "SELECT sender FROM message ORDER BY id") }
    }

    /// Deletes the account with everything that is known of it.
    func delete() throws {
        try dbQueue.close()
        try FileManager.default.removeItem(at: folder)
    }
}
