import Foundation
import GRDB

// What people wrote in each release. Later releases must keep this data.

extension JournalApp {
    /// Writes a few entries, settings and attachments, as this release stored them.
    func writeAsPeopleDid() throws {
        if release >= .oneIndex {
            try writeIn2025()
        } else if release >= .words {
            try writeInAutumn()
        } else if release >= .moods {
            try writeInSummer()
        } else if release >= .tags {
            try writeInSpring()
        } else {
            try writeInWinter()
        }
    }

    /// Version 1.0: bare entries, and files named by day, month and year.
    private func writeInWinter() throws {
        try settings.write(["colour": "sepia", "fontSize": 15, "reminder": "21:00"])
        try entries.database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO entry(day, text) VALUES
                        ('2023-12-30', 'Walked to the harbour with Ada. Ice on every rope :-)'),
                        ('2024-01-12', 'The ferry was cancelled, so I read all day.'),
                        ('2024-01-20', 'Lost my scarf somewhere on the pier :-(')
                    """)
        }
        try attachments.add("30-12-2023 harbour.txt", "A photograph of the harbour, in ice.\n")
        try attachments.add("12-01-2024 timetable.txt", "No ferry today.\n")
    }

    /// Version 1.1: entries have tags, and files have names that sort.
    private func writeInSpring() throws {
        try settings.change { values in
            values["theme"] = values["theme"] ?? "light"
            values["textScale"] = values["textScale"] ?? 1
        }
        try entries.database.write { db in
            try insert("2024-03-16", "First swim of the year, with the whole family :-)", tag: "family", db)
            try insert("2024-04-02", "Night train to Lisbon. Wrote until Bordeaux.", tag: "travel", db)
        }
        try attachments.add("2024-04-02 ticket.txt", "Coach 14, berth 32.\n")
    }

    /// Version 2.0: entries have a mood, and files are in folders by year.
    private func writeInSummer() throws {
        try writeSettingsOf2024()
        try entries.database.write { db in
            let id = try insert(
                "2024-06-21", "The ferry runs again. Ada waved from the deck.", tag: "family", db)
            try db.execute(
                sql: "UPDATE entry SET mood = ? WHERE id = ?", arguments: [Mood.happy.rawValue, id])
        }
        try attachments.add("2024/2024-06-21 deck.txt", "A photograph of the ferry's deck.\n")
    }

    /// Version 2.1: nothing is stored in another way.
    private func writeInAutumn() throws {
        try writeSettingsOf2024()
        try entries.write("Walking home along the pier, with my scarf.", on: "2024-10-05")
    }

    /// Version 3.0: nothing is stored in another way.
    private func writeIn2025() throws {
        try writeSettingsOf2024()
        try entries.write("We walk to the harbour once a year now.", on: "2025-01-02")
    }

    private func writeSettingsOf2024() throws {
        try settings.change { values in
            values["theme"] = values["theme"] ?? "light"
            values["textScale"] = values["textScale"] ?? 1
            values["reminders"] = values["reminders"] ?? ["20:00"]
        }
    }

    /// Writes many entries, as somebody does in many years.
    func writeForYears(entries count: Int) throws {
        try entries.database.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                    INSERT INTO entry(day, text)
                    SELECT date('1960-01-01', n || ' days'), 'Day ' || n || ': up early, worked late, slept well.'
                    FROM number
                    """, arguments: [count])
        }
    }

    @discardableResult
    private func insert(_ day: String, _ text: String, tag: String, _ db: Database) throws -> Int64 {
        try db.execute(sql: "INSERT INTO entry(day, text) VALUES (?, ?)", arguments: [day, text])
        let id = db.lastInsertedRowID
        try db.execute(
            sql: "INSERT INTO entry_tag(entry_id, tag_id) SELECT ?, id FROM tag WHERE name = ?",
            arguments: [id, tag])
        return id
    }
}

extension Entries {
    /// Writes an entry without tags.
    @discardableResult
    func write(_ text: String, on day: String) throws -> Int64 {
        try database.write { db in
            try db.execute(sql: "INSERT INTO entry(day, text) VALUES (?, ?)", arguments: [day, text])
            return db.lastInsertedRowID
        }
    }

    /// Goes on writing an entry.
    func addWord(to id: Int64) throws {
        try database.write { db in
            try db.execute(sql: "UPDATE entry SET text = text || ' more' WHERE id = ?", arguments: [id])
        }
    }
}
