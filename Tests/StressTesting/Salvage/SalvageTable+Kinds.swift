import Foundation
import GRDB
import MigrationTools

// The tables that an app may have.
extension SalvageTable {
    /// Typed columns, long texts and an index; the steps of the manager change its titles.
    static let note = SalvageTable(
        mark: "note",
        statements: [
            1: """
            CREATE TABLE note(
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, number INTEGER NOT NULL);
            CREATE INDEX note_number ON note(number, title);
            """,
            2: "CREATE INDEX note_title ON note(title);",
            3: "ALTER TABLE note ADD COLUMN extra TEXT DEFAULT 'd';",
        ],
        columns: [
            Column(name: "id"), Column(name: "title"), Column(name: "body"), Column(name: "number"),
            Column(name: "extra", since: 3, fallback: .text("d")),
        ], text: "title",
        seed: """
            (id, title, body, number) \
            SELECT k, t, CASE WHEN i % 11 = 5 THEN 'note#' || hex(zeroblob(3000)) ELSE 'seed' END, i
            """, takesNextIDs: false,
        seedChange: "UPDATE note SET body = 'note#mine' WHERE id <= ? AND id % 3 = 0"
    ) { id, writing in
        [id, writing.text("note", id), writing.words(id), id * id, "extra \(id)"]
    }

    /// Two tables of one shape, with keys that are never given again.
    static let twins = [
        SalvageTable(
            mark: "twin_a",
            statements: [
                1: "CREATE TABLE twin_a(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL);"
            ],
            columns: [Column(name: "id"), Column(name: "text")], text: "text",
            // The rows with a child stay.
            deletable: "id % 3 > 0", seed: "(id, text) SELECT k, t"
        ) { id, writing in [id, writing.text("twin_a", id)] },
        SalvageTable(
            mark: "twin_b",
            statements: [
                1: "CREATE TABLE twin_b(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL);",
                2: "ALTER TABLE twin_b ADD COLUMN size INTEGER NOT NULL DEFAULT 7;",
            ],
            columns: [
                Column(name: "id"), Column(name: "text"),
                Column(name: "size", since: 2, fallback: .integer(7)),
            ], text: "text", seed: "(id, text) SELECT k, t",
            seedChange: "DELETE FROM twin_b WHERE id <= ? AND id % 5 = 0"
        ) { id, writing in [id, writing.text("twin_b", id), id % 90] },
    ]

    /// Refers to the first of the twins.
    static let child = SalvageTable(
        mark: "child",
        statements: [
            1:
                "CREATE TABLE child(text TEXT NOT NULL, flag BLOB, twin INTEGER NOT NULL REFERENCES twin_a(id));"
        ],
        columns: [Column(name: "text"), Column(name: "flag"), Column(name: "twin")], hasHiddenKey: true,
        text: "text", seed: "(text, flag, twin) SELECT t, x'00', CASE WHEN i % 2 = 0 THEN 3 ELSE 6 END",
        seedChange: "DELETE FROM child WHERE twin = min(3, ?); DELETE FROM twin_a WHERE id = 3"
    ) { id, writing in
        let twin = try Int.fetchOne(
            writing.db, sql: "SELECT id FROM twin_a WHERE id % 3 = 0 ORDER BY id <= ?, id LIMIT 1",
            arguments: [id - id % 40])
        return twin.map { [writing.text("child", id), writing.bytes(id, id % 5), $0] }
    }

    /// Tables without row ids: with a key of one column, and of two that do not come first.
    static let tag = SalvageTable(
        mark: "tag",
        statements: [
            1:
                "CREATE TABLE tag(name TEXT PRIMARY KEY, weight REAL NOT NULL, image BLOB NOT NULL) WITHOUT ROWID;"
        ],
        columns: [Column(name: "name"), Column(name: "weight"), Column(name: "image")], hasRowid: false,
        seed: "(name, weight, image) SELECT t, i / 7.0, x'0102'",
        seedChange:
            "UPDATE tag SET weight = -1.5 WHERE name LIKE 'tag#s%' AND length(name) + ? > 0 AND name LIKE '%3.'"
    ) { id, writing in [writing.text("tag", id), Double(id) / 7, writing.image(id)] }

    static let pair = SalvageTable(
        mark: "pair",
        statements: [
            1: """
            CREATE TABLE pair(value, name TEXT, number INTEGER, PRIMARY KEY(number, name)) WITHOUT ROWID;
            """,
            3: "ALTER TABLE pair ADD COLUMN more REAL DEFAULT 0.5;",
        ],
        columns: [
            Column(name: "number"), Column(name: "name"), Column(name: "value"),
            Column(name: "more", since: 3, fallback: .real(0.5.bitPattern)),
        ], keyCount: 2, hasRowid: false, seed: "(value, name, number) SELECT i, t, i / 3",
        seedChange: "UPDATE pair SET value = 'pair#mine' WHERE number < ? / 6"
    ) { id, writing in
        [id / 3, writing.text("pair", id), id % 2 == 0 ? "pair#\(id)v" : id, Double(id)]
    }

