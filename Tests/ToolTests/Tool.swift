import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

/// A folder with migrations in which the tool runs.
struct Tool {
    let folder: TemporaryFolder

    init(_ migrations: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        for (name, text) in migrations { try write(text, to: "Migrations/\(name)") }
    }

    /// Runs `app-migrations` with arguments that are separated by spaces.
    func callAsFunction(_ arguments: String) async throws -> BuiltProcess.Result {
        try await run(arguments.words)
    }

    /// Runs `app-migrations`.
    func run(_ arguments: [String]) async throws -> BuiltProcess.Result {
        try await BuiltProcess(
            running: Products.executable("app-migrations"), arguments, in: folder.url
        ).result()
    }

    /// Runs `app-migrations` in a terminal.
    func onTerminal(
        _ arguments: String, environment: [String: String] = [:], typing input: String? = nil
    ) async throws -> BuiltProcess.Result {
        try await BuiltProcess(
            onTerminal: "app-migrations", arguments.words, in: folder.url,
            environment: environment.merging(["TERM": "xterm"]) { $1 }, typing: input
        ).result()
    }

    /// Writes text to a file, and creates its folder.
    func write(_ text: String, to path: String) throws {
        try write(Data(text.utf8), to: path)
    }

    /// Writes a file, and creates its folder.
    func write(_ data: Data, to path: String) throws {
        let file = folder.file(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Executes SQL in the database `app.sqlite`.
    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: folder.file("app.sqlite").path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Returns the strings that a query finds in the database `app.sqlite`.
    func strings(_ sql: String) throws -> [String] {
        let queue = try DatabaseQueue(path: folder.file("app.sqlite").path)
        let strings = try queue.read { try String.fetchAll($0, sql: sql) }
        try queue.close()
        return strings
    }

    /// Two migrations, of which the second is reversible.
    static let books = [
        "20240110090000000_create_books.sql":
            "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL);\n",
        "20240601120000000_add_shelves.sql": """
        CREATE TABLE shelf(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        ALTER TABLE book ADD COLUMN shelf_id INTEGER REFERENCES shelf(id);

        """,
        "20240601120000000_add_shelves.down.sql": """
        ALTER TABLE book DROP COLUMN shelf_id;
        DROP TABLE shelf;

        """,
    ]

    /// The same, with an index for their foreign key.
    static let indexedBooks = books.merging([
        "20240601120000000_add_shelves.sql": """
        CREATE TABLE shelf(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        ALTER TABLE book ADD COLUMN shelf_id INTEGER REFERENCES shelf(id);
        CREATE INDEX book_shelf ON book(shelf_id);
        """,
        "20240601120000000_add_shelves.down.sql": """
        DROP INDEX book_shelf;
        ALTER TABLE book DROP COLUMN shelf_id;
        DROP TABLE shelf;
        """,
    ]) { $1 }
}

extension String {
    fileprivate var words: [String] { split(separator: " ").map(String.init) }

    /// The text with `TIME` for each duration, `DATE` for each date, and `SIZE` for a size that was measured.
    var withoutTimes: String {
        replacing(#/ +\d+\.\d+ m?s\b/#, with: " TIME").replacing(
            #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#, with: "DATE"
        )
        .replacing(#/"seconds" : [\d.e-]+/#, with: "\"seconds\" : SECONDS")
        .replacing(#/"sizeAtMost" : \d+/#, with: "\"sizeAtMost\" : SIZE")
        .replacing(#/at most [\d.]+ \w+ meanwhile/#, with: "at most SIZE meanwhile")
    }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
