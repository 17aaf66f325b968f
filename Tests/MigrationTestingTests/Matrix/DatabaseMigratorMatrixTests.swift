import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("An upgrade matrix of GRDB's migrator", .timed)
struct DatabaseMigratorMatrixTests {
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("createBook") { db in
            try db.create(table: "book") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("title", .text).notNull()
            }
        }
        migrator.registerMigration("createDraft") { db in
            try db.create(table: "draft") { $0.column("text", .text) }
            try db.execute(sql: "INSERT INTO draft VALUES ('first')")
        }
        migrator.registerMigration("moveDrafts") { db in
            for text in try String.fetchAll(db, sql: "SELECT text FROM draft WHERE text IS NOT NULL") {
                try db.execute(sql: "INSERT INTO book(title) VALUES (?)", arguments: [text])
            }
            try db.drop(table: "draft")
        }
        return migrator
    }

    private func problem(_ matrix: UpgradeMatrix) throws -> String {
        try #require(throws: UpgradeMatrixError.self) { try matrix.run() }.description
    }

    @Test("upgrades generated rows from every migration, and names the identifiers")
    func table() throws {
        let counts = RowCounts.unchanged(except: [
            .dropped("draft", by: "moveDrafts"), .uncounted("book", by: "moveDrafts"),
        ])
        let report = try UpgradeMatrix(of: Self.migrator, rowCounts: counts).run()
        #expect(
            report.description.withoutTimes == """
                3 upgrades, each ends where a fresh install does
                  ✓   createBook    replay  20 rows  2 migrations TIME
                  ✓  createDraft    replay  41 rows   1 migration TIME
                  ✓   moveDrafts    replay  21 rows  0 migrations TIME
                """)
    }

    @Test("states the change of rows that a migration makes, by its identifier")
    func rowCounts() throws {
        let text = try problem(UpgradeMatrix(of: Self.migrator, from: ["createDraft"]))
        #expect(
            text.contains(
                "moveDrafts removes table `draft`, which had 21 rows, in the upgrade from createDraft."))
        #expect(text.contains(".dropped(\"draft\", by: \"moveDrafts\")"), "\(text)")
    }

    @Test("finds a migration that does something else where there are rows")
    func drift() throws {
        var migrator = Self.migrator
        migrator.registerMigration("index") { db in
            if try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM book WHERE id > 1)") ?? true {
                try db.create(index: "by_title", on: "book", columns: ["title"])
            }
        }
        let text = try problem(UpgradeMatrix(of: migrator, from: ["createBook"]))
        #expect(text.contains("index `by_title` is missing after upgrading from createBook"), "\(text)")
    }

    @Test("takes rows that the app writes, and refuses an identifier that nothing has")
    func wrong() throws {
        let text = try problem(UpgradeMatrix(of: Self.migrator, from: ["createBook", "gone"]))
        #expect(
            text.contains("The matrix starts at version gone, which no migration has"), "\(text)")
        let rows = try UpgradeMatrix(
            of: Self.migrator, from: ["createBook"],
            filledWith: .rows { db, version in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('from \(version)')")
            },
            rowCounts: .unchanged(except: [
                .dropped("draft", by: "moveDrafts"), .changed("book", by: "moveDrafts") { $0 + 1 },
            ])
        ).run()
        #expect(rows.upgrades.map(\.rows) == [1])
    }

    @Test("upgrades fixtures, which FixtureMaker makes from databases of GRDB's migrator")
    func fixtures() throws {
        let folder = try TemporaryFolder()
        let real = try DatabaseQueue()
        try Self.migrator.migrate(real, upTo: "createDraft")
        _ = try real.write { try RowGenerator(rowsPerTable: 5).fill($0) }
        try FixtureMaker().write(real, to: folder.file("1.0.sqlite"))
        let report = try UpgradeMatrix(
            of: Self.migrator, from: [], fixtures: folder.url,
            rowCounts: .unchanged(except: [
                .dropped("draft", by: "moveDrafts"), .uncounted("book", by: "moveDrafts"),
            ])
        ).run()
        #expect(report.upgrades.map(\.start.description) == ["createDraft (fixture 1.0.sqlite)"])
        #expect(report.upgrades.map(\.applied) == [1])
    }

    @Test("launches the manager, with its steps and its deferred work")
    func manager() throws {
        let migrator = Self.migrator
        let report = try UpgradeMatrix(
            of: migrator, filledWith: .generatedRows(perTable: 25),
            rowCounts: .unchanged(except: [
                .dropped("draft", by: "moveDrafts"), .uncounted("book", by: "moveDrafts"),
            ]),
            launching: { database, version in
                let manager = try MigrationManager(
                    currentVersion: "2.0", adopting: Adoption { version == 0 ? nil : "1.0" },
                    store: .inMemory())
                manager.whenMigratingToVersion("1.0", migrate: migrator, in: database)
                manager.afterMigratingToVersion("2.0", in: database, overRowsOf: "book") { db, rows in
                    try db.execute(literal: "UPDATE book SET title = title || '!' WHERE \(rows.condition)")
                }
                return manager
            }
        ).run()
        #expect(report.upgrades.map(\.applied) == [2, 1, 0])
        #expect(report.upgrades.map(\.problems.count) == [0, 0, 0])
    }

    @Test("does not take the database of a migrator in development for a changed one")
    func erasing() throws {
        var migrator = Self.migrator
        migrator.eraseDatabaseOnSchemaChange = true
        let report = try UpgradeMatrix(
            of: migrator, from: ["createBook"],
            rowCounts: .unchanged(except: [
                .dropped("draft", by: "moveDrafts"), .uncounted("book", by: "moveDrafts"),
            ])
        ).run()
        #expect(report.upgrades.map(\.rows) == [20])
    }

    @Test("has a dry run that counts every migration which is out of order")
    func outOfOrderRehearsal() throws {
        func migrator(_ names: String...) -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            for name in names {
                migrator.registerMigration(name) { try $0.execute(sql: "CREATE TABLE \(name)(x)") }
            }
            return migrator
        }
        let queue = try DatabaseQueue()
        try migrator("a").migrate(queue)
        let progress = Progress(totalUnitCount: 0)
        let rehearsal = try migrator("late1", "late2", "a", "b").rehearse(queue, progress: progress)
        #expect(rehearsal.steps.map(\.name) == ["late1", "late2", "b"])
        #expect(progress.completedUnitCount == 3 && progress.totalUnitCount == 3)
    }

    @Test("has a dry run that is cancelled inside a migration, which notices")
    func cancelledRehearsal() throws {
        let progress = Progress(totalUnitCount: 0)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("slow") { _ in
            progress.cancel()
            throw CancellationError()
        }
        #expect(throws: CancellationError.self) {
            try migrator.rehearse(DatabaseQueue(), progress: progress)
        }
    }

    @Test("has a dry run on a copy, and changes nothing")
    func rehearsal() throws {
        let queue = try DatabaseQueue()
        try Self.migrator.migrate(queue, upTo: "createDraft")
        try queue.write { try $0.execute(sql: "INSERT INTO draft VALUES ('a'), ('b')") }
        var migrator = Self.migrator
        migrator.registerMigration("rename") { db in
            try db.rename(table: "book", to: "work")
            try db.execute(sql: "UPDATE work SET title = upper(title)")
        }
        let rehearsal = try migrator.rehearse(queue)
        #expect(rehearsal.steps.map(\.name) == ["moveDrafts", "rename"])
        #expect(rehearsal.losses == ["table `draft` is gone, and had 3 rows"])
        #expect(rehearsal.rows.map(\.table) == ["book", "draft"])
        #expect(try migrator.rehearse(queue, upTo: "moveDrafts").steps.map(\.version) == [3])
        #expect(try queue.read(migrator.appliedMigrations) == ["createBook", "createDraft"])
        let error = try #require(throws: MigrationError.self) {
            try migrator.rehearse(queue, upTo: "gone")
        }
        #expect(
            error.description == "No migration is registered as gone. Pass an identifier of the migrator.")
    }

    @Test("rehearses what is out of order, and a migration that fails")
    func outOfOrder() throws {
        let queue = try DatabaseQueue()
        try Self.migrator.migrate(queue)
        try queue.write {
            try $0.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'createDraft'")
        }
        let rehearsal = try Self.migrator.rehearse(queue)
        #expect(rehearsal.steps.map(\.name) == ["createDraft"])
        var migrator = Self.migrator
        migrator.registerMigration("wrong") { try $0.execute(sql: "DROP TABLE nothing") }
        #expect(throws: MigrationError.self) { try migrator.rehearse(queue) }
    }
}
