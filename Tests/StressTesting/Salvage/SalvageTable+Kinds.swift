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
        ], text: "title"
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
            deletable: "id % 3 > 0"
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
            ], text: "text"
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
        text: "text"
    ) { id, writing in
        let twin = try Int.fetchOne(
            writing.db, sql: "SELECT id FROM twin_a WHERE id % 3 = 0 ORDER BY id <= ?, id LIMIT 1",
            arguments: [id - id % 40])
        return [writing.text("child", id), writing.bytes(id, id % 5), twin]
    }

    /// Tables without row ids: with a key of one column, and of two that do not come first.
    static let tag = SalvageTable(
        mark: "tag",
        statements: [
            1:
                "CREATE TABLE tag(name TEXT PRIMARY KEY, weight REAL NOT NULL, image BLOB NOT NULL) WITHOUT ROWID;"
        ],
        columns: [Column(name: "name"), Column(name: "weight"), Column(name: "image")], hasRowid: false
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
        ], keyCount: 2, hasRowid: false
    ) { id, writing in
        [id / 3, writing.text("pair", id), id % 2 == 0 ? "pair#\(id)v" : id, Double(id)]
    }

    /// Columns with types, of which one has other values, beside a table that takes everything.
    static let typedAndLoose = [
        SalvageTable(
            mark: "typed", statements: [1: "CREATE TABLE typed(x INTEGER, y TEXT, z REAL);"],
            columns: [Column(name: "x"), Column(name: "y"), Column(name: "z")], hasHiddenKey: true, text: "y"
        ) { id, writing in
            [id % 5 == 0 ? "typed#\(id)x" : id, writing.text("typed", id), Double(id) + 0.25]
        },
        SalvageTable(
            mark: "loose_", statements: [1: "CREATE TABLE loose_(a, b TEXT, c);"],
            columns: [Column(name: "a"), Column(name: "b"), Column(name: "c")], hasHiddenKey: true, text: "b"
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
        ], hasHiddenKey: true, names: [2: "short3"], text: "y"
    ) { id, writing in [id, writing.text("short", id), "short#\(id)z", id % 9] }

    /// Texts that are none in their encoding, or hold NULs.
    static let odd = SalvageTable(
        mark: "odd", statements: [1: "CREATE TABLE odd(id INTEGER PRIMARY KEY, t TEXT NOT NULL);"],
        columns: [Column(name: "id"), Column(name: "t", isCast: true)]
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

    /// Full text.
    static let words = SalvageTable(
        mark: "words", statements: [1: "CREATE VIRTUAL TABLE words USING fts5(text, more);"],
        columns: [Column(name: "text"), Column(name: "more")], hasHiddenKey: true, isVirtual: true
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
