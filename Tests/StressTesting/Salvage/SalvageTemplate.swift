import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// A database to be damaged, with what is in it.
struct SalvageTemplate: Sendable {
    let file: URL
    let pageSize: Int
    /// The rows of each table, as texts, by their keys.
    let rows: [String: [String: String]]
    /// The rows that were deleted, and are still on free pages.
    let deleted: [String: [String: String]]

    /// Tables of two shapes, of one shape, without row ids, with long values, of full text, and with a parent.
    static let migrations: [(SchemaVersion, String)] = [
        (
            1,
            """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, number INTEGER NOT NULL);
            CREATE INDEX note_number ON note(number, title);
            CREATE TABLE twin_a(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL);
            CREATE TABLE twin_b(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL);
            CREATE TABLE tag(name TEXT PRIMARY KEY, weight REAL NOT NULL, image BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE child(text TEXT NOT NULL, flag BLOB, twin INTEGER NOT NULL REFERENCES twin_a(id));
            CREATE VIRTUAL TABLE words USING fts5(text, more);
            """
        ),
        (2, "ALTER TABLE twin_b ADD COLUMN size INTEGER NOT NULL DEFAULT 7;"),
    ]

    static func schema() throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: migrations.map { SQLMigration(version: $0.0, name: "m\($0.0)", sql: $0.1) })
    }

    /// The columns that are compared; every row names its table.
    static let columns = [
        "note": "id, title, body, number", "twin_a": "id, text", "twin_b": "id, text",
        "tag": "name, weight, image", "child": "rowid, text, flag, twin", "words": "rowid, text, more",
    ]

    static func makeAll(in folder: TemporaryFolder) throws -> [SalvageTemplate] {
        try [(512, 40), (1_024, 400), (4_096, 60), (4_096, 1_500), (8_192, 600)].enumerated().map {
            index, kind in
            try SalvageTemplate(
                at: folder.file("template\(index)"), pageSize: kind.0, count: kind.1, seed: UInt64(index))
        }
    }

    private init(at file: URL, pageSize: Int, count: Int, seed: UInt64) throws {
        (self.file, self.pageSize) = (file, pageSize)
        var random = RandomNumbers(seed: seed)
        let queue = try DatabaseQueue(path: file.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = \(pageSize); VACUUM") }
        try Self.schema().migrate(queue, upTo: 1)
        func text(_ table: String, _ id: Int) -> String { "\(table) \(id) \(id &* 2_654_435_761)" }
        try queue.write { db in
            for id in 1...count {
                let words = String(repeating: "word\(id) ", count: random.chance(3) ? 900 : id % 40)
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?, ?)",
                    arguments: [id * 3, text("note", id), words, id * id])
                try db.execute(sql: "INSERT INTO twin_a(text) VALUES (?)", arguments: [text("twin_a", id)])
                try db.execute(
                    sql: "INSERT INTO tag VALUES (?, ?, ?)",
                    arguments: [
                        text("tag", id), Double(id) / 7, Data(repeating: UInt8(id % 256), count: id % 70),
                    ])
                if id % 2 == 0 {
                    try db.execute(
                        sql: "INSERT INTO twin_b(text) VALUES (?)", arguments: [text("twin_b", id)])
                    try db.execute(
                        sql: "INSERT INTO words VALUES (?, ?)", arguments: [text("words", id), "more\(id)"])
                }
                if id % 3 == 0 {
                    try db.execute(
                        sql: "INSERT INTO child VALUES (?, x'00ff', ?)", arguments: [text("child", id), id])
                }
            }
        }
        let all = try queue.read(Self.rows)
        // Their pages become free, with the rows still on them, as where SQLite is not built to overwrite those.
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA secure_delete = OFF")
            try db.execute(
                sql: "DELETE FROM note WHERE id BETWEEN ? AND ?", arguments: [count, count * 2])
        }
        let rows = try queue.read(Self.rows)
        deleted = Dictionary(
            uniqueKeysWithValues: all.map { table, all in
                (table, all.filter { rows[table]?[$0.key] == nil })
            })
        self.rows = rows
        try queue.close()
    }

    /// Returns the rows of each table that there is.
    static func rows(_ db: Database) throws -> [String: [String: String]] {
        var rows: [String: [String: String]] = [:]
        for (table, columns) in columns where try db.tableExists(table) {
            let list = columns.split(separator: ",").map { "quote(\($0))" }.joined(separator: " || '|' || ")
            let key = columns.prefix { $0 != "," }
            for row in try Row.fetchAll(db, sql: "SELECT quote(\(key)), \(list) FROM \(table)") {
                rows[table, default: [:]][row[0]] = row[1]
            }
        }
        return rows
    }
}
