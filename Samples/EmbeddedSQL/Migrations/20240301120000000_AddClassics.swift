import GRDB
import SchemaMigrations

/// Adds what every library has.
///
/// The build tells it its version, which is in the name of the file.
struct AddClassics: SchemaMigration {
    func migrate(_ db: Database) throws {
        for title in ["Middlemarch", "Moby-Dick"] {
            try db.execute(sql: "INSERT INTO book(title) VALUES (?)", arguments: [title])
        }
    }
}
