import AppMigrations
import Foundation

/// A mail app at version 2.0: its accounts, and what they share.
struct MailApp {
    /// The folder that the app shares with its widget: on iOS, the container of an app group.
    let container: URL
    let keychain: Keychain

    /// Migrates what all accounts share.
    ///
    /// Call it at launch, before any account is opened.
    func migrateSharedData() throws -> MigrationReport {
        let store = try MigrationStore.jsonFile(at: container.appendingPathComponent("migrations.json"))
        let manager = try MigrationManager(
            name: "App", currentVersion: "2.0", adopting: .newApp, store: store)
        // The keychain outlives an app that is deleted; its passwords are not for whoever installs the app now.
        manager.whenMigratingToVersion("1.0", onFreshInstall: .only) { try keychain.removeAll() }
        let report = try manager.migrate()
        do { try migrateFavorites(in: store) } catch { printFailure(error) }
        return report
    }

    /// Migrates the favorites, which are not worth a locked-out user: in a manager of their own, they may fail.
    private func migrateFavorites(in store: MigrationStore) throws {
        let manager = try MigrationManager(
            name: "Favorites", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("2.0") { try importFavorites() }
        try manager.migrate()
    }

    /// Opens an account, or adds one.
    func openAccount(_ name: String) throws -> Account {
        let folder = folder(of: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try Account(in: folder, role: .migrates)
    }

    /// Opens an account in the widget, which leaves migrating to the app.
    ///
    /// Throws `notYetMigrated` until the app has been launched.
    func openAccountInWidget(_ name: String) throws -> Account {
        try Account(in: folder(of: name), role: .waitsForApp)
    }

    private func folder(of name: String) -> URL {
        container.appendingPathComponent("Accounts/\(name)", isDirectory: true)
    }

    /// Reads the addresses in the text file of version 1.0, and writes them as JSON.
    private func importFavorites() throws {
        let text = try String(contentsOf: container.appendingPathComponent("favorites.txt"), encoding: .utf8)
        let addresses = text.split(separator: "\n").map(String.init)
        for address in addresses where !address.contains("@") { throw NoAddress(text: address) }
        try JSONEncoder().encode(addresses)
            .write(to: container.appendingPathComponent("favorites.json"), options: .atomic)
    }

    private struct NoAddress: Error, CustomStringConvertible {
        let text: String
        var description: String { "\"\(text)\" is not an address" }
    }
}
