import Foundation
import GRDB
import ProcessRunning

/// A folder with migrations, in which the tool is run.
struct Tool {
    let workspace: Workspace

    init(_ migrations: [String: String] = [:]) throws {
        workspace = try Workspace()
        for (name, text) in migrations { try workspace.write(text, to: "Migrations/\(name)") }
    }

    /// Runs `app-migrations` with arguments that blanks separate.
    func callAsFunction(_ arguments: String) async throws -> FinishedProcess {
        try await run(arguments.split(separator: " ").map(String.init))
    }

    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> FinishedProcess {
        try await FinishedProcess(
            try BuiltProduct.executable("app-migrations"), arguments, in: workspace.url, environment: environment)
    }

    /// Feeds the database `app.sqlite` with SQL.
    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: workspace.url.appendingPathComponent("app.sqlite").path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    func strings(_ sql: String) throws -> [String] {
        let queue = try DatabaseQueue(path: workspace.url.appendingPathComponent("app.sqlite").path)
        let strings = try queue.read { try String.fetchAll($0, sql: sql) }
        try queue.close()
        return strings
    }

    /// Two tables, of which the second has a way back.
    static let books = [
        "20240110090000000_create_books.sql": "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL);\n",
        "20240601120000000_add_shelves.sql": """
            CREATE TABLE shelf(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            ALTER TABLE book ADD COLUMN shelf_id INTEGER REFERENCES shelf(id);

            """,
        "20240601120000000_add_shelves.down.sql": """
            ALTER TABLE book DROP COLUMN shelf_id;
            DROP TABLE shelf;

            """,
    ]
}

extension String {
    /// The text with `TIME` for each duration, `DATE` for each date, and one blank for many.
    var withoutTimes: String {
        replacing(#/ +\d+\.\d ms/#, with: " TIME").replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#, with: "DATE")
            .replacing(#/"seconds" : [\d.e-]+/#, with: "\"seconds\" : SECONDS")
    }
}
