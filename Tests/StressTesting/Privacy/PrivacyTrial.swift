import Foundation
import GRDB
import MigrationTesting
import TestSupport

/// One database full of private texts, and the search for them in its fixture.
struct PrivacyTrial {
    /// How many values of people a database has.
    static let values = rows * 15
    private static let rows = 100

    /// A sentence for each text that is in the fixture.
    private(set) var leaks: [String] = []

    private let folder: TemporaryFolder
    private let real: DatabaseQueue
    private let maker: FixtureMaker
    private let isUTF16: Bool
    private var texts: PrivateTexts
    /// The runs of everything that people wrote, but not those that the form of a fixture has anyway: years of
    /// dates, and hexadecimal digits, of which escapes of JSON consist.
    private var secrets = LetterRuns()

    private static let schema = """
        CREATE TABLE note(
            id INTEGER PRIMARY KEY, text TEXT, code TEXT, json TEXT, loose, bytes BLOB, mail TEXT UNIQUE COLLATE NOCASE,
            kind TEXT AS (substr(text, 1, 20)) STORED);
        CREATE TABLE person(name TEXT PRIMARY KEY, friend TEXT REFERENCES person(name)) WITHOUT ROWID;
        CREATE TABLE log(id INTEGER PRIMARY KEY, text TEXT);
        CREATE VIRTUAL TABLE own USING fts5(text, code);
        CREATE VIRTUAL TABLE outside USING fts5(text, content='note', content_rowid='id');
        CREATE VIRTUAL TABLE bare USING fts5(text, content='');
        CREATE VIRTUAL TABLE old USING fts4(text, code);
        CREATE INDEX note_text ON note(text, code);
        CREATE INDEX note_json ON note(lower(text) COLLATE NOCASE) WHERE text IS NOT NULL;
        CREATE VIEW titles AS SELECT substr(text, 1, 20) AS title FROM note;
        CREATE TRIGGER note_inserted AFTER INSERT ON note BEGIN
            INSERT INTO log VALUES (new.id, new.text);
            INSERT INTO outside(rowid, text) VALUES (new.id, new.text);
        END;
        """

    init(seed: UInt64) throws {
        texts = PrivateTexts(seed: seed)
        folder = try TemporaryFolder()
        isUTF16 = texts.chance(20)
        maker = FixtureMaker(rowsPerTable: 1_000, numbers: texts.chance(50) ? .kept : .replaced)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        real = try DatabaseQueue(path: folder.file("real.sqlite").path, configuration: configuration)
    }

    /// Makes a fixture, and searches it.
    mutating func run() throws {
        try fill()
        let first = try fixture("first.sqlite")
        var kept = try keptRuns(in: first)
        // Noise repeats a run by chance; a run that five fixtures keep comes from the database.
        for _ in 0..<4 where !kept.isEmpty {
            let again = try keptRuns(in: fixture("again.sqlite"))
            kept = kept.filter { value, runs in !runs.isDisjoint(with: again[value] ?? []) }
        }
        leaks += kept.map { "\($0.key) keeps \($0.value.sorted().map(\.debugDescription))" }.sorted()
        try searchBytes(after: first)
    }

    // MARK: The database

