import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestTraits
import Testing

@Suite("A deferred step over rows", .timed)
struct DeferredOrderTests {
    @Test("reaches the rows that were written before the step before it was done")
    func rowsWrittenMeanwhile() async throws {
        let app = try App()
        let database = try app.open()
        try app.launch("1.0")
        try await database.write { try $0.execute(sql: "INSERT INTO book(title) VALUES ('old')") }
        func manager() throws -> MigrationManager {
            let manager = try app.manager("2.0")
            manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
            manager.afterMigratingToVersion("1.5") { _ in
                try await database.write { try $0.execute(sql: "UPDATE book SET author = NULL") }
            }
            manager.afterMigratingToVersion("2.0", in: database, overRowsOf: "book") { db, rows in
                try db.execute(
                    literal: "UPDATE book SET author = 'filled' WHERE \(rows.condition) AND author IS NULL")
            }
            return manager
        }
        try await manager().migrate()
        try await database.write {
            try $0.execute(sql: "INSERT INTO book(title, author) VALUES ('new', 'own')")
        }
        let report = try await manager().runDeferred()
        #expect(report.completed.map(\.version) == ["1.5", "2.0"])
        let authors = try await database.read { try String.fetchAll($0, sql: "SELECT author FROM book") }
        #expect(authors == ["filled", "filled"])
    }
}
