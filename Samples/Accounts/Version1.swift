import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

extension MailApp {
    /// Writes what version 1.0 wrote: its records, an account with a message, favorites and a password.
    func writeDataOfVersion1() throws {
        let store = try MigrationStore.jsonFile(at: container.appendingPathComponent("migrations.json"))
        try MigrationManager(name: "App", currentVersion: "1.0", adopting: .newApp, store: store).migrate()

        let folder = container.appendingPathComponent("Accounts/anna", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("mail.sqlite").path)
        let manager = try MigrationManager(
            name: "Account", currentVersion: "1.0", adopting: .newApp, store: .database(dbQueue))
        manager.whenMigratingToVersion(
            "1.0", migrate: try SchemaMigrator(migrations: [Migrations.all[0]]), in: dbQueue)
        try manager.migrate()
        try dbQueue.write { db in
            try db.execute(sql: "INSERT INTO message(sender, subject) VALUES (' Ben@Example.com', 'Lunch?')")
        }
        try dbQueue.close()

        try Data("ben@example.com\nBen's mother\n".utf8)
            .write(to: container.appendingPathComponent("favorites.txt"))
        try keychain.save("anna's password")
    }
}
