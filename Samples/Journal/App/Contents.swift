import Foundation
import GRDB

/// The contents of a journal, read from the data of any release.
struct Contents {
    struct Entry {
        let day: String
        let text: String
        var tags: [String] = []
        var mood: String?
    }

    /// The entries, by day.
    let entries: [Entry]
    /// The text of the settings file.
    let settings: String
    /// The paths and texts of the attachments.
    let attachments: [(path: String, text: String)]

    init(of folder: DataFolder) throws {
        guard folder.exists else { throw NoJournal(folder: folder) }
        entries = try DatabaseQueue(path: folder.entries.path).read(Self.entries)
        settings = try String(contentsOf: folder.settings, encoding: .utf8)
        attachments = try Attachments(folder: folder.attachments).paths().map { path in
            let url = folder.attachments.appendingPathComponent(path)
            return (path, try String(contentsOf: url, encoding: .utf8))
        }
    }

    /// The number of entries, tags and attachments, in words.
    var summary: String {
        let tags = entries.reduce(0) { $0 + $1.tags.count }
        return [
            "\(entries.count) \(entries.count == 1 ? "entry" : "entries")",
            "\(tags) \(tags == 1 ? "tag" : "tags") in use",
            "\(attachments.count) \(attachments.count == 1 ? "attachment" : "attachments")",
        ].joined(separator: ", ")
    }

    /// Returns the entries, tags and attachments that are missing from later contents.
    func lost(in later: Contents) -> [String] {
        func texts(_ contents: Contents) -> [String] {
            contents.entries.flatMap { entry in
                ["\(entry.day) \(entry.text)"] + entry.tags.map { "\(entry.day) #\($0)" }
            } + contents.attachments.map(\.text)
        }
        let kept = Set(texts(later))
        return texts(self).filter { !kept.contains($0) }
    }

    private static func entries(_ db: Database) throws -> [Entry] {
        // The first release had neither tags nor moods.
        let hasTags = try db.tableExists("entry_tag")
        return try Row.fetchAll(db, sql: "SELECT * FROM entry ORDER BY day, id").map { row in
            var entry = Entry(day: row["day"], text: row["text"], mood: row["mood"])
            if hasTags {
                entry.tags = try String.fetchAll(
                    db,
                    sql: """
                        SELECT name FROM tag JOIN entry_tag ON tag_id = tag.id
                        WHERE entry_id = ? ORDER BY name
                        """, arguments: [row["id"]])
            }
            return entry
        }
    }
}

/// The folder contains no journal.
struct NoJournal: Error, CustomStringConvertible {
    let folder: DataFolder

    var description: String {
        "There is no journal in \(folder.url.path). Start one: swift run Journal launch --as 1.0"
    }
}

extension DataFolder {
    /// Returns the definitions of all tables, indexes and triggers, without the package's own.
    func schema() throws -> [String] {
        try DatabaseQueue(path: entries.path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT sql FROM sqlite_master
                    WHERE sql IS NOT NULL
                        AND tbl_name NOT LIKE 'schema\\_migrations%' ESCAPE '\\'
                        AND tbl_name NOT LIKE 'app\\_migrations%' ESCAPE '\\'
                    ORDER BY type, name
                    """)
        }
    }
}
