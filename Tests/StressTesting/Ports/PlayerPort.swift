import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import SchemaMigrations

/// A music player that keeps GRDB's migrator, and whose jobs after the launch were written by hand.
struct PlayerPort: Port {
    static let name = "player"
    static let releases = 3

    private let folder: URL
    init(in folder: URL) { self.folder = folder }

    private func open() throws -> DatabaseQueue { try DatabaseQueue(path: folder.file("player.sqlite").path) }

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: "CREATE TABLE track(id INTEGER PRIMARY KEY, title TEXT, artists TEXT)")
        }
        migrator.registerMigration("v2") {
            try $0.execute(sql: "ALTER TABLE track ADD COLUMN sortTitle TEXT")
        }
        migrator.registerMigration("v3") { db in
            try db.execute(
                sql: """
                    CREATE TABLE artist(name TEXT PRIMARY KEY NOT NULL, tracks INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
                    CREATE TABLE trackArtist(track INTEGER NOT NULL, artist TEXT NOT NULL, PRIMARY KEY (track, artist)) WITHOUT ROWID;
                    CREATE TABLE search(id INTEGER PRIMARY KEY, text TEXT);
                    """)
        }
        return migrator
    }

    func use(release: Int) throws {
        let database = try open()
        try migrator.migrate(database, upTo: ["v1", "v2"][release])
        try insertTracks(1...25, database)
    }

    private func insertTracks(_ ids: ClosedRange<Int>, _ database: DatabaseQueue) throws {
        try database.write { db in
            for id in ids {
                try db.execute(
                    sql: "INSERT INTO track(id, title, artists) VALUES (?, ?, ?)",
                    arguments: [id, "Song \(id)", "A\(id % 3);B\(id % 4)"])
            }
        }
    }

    func launch(_ process: SimulatedProcess) throws -> Int {
        let database = try open()
        let manager = try MigrationManager(
            name: "Player", currentVersion: "3.0", adopting: .databaseHasTables(database, means: "1.0"),
            store: .database(database), options: MigrationOptions(maximumAttempts: 100))
        manager.whenMigratingToVersion(migrate: migrator, in: database)
        manager.afterMigratingToVersion("2.0", in: database, overRowsOf: "track", again: "sortTitle IS NULL")
        { db, rows in
            try db.execute(literal: "UPDATE track SET sortTitle = lower(title) WHERE \(rows.condition)")
        }
        // The job that lost associations when it was killed: it cleared them all, and went on in the middle.
        manager.afterMigratingToVersion("3.0", in: database, overRowsOf: "track") { db, rows in
            let tracks = try SQLRequest<Row>(
                literal: "SELECT id, artists FROM track WHERE \(rows.condition)"
            ).fetchAll(db)
            for track in tracks {
                for artist in (track["artists"] as String).split(separator: ";") {
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO artist(name) VALUES (?)", arguments: [String(artist)])
                    try db.execute(
                        sql: "INSERT INTO trackArtist VALUES (?, ?)",
                        arguments: [track["id"] as Int, String(artist)])
                    try db.execute(
                        sql: "UPDATE artist SET tracks = tracks + 1 WHERE name = ?",
                        arguments: [String(artist)])
                }
            }
        }
        // Fresh installs need the index, too.
        manager.afterMigratingToVersion("3.0-1", in: database, startingAt: 0, onFreshInstall: .run) {
            db, last in
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO search SELECT id, title FROM track WHERE id > ? ORDER BY id LIMIT 4
                    """, arguments: [last])
            let next = try Int.fetchOne(
                db, sql: "SELECT max(id) FROM (SELECT id FROM track WHERE id > ? ORDER BY id LIMIT 4)",
                arguments: [last])
            return next.map { .more($0) } ?? .done
        }
        return try run(manager)
    }

    func problem(from release: Int?) throws -> String? {
        let database = try open()
        let tracks = try database.number("SELECT count(*) FROM track")
        guard release == nil || tracks >= 25 else { return "\(tracks) tracks are left" }
        if try database.number("SELECT count(*) FROM track WHERE sortTitle IS NULL") > 0 {
            return "a track has no title to sort by"
        }
        guard release != nil else { return nil }
        if try database.number("SELECT count(*) FROM trackArtist WHERE track <= 25") != 50 {
            return "associations are lost"
        }
        let counted =
            "SELECT count(*) FROM artist WHERE tracks <> (SELECT count(*) FROM trackArtist WHERE artist = name)"
        if try database.number(counted) > 0 { return "an artist's tracks are counted wrongly" }
        return try database.number("SELECT count(*) FROM search WHERE id <= 25") == 25
            ? nil : "tracks cannot be found"
    }

    func disturb() throws { try insertTracks(101...103, open()) }
}
