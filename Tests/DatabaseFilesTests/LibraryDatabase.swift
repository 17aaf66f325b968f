import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

/// A database of an app that uses GRDB's migrator, with ten migrations.
struct LibraryDatabase {
    let folder: TemporaryFolder
    var path: String { folder.path("library.sqlite") }
    var pages: DatabasePages { DatabasePages(path: path) }

    static let identifiers = [
        "createAuthor", "createBook", "addStars", "markTitles", "createTag", "renameNote", "indexTitle",
        "addPages", "rebuildBook", "countStars",
    ]

    /// The app's migrator.
    ///
    /// Running `markTitles` or `countStars` twice shows in the rows.
    static func migrator(_ identifiers: [String] = identifiers) -> DatabaseMigrator {
        let bodies: [String: String] = [
            "createAuthor": "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
            "createBook": """
            CREATE TABLE book(id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE,
                title TEXT NOT NULL);
            CREATE TABLE remark(rank REAL NOT NULL, words TEXT NOT NULL)
            """,
            "addStars": "ALTER TABLE book ADD COLUMN stars INTEGER NOT NULL DEFAULT 3",
            "markTitles": "UPDATE book SET title = title || '!'",
            "createTag":
                "CREATE TABLE tag(word TEXT PRIMARY KEY, weight REAL NOT NULL, image BLOB) WITHOUT ROWID",
            "renameNote": "ALTER TABLE remark ADD COLUMN day REAL; ALTER TABLE remark RENAME TO note",
            "indexTitle": "CREATE INDEX book_title ON book(title)",
            "addPages": "ALTER TABLE book ADD COLUMN pages INTEGER",
            "rebuildBook": """
            CREATE TABLE new_book(id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE,
                title TEXT NOT NULL, stars INTEGER NOT NULL DEFAULT 3, pages INTEGER, flag TEXT);
            INSERT INTO new_book SELECT *, 'new' FROM book;
            DROP TABLE book;
            ALTER TABLE new_book RENAME TO book;
            CREATE INDEX book_title ON book(title)
            """,
            "countStars": "UPDATE book SET stars = stars + 1",
        ]
        var migrator = DatabaseMigrator()
        for identifier in identifiers {
            let sql = bodies[identifier] ?? ""
            migrator.registerMigration(identifier) { try $0.execute(sql: sql) }
        }
        return migrator
    }

    /// Makes a database that has had the first migrations, each followed by rows of its time.
    init(_ count: Int = 10, _ migrator: DatabaseMigrator = migrator()) throws {
        folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: path)
        for (index, identifier) in migrator.migrations.prefix(count).enumerated() {
            try migrator.migrate(queue, upTo: identifier)
            try queue.write { try Self.insertRows(index, $0) }
        }
        try queue.close()
    }

    private static func insertRows(_ age: Int, _ db: Database) throws {
        for id in age * 40 + 1...age * 40 + 40 {
            try db.execute(
                sql: "INSERT INTO author(id, name) VALUES (?, ?)",
                arguments: [id, "author \(id) " + String(repeating: "name ", count: 12)])
            if try db.tableExists("book") {
                try db.execute(
                    sql: "INSERT INTO book(id, author, title) VALUES (?, ?, ?)",
                    arguments: [id, id, "book \(id) " + String(repeating: "long ", count: id % 30)])
            }
            if let table = try ["remark", "note"].first(where: { try db.tableExists($0) }) {
                try db.execute(
                    sql: "INSERT INTO \(table)(rank, words) VALUES (?, ?)",
                    arguments: [Double(id) / 3, "words \(id)"])
            }
            if try db.tableExists("tag") {
                try db.execute(
                    sql: "INSERT INTO tag VALUES (?, ?, ?)",
                    arguments: ["tag \(id)", Double(id) / 7, Data([1, 2, 3])])
            }
        }
    }

    /// The rows of all tables, the ledger's too, as texts; not those of a manager's records.
    static func rows(_ queue: DatabaseQueue) throws -> [String: Set<String>] {
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        return try queue.read { db in
            let tables = try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'app%'"
            )
            return Dictionary(
                uniqueKeysWithValues: try tables.map { table in
                    (table, Set(try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map(\.description)))
                })
        }
    }

    /// The rows that the app has after it has migrated a copy of the database.
    func expected(_ migrator: DatabaseMigrator = migrator()) throws -> [String: Set<String>] {
        let source = try DatabaseQueue(path: path)
        let copy = try DatabaseQueue()
        try source.backup(to: copy)
        try source.close()
        try migrator.migrate(copy)
        return try Self.rows(copy)
    }

    /// The rows of the salvaged database, after the app has migrated it.
    func salvaged(_ migrator: DatabaseMigrator = migrator()) throws -> [String: Set<String>] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try migrator.migrate(queue)
        return try Self.rows(queue)
    }
}
