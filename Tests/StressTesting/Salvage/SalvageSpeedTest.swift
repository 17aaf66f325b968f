import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport

/// A large database is salvaged; the notes compare the time with that for copying it.
public struct SalvageSpeedTest: StressTest {
    /// Selects it on the command line.
    public let name = "salvage-speed"
    /// As Documentation/StressTests.md words it.
    public let promise = "Salvaging a large database with a damaged header saves all of its rows"

    /// Makes the test.
    public init() {}

    /// Salvages a database of ten megabytes, or of a gigabyte.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let folder = try TemporaryFolder()
        let count = size == .short ? 15_000 : 1_500_000
        let file = folder.file("large.sqlite")
        let schema = try Self.schema()
        try make(count, at: file, schema)
        let copy = folder.file("copy.sqlite")
        let copying = try time {
            try FileManager.default.copyItem(at: file, to: copy)
            let handle = try FileHandle(forUpdating: copy)
            try handle.synchronize()
            try handle.close()
        }
        let checking = try time { try DatabaseFile(path: copy.path).check() }
        // SQLite looks at all of an intact file, its indexes too, before salvaging refuses it.
        let looking = time { _ = try? DatabaseFile(path: copy.path).salvage(into: schema) }
        try FileManager.default.removeItem(at: copy)
        let handle = try FileHandle(forUpdating: file)
        let bytes = try handle.seekToEnd()
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: Data(count: 16))
        try handle.close()
        var saved = 0
        let salvaging = try time { saved = try DatabaseFile(path: file.path).salvage(into: schema).saved }
        // Salvaging itself does not compare the indexes with their tables if no migration follows.
        let problems = try DatabaseQueue(path: file.path).read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
        return StressOutcome(
            tried: count, unit: "rows",
            failures: (saved == count ? [] : ["\(count - saved) rows were not saved"]) + problems,
            notes: [
                """
                \(bytes / 1_000_000) MB were salvaged in \(text(salvaging)), copied in \(text(copying)), checked in \
                \(text(checking)), and found intact in \(text(looking))
                """
            ])
    }

    private static func schema() throws -> SchemaMigrator {
        try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "notes",
                sql: """
                    CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, image BLOB);
                    CREATE INDEX note_title ON note(title);
                    """)
        ])
    }

    /// Makes a database of notes, some of them with an image on pages of its own.
    private func make(_ count: Int, at file: URL, _ schema: SchemaMigrator) throws {
        let queue = try DatabaseQueue(path: file.path)
        try schema.migrate(queue)
        try queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO note SELECT i, 'note ' || i * 7919 % 100003,
                        substr(hex(zeroblob(150)) || i, 1 + i % 200),
                        CASE i % 50 WHEN 0 THEN randomblob(20000) END FROM n
                    """, arguments: [count])
        }
        try queue.close()
    }

    private func time(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private func text(_ seconds: Double) -> String {
        "\(seconds.formatted(.number.precision(.fractionLength(1)))) s"
    }
}
