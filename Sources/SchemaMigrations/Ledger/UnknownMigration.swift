import AppMigrations
import GRDB
import MigrationDiagnostics

/// An applied migration that the migrator knows by the ledger alone, and can only undo.
struct UnknownMigration: SQLSource {
    let applied: AppliedMigration

    var version: SchemaVersion { applied.version }
    var name: String { applied.name ?? "" }
    var fileName: String { name.isEmpty ? "\(version).sql" : "\(version)_\(name).sql" }
    var hasDown: Bool { applied.canBeUndone }

    func migrate(_ db: Database) throws { throw isUnknown }
    func text() throws -> String { throw isUnknown }
    func downScript() throws -> SQLScript? {
        try applied.down.map {
            try SQLScript($0, fileName: "\(fileName.dropLast(4)) (from the ledger).down.sql")
        }
    }

    private var isUnknown: MigrationError {
        MigrationError(
            .misuse, at: .file(fileName), "is not known, and cannot be applied",
            remedy: "Undo it, or migrate with the app that has it.")
    }
}
