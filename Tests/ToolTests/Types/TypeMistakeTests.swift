import Foundation
import MigrationTools
import SchemaMigrations
import TestSupport
import Testing

@Suite("A mistake in a step that uses the types of old schemas", .timed)
struct TypeMistakeTests {
    /// Each mistake, and words of the error that the compiler reports at its line.
    static let mistakes = [
        ("_ = book.author", "has no member 'author'"),
        ("_ = book.shelfId", "has no member 'shelfId'"),
        ("let note: Int = newBook.note.count; _ = note", "must be unwrapped"),
        ("let title: Int64 = book.title; _ = title", "cannot convert value of type 'String'"),
        ("try Schema.v2.Book(id: 1).insert(db)", "missing argument for parameter 'title'"),
        ("try Schema.v2.Book(id: \"1\", title: \"\").insert(db)", "cannot convert value of type 'String'"),
        ("let wrong: Schema.v2.Book = book; _ = wrong", "cannot convert value of type 'Schema.v1.Book'"),
        ("_ = try Schema.v1.Shelf.fetchAll(db)", "has no member 'Shelf'"),
        ("try Schema.v2.Titles(title: \"\").insert(db)", "has no member 'insert'"),
        ("newBook.titleLength = 3", "setter is inaccessible"),
        ("_ = try Schema.v2.Book.filter { $0.author == \"\" }.fetchAll(db)", "no exact matches"),
        ("_ = try Schema.v2.Book.fetchOne(db, id: \"1\")", "cannot convert value of type 'String'"),
    ]

    @Test("does not compile, and the same step without it does")
    func mistakes() async throws {
        let migrator = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "first",
                sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL, old TEXT);"),
            SQLMigration(
                version: 2, name: "second",
                sql: """
                    ALTER TABLE book DROP COLUMN old;
                    ALTER TABLE book ADD COLUMN note TEXT;
                    ALTER TABLE book ADD COLUMN title_length INTEGER AS (length(title));
                    CREATE TABLE shelf(id INTEGER PRIMARY KEY);
                    CREATE VIEW titles AS SELECT title FROM book;
                    """),
        ])
        let text = try SchemaTypes(of: migrator, at: [1, 2], name: "Schema", mapping: ColumnTypes()).text
        let folder = try TemporaryFolder()
        let right = """
            import GRDB
            func step(_ db: Database) throws {
                for book in try Schema.v1.Book.fetchAll(db) {
                    let newBook = Schema.v2.Book(id: book.id, title: book.title + "!", note: book.old)
                    try newBook.insert(db)
                }
                try Schema.v2.Shelf().insert(db)
                _ = try Schema.v2.Titles.fetchAll(db)
                _ = try Schema.v2.Book.filter { $0.title == "" }.fetchOne(db)
                _ = try Schema.v2.Book.fetchOne(db, id: 1)
            }
            """
        #expect(try await compile(text, right, in: folder) == [:])
        // As Xcode isolates a new app.
        let isolated = right.replacing("func step", with: "nonisolated func step")
        #expect(try await compile(text, isolated, in: folder, ["-default-isolation", "MainActor"]) == [:])
        let lines = Self.mistakes.enumerated().map { index, mistake in
            """
            func mistake\(index)(_ db: Database, _ book: Schema.v1.Book, _ newBook: inout Schema.v2.Book) throws {
            \(mistake.0)
            }
            """
        }
        let errors = try await compile(text, (["import GRDB"] + lines).joined(separator: "\n"), in: folder)
        for (index, mistake) in Self.mistakes.enumerated() {
            let error = errors[3 + index * 3] ?? "no error"
            #expect(error.contains(mistake.1), "\(mistake.0): \(error)")
        }
        #expect(errors.count == Self.mistakes.count)
    }

    /// Returns the errors in a step by line.
    private func compile(
        _ types: String, _ step: String, in folder: TemporaryFolder, _ options: [String] = []
    ) async throws -> [Int: String] {
        try Data(types.utf8).write(to: folder.file("OldSchemas.swift"))
        try Data(step.utf8).write(to: folder.file("Step.swift"))
        let files = ["OldSchemas.swift", "Step.swift"].map { folder.file($0).path }
        let result = try await BuiltProcess.compiler(
            options + ["-typecheck", "-swift-version", "6", "-parse-as-library"] + files
        ).result()
        let found = result.errors.matches(of: /Step\.swift:(\d+):\d+: error: (.*)/).compactMap { match in
            Int(match.1).map { ($0, String(match.2)) }
        }
        #expect(!result.errors.contains(/OldSchemas\.swift:\d+:\d+: error/), "\(result.errors)")
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }
}
