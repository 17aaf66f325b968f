import Foundation
import GRDB
import SchemaMigrations

/// Migrates by closures: one imports a file, and the next deletes it; then the process dies, if it is told to.
struct ImportLaunch {
    let folder: LauncherFolder
    let dies: Bool

    func run() throws {
        let old = folder.url.appendingPathComponent("old.txt")
        let dies = dies
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "import") { db in
                try db.execute(sql: "CREATE TABLE line(text TEXT NOT NULL)")
                guard let text = try? String(contentsOf: old, encoding: .utf8) else { return }
                for line in text.split(separator: "\n") {
                    try db.execute(sql: "INSERT INTO line VALUES (?)", arguments: [String(line)])
                }
            },
            CodeMigration(2, "delete") { _ in
                try? FileManager.default.removeItem(at: old)
                if dies { kill(getpid(), SIGKILL) }
            },
        ])
        let database = try folder.openDatabase()
        let applied = try schema.migrate(database).applied
        print("applied \(applied)")
        print("lines \(try database.read { try String.fetchAll($0, sql: "SELECT text FROM line") })")
    }
}
