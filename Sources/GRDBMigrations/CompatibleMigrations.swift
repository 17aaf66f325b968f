import GRDB
import SchemaMigrations

/// The migrations of GRDB's migrator that older builds of the app can live with, as the database knows them.
///
/// GRDB's own table has no room for that, and an older build does not have the migrations that it would have to judge.
enum CompatibleMigrations {
    /// Returns true if the database knows of all these migrations that older builds can live with them.
    static func contains(_ identifiers: some Collection<String>, _ db: Database) throws -> Bool {
        if identifiers.isEmpty { return true }
        guard try db.hasTable(OwnTables.compatible) else { return false }
        let known = try String.fetchSet(db, sql: "SELECT identifier FROM \(OwnTables.compatible.inMain)")
        return known.isSuperset(of: identifiers)
    }

    /// Adds migrations, in the open transaction.
    static func add(_ identifiers: Set<String>, _ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(OwnTables.compatible.inMain)(
                    identifier TEXT NOT NULL PRIMARY KEY
                ) WITHOUT ROWID
                """)
        for identifier in identifiers.sorted() {
            try db.execute(
                sql: "INSERT OR IGNORE INTO \(OwnTables.compatible.inMain) VALUES (?)",
                arguments: [identifier])
        }
    }
}
