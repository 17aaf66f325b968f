import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Errors go to logs, and the values of rows do not: a database may be encrypted for their sake.
@Suite("The values of rows", .timed)
struct PrivateValuesTests {
    private static let secret = "my secret"
    private static let tables = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
        CREATE TABLE person(name TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE reply(note INTEGER REFERENCES note(id) DEFERRABLE INITIALLY DEFERRED, body TEXT);
        """

    /// What a step does to a table `note` in which a row holds the secret.
    enum Mistake: CaseIterable {
        case brokenConstraint
        case wrongType
        case missingRow
        case brokenJSON
        case orphan

        func make(_ db: Database) throws {
            switch self {
            case .brokenConstraint:
                try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [1, secret])
            case .wrongType:
                let row = try Row.fetchOne(db, sql: "SELECT * FROM note WHERE body = ?", arguments: [secret])
                _ = try row?.decode(Int.self, forColumn: "body")
            case .missingRow:
                throw RecordError.recordNotFound(
                    databaseTableName: "note", key: ["body": secret.databaseValue])
            case .brokenJSON:
                enum Kind: String, Codable { case short }
                _ = try JSONDecoder().decode([Kind].self, from: Data("[\"\(secret)\"]".utf8))
            case .orphan:
                try db.execute(sql: "INSERT INTO reply VALUES (9, ?)", arguments: [secret])
                try db.checkForeignKeys()
            }
        }

        var words: String {
            switch self {
            case .brokenConstraint:
                "SQLite error 19: UNIQUE constraint failed: note.id - while executing `INSERT INTO note VALUES (?, ?)`"
            case .wrongType: "could not decode Int from a value of a row"
            case .missingRow: "table note has no row with this key"
            case .brokenJSON: "a value cannot be decoded, in Index 0"
            case .orphan: "FOREIGN KEY constraint violation - from reply(note) to note(id)"
            }
        }
    }

    /// The kinds of work in which a step makes its mistake.
    enum Work: CaseIterable {
        case closure
        case versionChange
        case adoption
        case databaseStep
        case codeMigration
        case migrationOfGRDB
        case rows
        case cursor
        case deferredClosure

        func register(_ mistake: Mistake, in manager: MigrationManager, _ database: DatabaseQueue) throws {
            switch self {
            case .closure:
                manager.whenMigratingToVersion("2.0") { try database.write(mistake.make) }
            case .versionChange: manager.whenVersionChanges { _, _ in try database.write(mistake.make) }
            case .adoption: break
            case .databaseStep: manager.whenMigratingToVersion("2.0", in: database, run: mistake.make)
            case .codeMigration:
                let schema = try SchemaMigrator(
                    migrations: [
                        ExecutedSQL(version: 1, sql: PrivateValuesTests.tables),
                        CodeMigration(2, "Two") { try mistake.make($0) },
                    ], adopting: SchemaAdoption { _ in 1 })
                manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
            case .migrationOfGRDB:
                var migrator = DatabaseMigrator()
                migrator.registerMigration("one", migrate: mistake.make)
                manager.whenMigratingToVersion("2.0", migrate: migrator, in: database)
            case .rows:
                manager.afterMigratingToVersion("2.0", in: database, overRowsOf: "person") { db, _ in
                    try mistake.make(db)
                }
            case .cursor:
                manager.afterMigratingToVersion("2.0", in: database, startingAt: secret) { db, _ in
                    try mistake.make(db)
                    return .done
                }
            case .deferredClosure:
                manager.afterMigratingToVersion("2.0") { _ in
                    try await database.write { try mistake.make($0) }
                }
            }
        }
    }

    private let folder: TemporaryFolder
    private let database: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        database = try DatabaseQueue(path: folder.file("notes.sqlite").path, configuration: configuration)
        try database.write { db in
            try db.execute(sql: Self.tables)
            try db.execute(sql: "INSERT INTO note VALUES (1, ?)", arguments: [Self.secret])
            try db.execute(sql: "INSERT INTO person VALUES (?)", arguments: [Self.secret])
        }
    }

    @Test(
        "are in no error and no event, whatever kind of work reads them", arguments: Work.allCases,
        Mistake.allCases)
    func work(_ work: Work, _ mistake: Mistake) async throws {
        let store = MigrationStore.inMemory()
        let events = BridgeLog()
        let options = MigrationOptions(onEvent: { events.add("\($0)") })
        let adopting =
            work == .adoption
            ? Adoption {
                try database.write(mistake.make)
                return nil
            } : Adoption { "1.0" }
        let manager = try MigrationManager(
            name: "Notes", currentVersion: "2.0", adopting: adopting, store: store, options: options)
        try work.register(mistake, in: manager, database)
        var failure: MigrationError?
        do {
            try await manager.migrate()
            failure = try await manager.runDeferred().failures.first
        } catch let error as MigrationError { failure = error }
        let error = try #require(failure)
        #expect(error.message.contains(mistake.words), "\(error.message)")
        for text in ["\(error)", error.debugDescription] + events.lines {
            #expect(!text.contains(Self.secret))
        }
    }

    @Test(
        "are in no error of a .sql file",
        arguments: [
            (
                "INSERT INTO note SELECT id, body FROM note",
                "2_b.sql:1: UNIQUE constraint failed: note.id (SQLite 1555)."
            ),
            (
                "-- migrations: redefine\nCREATE TABLE person(name TEXT PRIMARY KEY CHECK (length(name) < 5)) WITHOUT ROWID",
                """
                2_b.sql:2: The rows of table person break its new definition: CHECK (length(name) < 5) fails in 1 row.
                """
            ),
        ])
    func file(sql: String, message: String) throws {
        let schema = try SchemaMigrator(
            migrations: [
                ExecutedSQL(version: 1, sql: Self.tables), SQLMigration(version: 2, name: "b", sql: sql),
            ], adopting: SchemaAdoption { _ in 1 })
        let error = try failure { try schema.migrate(database) }
        #expect(error.message == message)
        for text in ["\(error)", error.debugDescription] { #expect(!text.contains(Self.secret)) }
    }
}
