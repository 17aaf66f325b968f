import AppMigrations
import MigrationTools
import SchemaMigrations

/// One of GRDB's migrations, as a file or with the reason why it stays in Swift.
struct ExportedMigration: Sendable {
    enum Form: Sendable {
        case file(text: String)
        case code(reason: String)
    }

    let title: MigrationTitle
    let version: SchemaVersion
    let foreignKeys: ForeignKeys
    /// The identifiers that the migration has merged.
    let merged: [String]
    var form: Form

    /// The text of the file; nil if the migration stays in Swift.
    var text: String? { if case .file(let text) = form { text } else { nil } }

    /// The reason why the migration stays in Swift, which follows its identifier.
    var reason: String? { if case .code(let reason) = form { reason } else { nil } }

    /// The identifier with what a file name may not hold replaced.
    var name: String {
        let name = String(
            title.name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" || $0 == "-" ? $0 : "-" }
        ).trimmingPrefix { $0 == "_" || $0 == "-" }
        let end = name.reversed().drop { $0 == "_" || $0 == "-" }
        return end.isEmpty ? "migration" : String(end.reversed())
    }

    var fileName: String { "\(version)_\(name).sql" }

    /// The migration as a migrator takes it; one in Swift can only be stood in for.
    var migration: any SchemaMigration {
        if let text { return SQLMigration(version: version, name: name, sql: text) }
        return CodeMigration(version, title.name) { _ in
            throw MigrationError(
                .misuse, "\(title.name) is only stood in for.", remedy: "Run GRDB's migration.")
        }
    }
}
