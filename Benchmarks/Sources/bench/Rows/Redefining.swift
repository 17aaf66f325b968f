import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what NOT NULL, CHECK and a foreign key cost for a table that is not copied.
    static let redefining = [
        Benchmark(what: "redefining a table") { effort, scratch in
            guard effort == .full else { return try redefine(rows: 2_000, times: 1, goal: 1, scratch) }
            // A plain rebuild of a table that fits the page cache takes as long as 32 scans.
            return try redefine(rows: 100_000, times: 7, goal: 20, scratch)
                + redefine(rows: 1_000_000, times: 3, goal: 30, scratch)
        }
    ]

    private static func redefine(
        rows: Int, times: Int, goal: Double, _ scratch: Scratch
    ) throws -> [TableRow] {
        let (ours, plain) = (scratch.new("ours.sqlite"), scratch.new("plain.sqlite"))
        defer { for file in [ours, plain] { try? FileManager.default.removeItem(at: file) } }
        try RedefinedPhotos.fill(ours, rows: rows)
        try scratch.copy(ours, to: plain)
        let raw = try (scan: RawSQLite(ours), plain: RawSQLite(plain))
        let queue = try DatabaseQueue(path: ours.path)
        let clock = ContinuousClock()
        var (edits, rebuilds, scans): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<times {
            try queue.writeWithoutTransaction { db in
                try db.redefine(table: "photo", as: RedefinedPhotos.old)
                try edits.append(
                    clock.measure { try db.redefine(table: "photo", as: RedefinedPhotos.new) }.inSeconds)
            }
            try scans.append(
                clock.measure { try raw.scan.sum("SELECT count(*) FROM photo WHERE size IS NULL") }.inSeconds)
            try rebuilds.append(
                clock.measure {
                    try raw.plain.migrate([RedefinedPhotos.rebuild])
                    try raw.plain.sum("SELECT count(*) FROM pragma_foreign_key_check('photo')")
                }.inSeconds)
        }
        let (what, size) = (
            "redefining a table: NOT NULL, CHECK, a foreign key", "\(rows.grouped) rows of 600 bytes"
        )
        return [
            TableRow(
                what: what, size: size, against: "a plain rebuild", goal: .faster(goal), ours: edits,
                other: rebuilds),
            TableRow(
                what: what, size: size, against: "one scan of the table", goal: .within(3), ours: edits,
                other: scans),
        ]
    }
}

/// A table of photos, before and after.
private enum RedefinedPhotos {
    static let old =
        "CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT, album INTEGER, size INTEGER, data BLOB)"

    static let new = """
        CREATE TABLE photo(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (length(title) > 0),
            album INTEGER REFERENCES album(id) ON DELETE CASCADE, size INTEGER, data BLOB)
        """

    /// Rebuilds the table, as a migration does.
    static let rebuild = """
        \(new.replacing("TABLE photo", with: "TABLE photo_new"));
        INSERT INTO photo_new SELECT id, title, album, size, data FROM photo;
        DROP TABLE photo;
        ALTER TABLE photo_new RENAME TO photo;
        CREATE INDEX photo_title ON photo(title);
        """

    static func fill(_ file: URL, rows: Int) throws {
        try RawSQLite(file).execute(
            """
            PRAGMA journal_mode = WAL; CREATE TABLE album(id INTEGER PRIMARY KEY); INSERT INTO album VALUES (1), (2), (3);
            \(old);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO photo SELECT i, 'title ' || (i * 7919 % \(rows)), 1 + i % 3, i, randomblob(560) FROM n;
            CREATE INDEX photo_title ON photo(title);
            PRAGMA wal_checkpoint(TRUNCATE);
            """)
    }
}