    /// Columns with types, of which one has other values, beside a table that takes everything.
    static let typedAndLoose = [
        SalvageTable(
            mark: "typed", statements: [1: "CREATE TABLE typed(x INTEGER, y TEXT, z REAL);"],
            columns: [Column(name: "x"), Column(name: "y"), Column(name: "z")], hasHiddenKey: true, text: "y",
            seed: "(x, y, z) SELECT i, t, i + 0.25"
        ) { id, writing in
            [id % 5 == 0 ? "typed#\(id)x" : id, writing.text("typed", id), Double(id) + 0.25]
        },
        SalvageTable(
            mark: "loose_", statements: [1: "CREATE TABLE loose_(a, b TEXT, c);"],
            columns: [Column(name: "a"), Column(name: "b"), Column(name: "c")], hasHiddenKey: true, text: "b",
            seed: "(a, b, c) SELECT i, t, NULL"
        ) { id, writing in
            let value: any DatabaseValueConvertible =
                switch id % 4 {
                case 0: id
                case 1: Double(id) / 3
                case 2: writing.bytes(id, 6)
                default: "loose_#\(id)a"
                }
            return [value, writing.text("loose_", id), id % 3 == 0 ? nil : id]
        },
    ]

    /// Rows that are shorter than the columns, in a table that gets another name.
    static let short = SalvageTable(
        mark: "short",
        statements: [
            1: "CREATE TABLE short(x, y);",
            2: "ALTER TABLE short ADD COLUMN z; ALTER TABLE short RENAME TO short3;",
            3: "ALTER TABLE short3 ADD COLUMN w INTEGER DEFAULT 1;",
        ],
        columns: [
            Column(name: "x"), Column(name: "y"), Column(name: "z", since: 2),
            Column(name: "w", since: 3, fallback: .integer(1)),
        ], hasHiddenKey: true, names: [2: "short3"], text: "y", seed: "(x, y) SELECT i, t"
    ) { id, writing in [id, writing.text("short", id), "short#\(id)z", id % 9] }

    /// Texts that are none in their encoding, or hold NULs.
    static let odd = SalvageTable(
        mark: "odd", statements: [1: "CREATE TABLE odd(id INTEGER PRIMARY KEY, t TEXT NOT NULL);"],
        columns: [Column(name: "id"), Column(name: "t", isCast: true)], seed: "(id, t) SELECT k, t"
    ) { id, writing in
        var bytes = writing.encoding.bytes(of: writing.text("odd", id))
        switch id % 4 {
        case 0: bytes += writing.encoding.bytes(of: "\0\0\0end")
        case 1: bytes += writing.encoding == .utf8 ? [0xff, 0xc3, 0x28] : [0xd8, 0xd8]
        case 2: bytes += writing.encoding.bytes(of: "\0")
        default: break
        }
        return [id, Data(bytes)]
    }

    /// Unique names and a computed column, in a database whose migrations insert rows: their ids change.
    ///
    /// The column is stored, as the `.recover` of SQLite 3.46.1 fails with a virtual one.
    static let label = SalvageTable(
        mark: "label",
        statements: [
            1: """
            CREATE TABLE label(
                id INTEGER PRIMARY KEY, size INTEGER AS (length(name)) STORED, name TEXT NOT NULL UNIQUE,
                text TEXT NOT NULL);
            """
        ], columns: [Column(name: "id"), Column(name: "name"), Column(name: "text")], text: "text",
        seed: "(id, name, text) SELECT k, t, t",
        seedChange: "UPDATE label SET id = id + 1000000 WHERE id <= ? AND id % 4 = 0"
    ) { id, writing in [id, writing.text("label", id), writing.text("label", id)] }

    /// Full text.
    static let words = SalvageTable(
        mark: "words", statements: [1: "CREATE VIRTUAL TABLE words USING fts5(text, more);"],
        columns: [Column(name: "text"), Column(name: "more")], hasHiddenKey: true, isVirtual: true,
        seed: "(text, more) SELECT t, 'seed'",
        seedChange: "UPDATE words SET more = 'mine' WHERE rowid <= ? / 2"
    ) { id, writing in [writing.text("words", id), "more\(id)"] }

    /// Filled by a trigger, which must not run again.
    static let trail = SalvageTable(
        mark: "trail",
        statements: [
            1: """
            CREATE TABLE trail(id INTEGER PRIMARY KEY, text TEXT, note INTEGER);
            CREATE TRIGGER note_trail AFTER INSERT ON note
            BEGIN INSERT INTO trail(text, note) VALUES ('trail#' || NEW.id || '.', NEW.id); END;
            """
        ],
        columns: [Column(name: "id"), Column(name: "text"), Column(name: "note")])
}
