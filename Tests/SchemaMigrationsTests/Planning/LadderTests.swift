import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// What the article From hand-written migrations says about a ladder of `user_version`.
@Suite("A ladder by user_version", .timed)
struct LadderTests {
    /// Whether the migrations keep the number of the ladder going.
    enum Number {
        case kept, forgotten
    }

    private static let rungs = [
        "CREATE TABLE book(title TEXT)", "ALTER TABLE book ADD COLUMN author TEXT",
        "CREATE TABLE shelf(name TEXT)",
    ]

    private let folder: TemporaryFolder
    private let dbQueue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        dbQueue = try DatabaseQueue(path: folder.file("library.sqlite").path)
    }

    /// Opens the database as the last release before the package does, or an older one, which has fewer rungs.
    private func launchOldRelease(rungs: Int = 3) throws {
        try dbQueue.write { db in
            for number in 1...rungs {
                let reached = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                guard reached < number else { continue }
                try db.execute(sql: Self.rungs[number - 1])
                try db.execute(sql: "PRAGMA user_version = \(number)")
            }
        }
    }

    /// Opens the database as the release with the package does, which has one change more than the ladder.
    private func launchNewRelease(_ number: Number) throws -> MigrationReport {
        let changes = Self.rungs + ["ALTER TABLE book ADD COLUMN pages INTEGER"]
        let files = changes.enumerated().map { index, sql in
            let kept = number == .kept ? "; PRAGMA user_version = \(index + 1)" : ""
            return SQLMigration(version: SchemaVersion(index + 1), name: "rung", sql: sql + kept)
        }
        let schema = try SchemaMigrator(migrations: files, adopting: .userVersion())
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .databaseHasTables(dbQueue, means: "1.9"),
            store: .jsonFile(at: folder.file("records.json")))
        manager.whenMigratingToVersion("1.9", migrate: schema, in: dbQueue)
        return try manager.migrate()
    }

    private func columns(of table: String) throws -> [String] {
        try dbQueue.read { db in try db.columns(in: table).map(\.name) }
    }

    @Test("is adopted at any rung, and brought to the latest migration", arguments: 1...3)
    func adopted(rungs: Int) throws {
        try launchOldRelease(rungs: rungs)
        let report = try launchNewRelease(.kept)
        #expect(report.launch == .adoption(from: "1.9"))
        #expect(report.schemaSteps.map(\.schemaVersions) == [(rungs + 1...4).map { "\($0)" }])
        #expect(try columns(of: "book") == ["title", "author", "pages"])
        #expect(try columns(of: "shelf") == ["name"])
    }

    @Test("finds nothing to do after the new release, if its number was kept", arguments: 1...3)
    func kept(rungs: Int) throws {
        try launchOldRelease(rungs: rungs)
        _ = try launchNewRelease(.kept)
        try launchOldRelease()
        #expect(try launchNewRelease(.kept).schemaSteps.isEmpty)
    }

    @Test("finds nothing to do on an install that began with the new release, if its number was kept")
    func fresh() throws {
        #expect(try launchNewRelease(.kept).launch == .freshInstall)
        try launchOldRelease()
        #expect(try columns(of: "book") == ["title", "author", "pages"])
    }

    @Test("breaks after the new release, if its number was forgotten")
    func forgotten() throws {
        try launchOldRelease(rungs: 1)
        _ = try launchNewRelease(.forgotten)
        let error = try #require(throws: DatabaseError.self) { try launchOldRelease() }
        #expect(error.message == "duplicate column name: author")
    }

    @Test("breaks on an install that began with the new release, if its number was forgotten")
    func freshForgotten() throws {
        _ = try launchNewRelease(.forgotten)
        let error = try #require(throws: DatabaseError.self) { try launchOldRelease() }
        #expect(error.message == "table book already exists")
    }
}
