import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite(
    "An encrypted database", .timed,
    .needs(.encryption))
struct EncryptedDatabaseTests {
    let folder: TemporaryFolder
    private let configuration = Encryption.configuration(passphrase: "it's a secret")
    private static let secret = "Walked to the harbour"

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Migrations, of which the last ones look at the files while they run.
    private func migrator(_ look: @escaping @Sendable () throws -> Void = {}) throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: [
                SQLMigration(
                    version: 1, name: "a",
                    sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT NOT NULL);"),
                CodeMigration(2, "b") { db in
                    try db.execute(
                        sql: "ALTER TABLE entry ADD COLUMN note; UPDATE entry SET note = text || id")
                    try look()
                },
                CodeMigration(3, "c") { db in
                    try db.execute(sql: "UPDATE entry SET note = upper(note)")
                    try look()
                },
            ], options: SchemaOptions(backupFolder: folder.file("copies")))
    }

    private var path: String { folder.file("app.sqlite").path }

    /// Creates a database at version 1, with more rows than the page cache holds.
    private func database(isPool: Bool = false) throws -> any DatabaseWriter {
        var configuration = configuration
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 10") }
        let database: any DatabaseWriter =
            isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        try migrator().migrate(database, upTo: 1)
        try database.write { db in
            for _ in 0..<3_000 {
                try db.execute(sql: "INSERT INTO entry(text) VALUES (?)", arguments: [Self.secret])
            }
        }
        return database
    }

    private func clearText() throws -> [String] { try folder.filesInClearText(holding: Self.secret) }

    private func count(_ url: URL, _ passphrase: String = "it's a secret") throws -> Int? {
        let queue = try DatabaseQueue(
            path: url.path, configuration: Encryption.configuration(passphrase: passphrase))
        return try queue.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM entry WHERE text = '\(Self.secret)'")
        }
    }

    @Test("is backed up and restored without clear text", arguments: [true, false])
    func backup(isPool: Bool) throws {
        let database = try database(isPool: isPool)
        let schema = try migrator { try #expect(clearText() == []) }
        let backup = try #require(try schema.migrate(database).backup)
        #expect(try clearText() == [])
        #expect(try count(backup) == 3_000)
        #expect(throws: DatabaseError.self) { try count(backup, "another") }
        try database.write { try $0.execute(sql: "DELETE FROM entry") }
        try schema.restore(backup, to: database)
        #expect(try count(folder.file("app.sqlite")) == 3_000)
        #expect(try database.read(schema.status).currentVersion == 1)
        #expect(try clearText() == [])
    }

    @Test("is migrated by its path with its configuration, and not without")
    func byPath() throws {
        let database = try database()
        try database.close()
        let error = try #require(throws: MigrationError.self) { try migrator().migrate(path: path) }
        #expect(
            error.description == """
                file is not a database (SQLite 26). If it is encrypted, pass its passphrase; if not, restore the database \
                from a backup.
                """)
        #expect(try migrator().migrate(path: path, configuration: configuration).applied == [2, 3])
        #expect(try clearText() == [])
    }

    @Test("is rehearsed on a copy that is encrypted too", arguments: [true, false])
    func rehearsal(isByPath: Bool) throws {
        let database = try database()
        let schema = try migrator { try #expect(clearText() == []) }
        let rehearsal =
            isByPath
            ? try schema.rehearse(path: path, configuration: configuration)
            : try schema.rehearse(database, in: folder.file("rehearsals"))
        #expect(rehearsal.rows.map { [$0.before, $0.after] } == [[3_000, 3_000]])
        #expect(try count(folder.file("app.sqlite")) == 3_000)
    }

    @Test("has fixtures with the same passphrase, which a matrix upgrades")
    func fixtures() throws {
        let database = try database()
        let fixtures = folder.file("fixtures")
        try FileManager.default.createDirectory(at: fixtures, withIntermediateDirectories: true)
        let fixture = fixtures.appendingPathComponent("1.0.sqlite")
        try FixtureMaker(keeping: ["entry.text"]).write(database, to: fixture)
        #expect(try count(fixture) == 20)
        #expect(try clearText() == [])

        let report = try UpgradeMatrix(
            of: migrator(), fixtures: fixtures, configuration: configuration
        ).run()
        #expect(report.upgrades.map(\.start.description).contains("1 (fixture 1.0.sqlite)"))
        let error = try #require(throws: UpgradeMatrixError.self) {
            try UpgradeMatrix(of: migrator(), fixtures: fixtures).run()
        }
        #expect(error.description.contains("1.0.sqlite cannot be used: file is not a database (SQLite 26)."))
    }

    @Test("can begin with a snapshot")
    func snapshot() throws {
        let url = folder.file("schema.sql")
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a", sql: "CREATE TABLE entry(text); INSERT INTO entry VALUES (1);")
        ])
        try schema.writeSnapshot(to: url, configuration: configuration)
        try schema.verifySnapshot(at: url, configuration: configuration)
        let fresh = try DatabaseQueue(path: path, configuration: configuration)
        try schema.with(snapshot: url).migrate(fresh)
        #expect(try folder.filesInClearText(holding: "entry") == ["schema.sql"])
    }
}
