import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import Testing

@Suite("A folder with migrations in Swift", .timed)
struct CodeFileTests {
    private func folder(_ names: String...) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in names { try Data("SELECT 1".utf8).write(to: folder.file(name)) }
        return folder
    }

    @Test("has them in their place, called by their files, and cannot run them")
    func order() throws {
        let folder = try folder("1_a.sql", "2_AddMoods.swift", "3_c.sql")
        let schema = try SchemaMigrator(sourcesIn: folder.url)
        #expect(schema.migrations.map(\.title) == ["1_a.sql", "2_AddMoods.swift", "3_c.sql"])
        #expect(schema.migrations.map(\.name) == ["a", "AddMoods", "c"])
        let queue = try DatabaseQueue()
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(
            error.description == """
                2_AddMoods.swift: is written in Swift, and only the app can run it. Let the app migrate the database, or \
                migrate up to the version before it.
                """)
        #expect(error.committed == [1])
    }

    @Test(
        "is refused when a name is malformed, or when two files have the same version",
        arguments: [
            (["99999999999999999999_b.swift", "2_b.sql"], MigrationError.Code.invalidMigration),
            (["1_a.swift", "1_b.swift"], .invalidMigration),
        ])
    func refusals(names: [String], code: MigrationError.Code) throws {
        let folder = try TemporaryFolder()
        for name in names { try Data("SELECT 1".utf8).write(to: folder.file(name)) }
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(sourcesIn: folder.url)
        }
        #expect(error.code == code)
    }

    @Test("must exist")
    func missing() throws {
        let folder = try TemporaryFolder()
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(sourcesIn: folder.file("nowhere"))
        }
        #expect(error.code == .invalidMigration)
    }
}
