import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The entries, in a SQLite database.
struct Entries {
    let database: DatabaseQueue
    /// All that the release knows of the database's schema.
    let schema: SchemaMigrator

    init(file: URL, release: Release) throws {
        database = try DatabaseQueue(path: file.path)
        // An app passes all migrations that the build has embedded. An old release did not have those of later
        // ones.
        schema = try SchemaMigrator(
            migrations: Migrations.all.filter { $0.version <= release.latestSchema })
    }
}

extension Entries {
    /// Registers how the database comes to the schema of each version, and what has to happen to its rows.
    ///
    /// All of it runs exactly once, since the database itself remembers it in the same transactions.
    func registerMigrations(with manager: MigrationManager, of release: Release, notes: StepNotes) {
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 20240110090000000, in: database)

        guard release >= .tags else { return }
        manager.whenMigratingToVersion("1.1", migrate: schema, upTo: 20240305101500000, in: database)
        // A new journal has these tags too: this is not about old data.
        manager.whenMigratingToVersion("1.1", in: database, onFreshInstall: .run) { db in
            try db.execute(sql: "INSERT INTO tag(name) VALUES ('family'), ('idea'), ('travel')")
            notes.did("added 3 tags to begin with")
        }

        guard release >= .moods else { return }
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20240612083000000, in: database)
        manager.whenMigratingToVersion("2.0", in: database) { db in
            var count = 0
            for row in try Row.fetchAll(db, sql: "SELECT id, text FROM entry") {
                guard let mood = Mood(smileyIn: row["text"]) else { continue }
                try db.execute(
                    sql: "UPDATE entry SET mood = ? WHERE id = ?", arguments: [mood.rawValue, row["id"]])
                count += 1
            }
            notes.did("found the mood of \(count) old entries in their smileys")
        }
    }
}

extension Entries {
    /// The schema migrations that the database has had.
    func schemaHistory() throws -> [AppliedMigration] {
        try database.read(schema.history)
    }

    /// The names of schema migrations, as people read them.
    func names(of versions: [String]) -> [String] {
        schema.migrations.filter { versions.contains("\($0.version)") }
            .map { $0.name.replacingOccurrences(of: "_", with: " ") }
    }
}

/// How its writer felt.
enum Mood: String {
    case happy
    case sad

    /// Reads the mood from a smiley, as people wrote them before the app knew moods.
    init?(smileyIn text: String) {
        if text.contains(":-)") {
            self = .happy
        } else if text.contains(":-(") {
            self = .sad
        } else {
            return nil
        }
    }
}
