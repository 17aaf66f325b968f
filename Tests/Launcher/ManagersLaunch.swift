import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// Launches several managers that share a store; the first one's move makes the tables of the app's database.
struct ManagersLaunch {
    let folder: LauncherFolder
    let names: [String]
    let version: AppVersion
    let adopting: Evidence
    let store: MigrationStore
    let steps: [LauncherStep]

    /// The app's answer about an install without a record.
    enum Evidence: String {
        case nothing
        /// Tables mean version 1.0.
        case tables
        /// Everything that MFMigrationManager has left for the manager of the same name.
        case defaults
    }

    /// Prints a line for each manager.
    func run() throws {
        let database = try folder.openDatabase()
        for (index, name) in names.enumerated() {
            let manager = try MigrationManager(
                name: name, currentVersion: version, adopting: adoption(of: name, in: database), store: store)
            if index == 0 { manager.whenMigratingToVersion("1.0", migrate: try schema, in: database) }
            for step in steps {
                manager.whenMigratingToVersion(step.version) { [folder] context in
                    try folder.append("\(name) \(step.version)", to: "effects")
                    try step.run(in: folder, context, nil)
                }
            }
            print("\(name): \(try manager.migrate().launch)")
        }
    }

    private var schema: SchemaMigrator {
        get throws {
            try SchemaMigrator(
                migrations: [
                    CodeMigration(1, "create_books") { try $0.execute(sql: "CREATE TABLE book(title TEXT)") }
                ], adopting: SchemaAdoption { _ in 1 })
        }
    }

    private func adoption(of name: String, in database: DatabaseQueue) -> Adoption {
        switch adopting {
        case .nothing: .newApp
        case .tables: .databaseHasTables(database, means: "1.0")
        case .defaults: .mfMigrationManager(name: name)
        }
    }
}
