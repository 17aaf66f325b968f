import GRDB
import SchemaMigrations

/// Adds the books that every library starts with.
///
/// It declares no `version`: the build takes it from the file's name.
struct AddClassics: SchemaMigration {
    func migrate(_ db: Database) throws {
        for title in ["Middlemarch", "Moby-Dick"] {
            try db.execute(sql: "INSERT INTO book(title) VALUES (?)", arguments: [title])
        }
    }
}
