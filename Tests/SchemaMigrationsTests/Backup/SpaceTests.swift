import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The free space that a migration requires", .timed)
struct SpaceTests {
    private func schema(_ space: SchemaOptions.Space) throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: [
                SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x)"),
                SQLMigration(version: 2, name: "b", sql: "CREATE TABLE b(x)"),
            ], options: SchemaOptions(space: space))
    }

    @Test(
        "is checked before anything changes",
        arguments: [SchemaOptions.Space.require(times: 1e15), .requireBytes(.max)])
    func tooLittle(space: SchemaOptions.Space) throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("app.sqlite").path)
        try schema(.unchecked).migrate(queue, upTo: 1)
        let before = try Data(contentsOf: folder.file("app.sqlite"))
        let error = try #require(throws: SchemaMigrationError.self) { try schema(space).migrate(queue) }
        #expect(error.code == .diskFull)
        #expect(
            error.description.replacing(#/\d+ bytes/#, with: "N bytes").replacing(
                #/and \d+ are/#, with: "and N are") == """
                    app.sqlite may need N bytes while it is migrated, and N are free. Free some space, then migrate again. \
                    Nothing was changed.
                    """)
        #expect(try Data(contentsOf: folder.file("app.sqlite")) == before)
        // Nothing is pending for this version, and so nothing is checked.
        #expect(try schema(space).migrate(queue, upTo: 1).applied == [])
    }

    @Test("does not matter if there is enough, or the database is in memory")
    func enough() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("app.sqlite").path)
        #expect(try schema(.require()).migrate(queue).applied == [1, 2])
        #expect(try schema(.requireBytes(.max)).migrate(DatabaseQueue()).applied == [1, 2])
    }

    #if os(Linux)
        @Test(
            "is twice the size of the database",
            .needs(.smallDisk))
        func twice() throws {
            let folder = try TemporaryFolder()
            let disk = try SmallDisk(at: folder.file("disk").path)
            defer { disk.remove() }
            let queue = try DatabaseQueue(path: folder.file("disk/app.sqlite").path)
            try schema(.unchecked).migrate(queue, upTo: 1)
            try queue.write { try $0.execute(sql: "INSERT INTO a VALUES (zeroblob(1000000))") }
            try disk.leave(1_500_000)
            #expect(throws: SchemaMigrationError.self) { try schema(.require()).migrate(queue) }
            try disk.leave(2_500_000)
            #expect(try schema(.require()).migrate(queue).applied == [2])
        }
    #endif
}
