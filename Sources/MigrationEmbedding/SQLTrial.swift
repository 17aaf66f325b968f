package import Foundation
package import MigrationDiagnostics

/// Runs the SQL of migrations on an empty database in memory, so that a mistake is an error of the build.
package struct SQLTrial {
    /// The statements that SQLite refuses.
    package private(set) var errors: [Diagnostic] = []
    /// The migrations that were not run, and why.
    package private(set) var notes: [Diagnostic] = []

    /// The file in a folder that switches the trial off.
    package static let switchName = ".unchecked-sql"

    /// Runs the migrations, oldest first, up to the first that cannot be run here.
    package init(_ embedded: EmbeddedMigrations, in folder: URL) {
        guard !FileManager.default.fileExists(atPath: folder.appendingPathComponent(Self.switchName).path),
            let database = SystemSQLite()
        else { return }
        // The migrator has it before the first file, which may read it.
        _ = try? database.run("CREATE TABLE \(LedgerTables.versions); CREATE TABLE \(LedgerTables.details)")
        for (index, migration) in embedded.migrations.enumerated() {
            switch migration {
            case .code(_, let typeName, let file):
                let isLast = embedded.migrations[index...].allSatisfy {
                    if case .code = $0 { true } else { false }
                }
                if !isLast { stop(at: file, "\(typeName) is written in Swift") }
                return
            case .sql(let version, _, let text, _):
                guard let file = embedded.files[version] else { return }
                let sql = Self.withoutMark(text)
                do throws(SystemSQLite.Refusal) {
                    // Each file begins with the settings of the connection, whatever the one before has set.
                    try database.run(Self.settings)
                    try Self.run(sql, in: database)
                } catch {
                    if error.reachesBeyond || Self.isAboutTheComputer(error.message) {
                        stop(at: file, error.message)
                    } else {
                        fail(error, sql, file)
                    }
                    return
                }
                // A file may have dropped the table.
                _ = try? database.run(
                    "\(Self.settings)INSERT OR IGNORE INTO main.schema_migrations VALUES (\(version))")
            }
        }
    }

    /// Returns the text of a file without a byte order mark, as the migrator runs it.
    private static func withoutMark(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.first == "\u{FEFF}" ? String(scalars.dropFirst()) : text
    }

    private static let settings = """
        PRAGMA query_only = 0; PRAGMA writable_schema = 0; PRAGMA ignore_check_constraints = 0;
        PRAGMA legacy_alter_table = 0; PRAGMA recursive_triggers = 0; PRAGMA foreign_keys = 0;
        PRAGMA trusted_schema = 1;
        """

    /// Runs a file as the migrator does, in a transaction unless the file asks for none.
    private static func run(_ sql: String, in database: SystemSQLite) throws(SystemSQLite.Refusal) {
        let settings = FileSettings(sql)
        if settings.redefines { return try Redefinition.run(sql, in: database) }
        // In a transaction, it does nothing (pragma.html): the migrator, too, switches it on before.
        if settings.enforcesForeignKeys { try database.run("PRAGMA foreign_keys = 1") }
        guard settings.hasTransaction else {
            try database.run(sql)
            return
        }
        try database.run("BEGIN")
        try database.run(sql)
        try database.run("COMMIT")
    }

    /// Returns whether an error may come from what only the app's SQLite has.
    private static func isAboutTheComputer(_ message: String) -> Bool {
        [
            "no such function", "no such module", "no such collation sequence", "no such tokenizer",
            "unknown tokenizer",
            "error in tokenizer constructor", "unsafe use of", "not authorized",
        ].contains { message.contains($0) }
    }

    private mutating func stop(at file: URL, _ reason: String) {
        notes.append(
            Diagnostic(
                at: .file(file.path), "the build did not run the SQL from here on, because \(reason)",
                remedy: "The tests of the app have to run it."))
    }

    private mutating func fail(_ refusal: SystemSQLite.Refusal, _ sql: String, _ file: URL) {
        let before = sql.utf8.prefix(refusal.offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        errors.append(
            Diagnostic(
                at: .file(file.path, line: line, column: column), refusal.message,
                remedy: """
                    Correct the SQL. If only the app's own SQLite can run it, put an empty file \(Self.switchName) into \
                    the folder.
                    """))
    }
}
