import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A read-only database", .timed)
struct BridgeReadOnlyTests {
    @Test("stops the launch before its first step, without counting an attempt")
    func unwritableDatabase() throws {
        let app = try App()
        try app.launch("1.0")
        var configuration = Configuration()
        configuration.readonly = true
        let readOnly = try DatabaseQueue(path: app.databaseURL.path, configuration: configuration)

        func launch(_ database: DatabaseQueue) throws -> MigrationReport {
            let manager = try app.manager("1.2")
            manager.whenMigratingToVersion("1.1") { [log = app.log] context in
                log.add("1.1 attempt \(context.attempt)")
            }
            manager.whenMigratingToVersion("1.2", in: database) { [log = app.log] _, context in
                log.add("1.2 attempt \(context.attempt)")
            }
            return try manager.migrate()
        }
        for _ in 1...4 {
            let error = try #require(throws: MigrationError.self) { try launch(readOnly) }
            #expect(error.code == .unwritable)
            #expect(
                error.message
                    == "library.sqlite: cannot be written: attempt to write a readonly database (SQLite 8).")
        }
        #expect(app.log.lines == [])
        #expect(try MigrationStore.jsonFile(at: app.storeURL).record(of: "Library")?.attempts == [:])
        #expect(try launch(app.open()).completed.versions == ["1.1", "1.2"])
        #expect(app.log.lines == ["1.1 attempt 1", "1.2 attempt 1"])
    }
}
