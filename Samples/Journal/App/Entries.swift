import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations

/// The entries, in a SQLite database.
struct Entries {
    let database: DatabaseQueue
    /// The schema migrations that the release contains.
    let schema: SchemaMigrator
    /// The rows that were saved, if the file was damaged.
    let salvaged: SalvageReport?

    init(file: URL, release: Release) throws {
        // A real app passes all embedded migrations. An old release did not contain those of later releases.
        schema = try SchemaMigrator(
            migrations: Migrations.all.filter { $0.version <= release.latestSchema })
        let file = DatabaseFile(path: file.path)
        do {
            database = try file.openQueue()
            salvaged = nil
        } catch let error as MigrationError where error.advice == .repair {
            // A real app asks first, and offers its backups beside this.
            salvaged = try file.salvage(into: schema)
            database = try file.openQueue()
        }
    }
}

extension Entries {
    /// Registers the schema of each version, and the steps that change rows.
    ///
    /// Each runs exactly once, because the database records it in the same transaction.
    func registerMigrations(with manager: MigrationManager, of release: Release, notes: StepNotes) {
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 20240110090000000, in: database)

        guard release >= .tags else { return }
        manager.whenMigratingToVersion("1.1", migrate: schema, upTo: 20240305101500000, in: database)
        // A new journal needs these tags too.
        manager.whenMigratingToVersion("1.1", in: database, onFreshInstall: .run) { db in
            try db.execute(sql: "INSERT INTO tag(name) VALUES ('family'), ('idea'), ('travel')")
            notes.did("added the first 3 tags")
        }

        guard release >= .moods else { return }
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20240612083000000, in: database)
        manager.whenMigratingToVersion("2.0", in: database) { db in
            var count = 0
            // The table as it was in 2.0, whatever later releases make of it.
            for var entry in try Schema.v20240612.Entry.fetchAll(db) {
                guard let mood = Mood(smileyIn: entry.text) else { continue }
                try entry.updateChanges(db) { $0.mood = mood }
                count += 1
            }
            notes.did("read the mood of \(count) old entries from their smileys")
        }

        guard release >= .words else { return }
        manager.whenMigratingToVersion("2.1", migrate: schema, upTo: 20240902090000000, in: database)
        // Years of entries would hold up the launch. Triggers index what is written from now on.
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "entry") { db, rows in
            try db.execute(
                literal: """
                    INSERT INTO entry_word(rowid, text)
                    SELECT id, text FROM entry WHERE \(rows.condition)
                        AND NOT EXISTS (SELECT 1 FROM entry_word WHERE rowid = entry.id)
                    """)
            notes.did("indexed the words of old entries")
        }

        guard release >= .oneIndex else { return }
        // The old index serves until the new one is complete.
        manager.whenMigratingToVersion(
            "3.0", migrate: schema, upTo: 20241115090000000, finishing: ["2.1"], in: database)
    }
}

extension Entries {
    /// Returns the number of entries with a word.
    ///
    /// - Parameter isIndexComplete: whether the index of release 2.1 has every entry; the older one serves until then.
    func count(of word: String, isIndexComplete: Bool) throws -> Int {
        let index = isIndexComplete ? "entry_word" : "entry_search"
        return try database.read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM \(index) WHERE \(index) MATCH ?", arguments: [word]) ?? 0
        }
    }

    /// Returns the schema migrations that were applied to the database.
    func schemaHistory() throws -> [AppliedMigration] {
        try database.read(AppliedMigration.fetchAll)
    }

    /// Returns the names of schema migrations, for people.
    func names(of versions: [String]) -> [String] {
        schema.migrations.filter { versions.contains("\($0.version)") }
            .map { $0.name.replacingOccurrences(of: "_", with: " ") }
    }
}

/// The mood of an entry's author.
enum Mood: String {
    case happy
    case sad

    /// Reads the mood from a smiley, which people used before the app had moods.
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
