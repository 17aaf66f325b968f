import DatabaseFiles
import Foundation
import GRDB

extension FuzzTarget {
    /// The pages of a damaged database and of its write-ahead log: whatever is in them, reading comes to an end.
    ///
    /// An input is a list of changes, each of three bytes: where, in two of them, and the new byte. A single byte at the end
    /// says how much of the file is left.
    static let pages = FuzzTarget(
        name: "pages",
        seeds: [
            "", "\0\u{14}\u{2}", "\0\u{64}\u{5}\0\u{65}\u{1}", "\u{2}\0\0\u{2}\u{3}\u{7F}\u{2}\u{5}\u{7F}",
            "\u{4}\0\u{5}\u{4}\u{8}\0", "\u{6}\0\u{2}\u{6}\u{9}\u{1}", "\0\u{1F}\u{3}\0\u{23}\u{9}",
            "\u{A}\u{10}\u{20}\u{C}\u{30}\u{40}\u{E}\u{50}\u{60}", "@", "\0\0\0\0\u{1}\0\0\u{2}\0 ",
        ]
    ) { bytes in
        let original = try PageBytes.shared.get()
        var file = original.database + original.log
        for index in stride(from: 0, to: bytes.count - 2, by: 3) {
            file[(Int(bytes[index]) << 8 | Int(bytes[index + 1])) % file.count] = bytes[index + 2]
        }
        var database = file.prefix(original.database.count)
        if bytes.count % 3 == 1, let last = bytes.last {
            database = database.prefix(database.count * Int(last) / 256)
        }
        let rows = try DamagedRows(in: Array(database), log: file.suffix(original.log.count))
        try expect(rows.count < file.count, "\(bytes) has \(rows.count) rows in \(file.count) bytes")
        if bytes.isEmpty {
            try expect(rows.count > 100, "not all of \(rows.count) rows are read")
        }
    }
}

/// A small database with every kind of page, and with a write-ahead log.
private struct PageBytes: Sendable {
    let database: [UInt8]
    let log: [UInt8]

    static let shared = Result { try PageBytes() }

    private init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)")
        defer {
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + end) }
        }
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA page_size = 512; VACUUM; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                    CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, number REAL);
                    CREATE TABLE tag(name TEXT PRIMARY KEY, image BLOB) WITHOUT ROWID;
                    CREATE INDEX note_title ON note(title);
                    """)
            for id in 1...60 {
                let title = String(repeating: "t\(id)", count: id == 30 ? 600 : id % 9)
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [id, title, Double(id) / 3])
                try db.execute(
                    sql: "INSERT INTO tag VALUES (?, zeroblob(?))", arguments: ["tag\(id)", id % 30])
            }
            try db.execute(
                sql: """
                    DELETE FROM note WHERE id BETWEEN 10 AND 25; PRAGMA wal_checkpoint(TRUNCATE);
                    UPDATE note SET title = 'new' WHERE id > 50;
                    """)
        }
        database = [UInt8](try Data(contentsOf: url))
        log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal")))
        try queue.close()
    }
}
