import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database that began with a snapshot or was adopted, when its lowest migration is undone", .timed)
struct LedgerFloorTests {
    private let folder: TemporaryFolder
    private let database: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        database = try DatabaseQueue()
    }

    /// A migrator of migrations that each make a table, and can be undone.
    private func migrator(
        _ versions: [SchemaVersion], squashed: [SchemaVersion] = [], snapshot: Bool = false
    ) throws -> SchemaMigrator {
        func make(_ version: SchemaVersion) -> String { "CREATE TABLE t\(version)(x);\n" }
        var migrations = versions.map { version in
            SQLMigration(
                version: version, name: "f\(version)", sql: make(version), down: "DROP TABLE t\(version)")
        }
        if let last = squashed.last {
            let header = squashed.map { "-- replaces: \($0) f\($0)\n" }.joined()
            migrations.append(
                SQLMigration(version: last, name: "baseline", sql: header + squashed.map(make).joined()))
        }
        var url = Optional(folder.url.appendingPathComponent("snapshot.sql"))
        if snapshot, let url {
            let text = versions.map { "-- snapshot: \($0) f\($0)\n" } + versions.map(make)
            try text.joined().write(to: url, atomically: true, encoding: .utf8)
        } else {
            url = nil
        }
        return try SchemaMigrator(
            migrations: migrations, snapshot: url, options: SchemaOptions(newerDatabases: .rollBack),
            adopting: SchemaAdoption { _ in versions.last })
    }

    /// The ways in which a database gets the migrations 2 and 4 without having run them.
    enum Beginning: CaseIterable {
        case snapshot, adoption
    }

    private func begin(_ beginning: Beginning) throws {
        switch beginning {
        case .snapshot: try migrator([2, 4], snapshot: true).migrate(database)
        case .adoption:
            try database.write { try $0.execute(sql: "CREATE TABLE t2(x); CREATE TABLE t4(x)") }
            try migrator([2, 4]).migrate(database)
        }
        #expect(try database.ledger() == [2, 4])
    }

    @Test("gets what is above it, and nothing below", arguments: Beginning.allCases)
    func between(_ beginning: Beginning) throws {
        try begin(beginning)
        let report = try migrator([1, 3, 4]).migrate(database)
        #expect(report.undone == [2])
        #expect(report.applied == [3])
        #expect(try database.read(migrator([1, 3, 4]).status).pendingVersions == [])
    }

    @Test("gets it again when it comes back", arguments: Beginning.allCases)
    func comesBack(_ beginning: Beginning) throws {
        try begin(beginning)
        #expect(try migrator([1, 4]).migrate(database).undone == [2])
        #expect(try migrator([1, 2, 4]).migrate(database).applied == [2])
        #expect(try migrator([1, 4]).migrate(database).undone == [2])
        #expect(try migrator([1, 2, 3, 4]).migrate(database).applied == [2, 3])
    }

    @Test("keeps nothing below from running that had not been there before")
    func replayed() throws {
        try migrator([2]).migrate(database)
        try migrator([2, 4]).markApplied(database, upTo: 4)
        let report = try migrator([1, 3, 4]).migrate(database)
        #expect(report.undone == [2])
        #expect(report.applied == [1, 3])
    }

    @Test("is too old for a build that has squashed it")
    func squashed() throws {
        try begin(.snapshot)
        #expect(try migrator([4]).rollback(database, to: 4) == [])
        #expect(try migrator([1, 4]).migrate(database).undone == [2])
        let error = try #require(throws: MigrationError.self) {
            try migrator([], squashed: [2, 4]).migrate(database)
        }
        #expect(error.code == .tooOld)
        #expect(error.message.contains("without migration 2"), "\(error.message)")
    }

    @Test("begins where it began, when everything is rolled back")
    func everything() throws {
        try begin(.adoption)
        #expect(try migrator([2, 4]).rollback(database, to: 0) == [4, 2])
        #expect(try database.ledger() == [])
        #expect(try migrator([1, 2, 4]).migrate(database).applied == [2, 4])
    }
}