    private mutating func fill() throws {
        try real.writeWithoutTransaction { [isUTF16] db in
            if isUTF16 { try db.execute(sql: "PRAGMA encoding = 'UTF-16le'") }
            try db.execute(sql: Self.schema)
        }
        var rows: [[DatabaseValue]] = []
        var names: [String] = []
        for id in 1...Self.rows {
            let text = texts.text()
            let code = texts.code()
            let json = texts.json()
            let loose = texts.chance(50) ? texts.text() : texts.json() + texts.text()
            let bytes = texts.chance(50) ? Data(texts.text().utf8) : Data((0...20).map { _ in texts.byte() })
            let mail = texts.text() + "\(id)@example.org"
            rows.append([
                id.databaseValue, text.databaseValue, code.databaseValue, json.databaseValue,
                loose.databaseValue,
                bytes.databaseValue, mail.databaseValue,
            ])
            names.append(texts.text() + "\(id)")
            for text in [text, mail, names[id - 1]] { secrets.add(text.unicodeScalars) }
            for text in [loose, json] { secrets.add(text.unescapedJSON) }
        }
        try real.write { db in
            for row in rows {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?, ?, ?, ?, ?)", arguments: StatementArguments(row))
                try db.execute(
                    sql: "INSERT INTO own(rowid, text, code) VALUES (?, ?, ?)",
                    arguments: StatementArguments(row.prefix(3)))
                try db.execute(
                    sql: "INSERT INTO old(rowid, text, code) VALUES (?, ?, ?)",
                    arguments: StatementArguments(row.prefix(3)))
                try db.execute(
                    sql: "INSERT INTO bare(rowid, text) VALUES (?, ?)",
                    arguments: StatementArguments(row.prefix(2)))
            }
            for (index, name) in names.enumerated() {
                try db.execute(
                    sql: "INSERT OR IGNORE INTO person VALUES (?, ?)", arguments: [name, names[index / 2]])
            }
            // Free pages full of texts, and statistics with samples of them.
            try db.execute(sql: "CREATE TABLE gone AS SELECT * FROM note; DROP TABLE gone; ANALYZE")
        }
    }

    private func fixture(_ name: String) throws -> DatabaseQueue {
        let url = folder.file(name)
        try? FileManager.default.removeItem(at: url)
        try maker.write(real, to: url)
        return try DatabaseQueue(path: url.path)
    }

    // MARK: The search

    /// Returns the runs that values share with their replacements, which have the same ids.
    private func keptRuns(in fixture: DatabaseQueue) throws -> [String: Set<String>] {
        var kept: [String: Set<String>] = [:]
        for (table, column) in [
            ("note", "text"), ("note", "code"), ("note", "json"), ("note", "loose"), ("note", "mail"),
            ("note", "kind"), ("log", "text"), ("own", "text"), ("own", "code"), ("old", "text"),
            ("old", "code"),
        ] {
            let sql = "SELECT rowid, \(column) FROM \(table)"
            let originals = try real.read { try Row.fetchAll($0, sql: sql) }
            let found = try fixture.read { try Row.fetchAll($0, sql: sql) }
            let replacements = Dictionary(
                found.map { ($0[0] as Int, $0[1] as String? ?? "") }, uniquingKeysWith: { $1 })
            for row in originals {
                let (original, replacement) = (row[1] as String, replacements[row[0]] ?? "")
                let isJSON = column == "json"
                var runs = LetterRuns(isJSON ? original.unescapedJSON : Array(original.unicodeScalars))
                runs.subtract(LetterRuns("true false null".unicodeScalars))
                // In a text that is only partly JSON, escapes may be of characters that stay.
                if column == "loose" { runs.removeHexadecimalDigits() }
                let common = LetterRuns(
                    isJSON ? replacement.unescapedJSON : Array(replacement.unicodeScalars)
                )
                .common(with: runs)
                guard !common.isEmpty else { continue }
                kept["\(table).\(column) of row \(row[0] as Int), \(original.debugDescription),"] = Set(
                    common)
            }
        }
        return kept
    }

    /// Searches the fixture's bytes for runs of any value.
    ///
    /// Noise repeats short runs of other values by chance. Another fixture has other noise, so a run that
    /// every one of many fixtures has comes from the database.
    private mutating func searchBytes(after first: DatabaseQueue) throws {
        var suspects = secrets
        suspects.removeHexadecimalDigits()
        suspects.subtract(LetterRuns((Self.schema + " true false null format 3 SQLite").unicodeScalars))
        suspects.subtract(try namesInSchema(among: suspects))
        var fixture = first
        for attempt in 0..<20 where !suspects.runs.isEmpty {
            if attempt > 0 { fixture = try self.fixture("again.sqlite") }
            suspects = try found(suspects, in: fixture)
        }
        leaks += suspects.common(with: suspects).map { "the fixture's bytes hold \($0.debugDescription)" }
    }

    /// Returns those of the runs that are in the bytes of a database, which is closed.
    private func found(_ runs: LetterRuns, in fixture: DatabaseQueue) throws -> LetterRuns {
        try fixture.close()
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        var found = runs.found(in: String(decoding: bytes, as: UTF8.self).unicodeScalars)
        guard isUTF16 else { return found }
        for start in [0, 1] {
            let units = stride(from: start, to: bytes.count - 1, by: 2).map {
                UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
            }
            found.formUnion(runs.found(in: String(decoding: units, as: UTF16.self).unicodeScalars))
        }
        return found
    }

    /// Returns those of the runs that a fixture without rows has: names stand side by side in a schema, as in
    /// `tablelog`.
    private func namesInSchema(among runs: LetterRuns) throws -> LetterRuns {
        let empty = try DatabaseQueue(path: folder.file("empty.sqlite").path)
        try empty.writeWithoutTransaction { [isUTF16] db in
            if isUTF16 { try db.execute(sql: "PRAGMA encoding = 'UTF-16le'") }
            try db.execute(sql: Self.schema + "ANALYZE;")
        }
        let url = folder.file("empty-fixture.sqlite")
        try maker.write(empty, to: url)
        return try found(runs, in: DatabaseQueue(path: url.path))
    }
}
