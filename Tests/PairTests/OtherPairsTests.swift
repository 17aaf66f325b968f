import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Pairs of features", .timed)
struct OtherPairsTests {
    private func matrix(_ app: NotesApp, in folder: URL) throws -> UpgradeReport {
        @Sendable func manager(_ queue: DatabaseQueue) throws -> MigrationManager {
            let manager = try MigrationManager(
                name: "Notes", currentVersion: "2.0", adopting: .databaseHasTables(queue, means: "1.0"),
                store: .inMemory())
            try app.registerAll(on: manager, in: folder, queue)
            manager.whenMigratingToVersion("2.0-3") {}
            return manager
        }
        return app.schema == .grdb
            ? try UpgradeMatrix(of: app.migrator("2.0")) { queue, _ in try manager(queue) }.run()
            : try UpgradeMatrix(of: app.files("2.0", in: folder)) { queue, _ in try manager(queue) }.run()
    }

    @Test(
        "a matrix runs steps, cursors and migrations in Swift",
        arguments: NotesApp.Schema.allCases.filter { $0 != .redefinition })
    func matrix(schema: NotesApp.Schema) throws {
        let folder = try TemporaryFolder()
        let report = try matrix(NotesApp(schema: schema), in: folder.url)
        #expect(report.upgrades.flatMap(\.problems).isEmpty)
        #expect(report.upgrades.count == (schema == .snapshot ? 3 : 2))
    }

    @Test("a matrix finds the rows that a redefinition refuses")
    func matrixOfRedefinition() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: UpgradeMatrixError.self) {
            try matrix(NotesApp(schema: .redefinition), in: folder.url)
        }
        #expect(error?.description.contains("column text is NULL in 3 rows") == true)
    }

    @Test("a deferred closure may follow a schema step by GRDB's migrator")
    func grdbAndClosure() async throws {
        let app = NotesApp(schema: .grdb, works: [])
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: NotesApp.path(in: folder.url))
        for version in ["1.0", "2.0"] as [AppVersion] {
            let manager = try app.manager(version, in: folder.url, queue)
            if version == "2.0" {
                manager.afterMigratingToVersion("2.0") { _ in
                    try await queue.write { try $0.execute(sql: "UPDATE note SET text = text || 'x'") }
                }
            }
            try await manager.migrate()
            _ = try await manager.runDeferred()
        }
        #expect(try app.texts(in: folder.url) == NotesApp.texts("x"))
    }

    @Test("an extension waits until the app has run GRDB's migrations")
    func grdbAndWaiting() throws {
        let app = NotesApp(schema: .grdb, works: [.step])
        let device = try app.device()
        try device.launch(as: "1.0")
        func wait() throws {
            try app.open(in: device.folder) { queue in
                let manager = try MigrationManager(
                    name: "Notes", currentVersion: "2.0", adopting: .newApp,
                    store: .jsonFile(at: device.folder.appendingPathComponent("migrations.json")),
                    options: MigrationOptions(role: .waitsForApp))
                manager.whenMigratingToVersion(migrate: app.migrator("2.0"), in: queue)
                try manager.migrate()
            }
        }
        let error = #expect(throws: MigrationError.self) { try wait() }
        #expect(error?.code == .notYetMigrated)
        #expect(
            try app.open(in: device.folder) { try $0.strings("SELECT identifier FROM grdb_migrations") } == [
                "notes"
            ])
        try device.launch(as: "2.0")
        try wait()
    }

    @Test("a replaced record leaves the ledger to say what has run", arguments: NotesApp.Schema.allCases)
    func replaceRecord(schema: NotesApp.Schema) throws {
        let app = NotesApp(schema: schema)
        let device = try app.device()
        try device.launch(as: "1.0")
        try device.launch(as: "2.0")
        try Data("{".utf8).write(to: device.folder.appendingPathComponent("migrations.json"))
        #expect(throws: MigrationError.self) { try device.launch(as: "2.0") }
        try app.open(in: device.folder) {
            try app.manager("2.0", in: device.folder, $0).replaceRecord(assuming: "2.0")
        }
        try app.writeOldNote(in: device.folder)
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc") + ["late dr"])
    }

    @Test(
        "a step may be skipped after a newer app has used the database", arguments: NotesApp.Schema.allCases)
    func skipAndNewer(schema: NotesApp.Schema) throws {
        let app = NotesApp(schema: schema, works: [.step], ignoresStepsAboveCurrent: true)
        let device = try app.device()
        try device.launch(as: "1.0")
        // Only the schema is newer, as by a tool.
        try app.migrateTables(to: "2.0", in: device.folder)
        try device.launch(as: "1.0")
        try app.open(in: device.folder) { try app.manager("2.0", in: device.folder, $0).skip("2.0") }
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts(""))
    }

    @Test(
        "adopting an older app's tables comes before any of its migrations",
        arguments: NotesApp.Schema.allCases)
    func adopting(schema: NotesApp.Schema) throws {
        let app = NotesApp(
            schema: schema, onFreshInstall: .skip, adopting: { .databaseHasTables($0, means: "1.0") })
        let device = try app.device()
        // The older app had no manager.
        try app.migrateTables(to: "1.0", in: device.folder)
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"))
    }

    @Test(
        "a database that is adopted may be of a newer app, which stops the launch",
        arguments: NotesApp.Schema.allCases)
    func adoptingNewer(schema: NotesApp.Schema) throws {
        let app = NotesApp(schema: schema, adopting: { .databaseHasTables($0, means: "1.0") })
        let device = try app.device()
        try app.migrateTables(to: "2.0", in: device.folder)
        try device.launch(as: "1.0")
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"))
    }

    @Test("a step that redefines a table may run again")
    func rerunAndRedefine() throws {
        var app = NotesApp(works: [])
        app.more = { manager, queue in
            guard manager.currentVersion >= "2.0" else { return }
            manager.whenMigratingToVersion("2.0", in: queue) { db in
                try db.redefine(table: "note", as: NotesApp.definition)
                try db.execute(sql: "UPDATE note SET text = text || 'x'")
            }
        }
        let device = try app.device()
        try device.launch(as: "1.0")
        try device.launch(as: "2.0")
        try app.open(in: device.folder) { try app.manager("2.0", in: device.folder, $0).rerun("2.0") }
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("xx"))
    }

    @Test("a tables' ledger of another library is adopted", arguments: [false, true])
    func ledgerAdopting(isNewer: Bool) throws {
        let folder = try TemporaryFolder()
        let queue = try folder.queue()
        try queue.execute("\(NotesApp.notes) PRAGMA user_version = \(isNewer ? 9 : 1)")
        let redefinition = CodeMigration(2, "notNull") {
            try $0.redefine(table: "note", as: NotesApp.definition)
        }
        let schema = try SchemaMigrator(
            migrations: [SQLMigration(version: 1, name: "notes", sql: NotesApp.notes), redefinition],
            adopting: .userVersion(means: [1: 1]))
        if isNewer {
            let error = #expect(throws: MigrationError.self) { try schema.migrate(queue) }
            #expect(error?.code == .newerThanThisProcess)
            #expect(try queue.tables().contains("schema_migrations") == false)
        } else {
            #expect(try schema.migrate(queue).applied == [2])
        }
        #expect(try queue.strings("SELECT text FROM note ORDER BY id") == NotesApp.texts(""))
    }

    @Test("a salvaged database of another library is adopted", arguments: [false, true])
    func salvagingAndAdopting(inSwift: Bool) throws {
        let folder = try TemporaryFolder()
        let app = NotesApp()
        try app.open(in: folder.url) { try $0.execute("\(NotesApp.notes) PRAGMA user_version = 1") }
        let index: any SchemaMigration =
            inSwift
            ? CodeMigration(2, "index") { try $0.execute(sql: NotesApp.index) }
            : SQLMigration(version: 2, name: "index", sql: NotesApp.index)
        let schema = try SchemaMigrator(
            migrations: [SQLMigration(version: 1, name: "notes", sql: NotesApp.notes), index],
            adopting: .userVersion(means: [1: 1]))
        try app.damage(in: folder.url)
        _ = try DatabaseFile(path: NotesApp.path(in: folder.url)).salvage(into: schema)
        #expect(try app.open(in: folder.url) { try schema.migrate($0).applied } == [2])
        #expect(try app.texts(in: folder.url) == NotesApp.texts(""))
    }

    @Test(
        "what is skipped stays skipped in a salvaged database, and what runs again does",
        arguments: [false, true])
    func salvagingAndAnswers(isRerun: Bool) throws {
        let app = NotesApp(works: [.cursor])
        let device = try app.device()
        try device.launch(as: "1.0")
        if isRerun { try device.launch(as: "2.0") }
        try app.open(in: device.folder) { queue in
            let manager = try app.manager("2.0", in: device.folder, queue)
            if isRerun { try manager.rerun("2.0-2") } else { try manager.skip("2.0-2") }
        }
        try app.salvage(in: device.folder, for: "2.0")
        try device.launch(as: "2.0")
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts(isRerun ? "cc" : ""))
    }

    @Test("a backup is made before a baseline's later migrations, and none for a new database")
    func backups() throws {
        let folder = try TemporaryFolder()
        let queue = try folder.queue()
        let backups = folder.url.appendingPathComponent("Backups")
        let options = SchemaOptions(newerDatabases: .allow, backupFolder: backups)
        let notes = SQLMigration(version: 1, name: "notes", sql: NotesApp.notes)
        func count() -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: backups.path).count) ?? 0
        }
        try SchemaMigrator(migrations: [notes], options: options).migrate(queue)
        #expect(count() == 0)
        let tags = SQLMigration(version: 2, name: "tags", sql: NotesApp.tags)
        try SchemaMigrator(migrations: [notes, tags], options: options).migrate(queue)
        #expect(count() == 1)
        let redefinition = CodeMigration(3, "notNull") {
            try $0.redefine(table: "note", as: NotesApp.definition)
        }
        let schema = try SchemaMigrator(migrations: [NotesApp.baseline, redefinition], options: options)
        let report = try schema.migrate(queue)
        #expect(report.applied == [3])
        let backup = try #require(report.backup)
        try schema.restore(backup, to: queue)
        #expect(try queue.strings("SELECT text FROM note ORDER BY id") == NotesApp.texts(""))
        #expect(
            try queue.strings("SELECT sql FROM sqlite_schema WHERE name = 'note'") != [NotesApp.definition])
        #expect(try schema.migrate(queue).applied == [3])
    }

    @Test("a new database from a snapshot makes no backup, and its next migration makes one")
    func snapshotAndBackup() throws {
        let folder = try TemporaryFolder()
        let queue = try folder.queue()
        let url = folder.url.appendingPathComponent("snapshot.sql")
        let backups = folder.url.appendingPathComponent("Backups")
        let options = SchemaOptions(backupFolder: backups)
        let notes = SQLMigration(version: 1, name: "notes", sql: NotesApp.notes)
        let index = SQLMigration(version: 2, name: "index", sql: NotesApp.index)
        try SchemaMigrator(migrations: [notes]).writeSnapshot(to: url)
        #expect(
            try SchemaMigrator(migrations: [notes], snapshot: url, options: options).migrate(queue).backup
                == nil)
        let report = try SchemaMigrator(migrations: [notes, index], snapshot: url, options: options).migrate(
            queue)
        #expect(report.backup != nil)
        #expect(report.applied == [2])
    }

    @Test("a snapshot of a redefined table has its new definition")
    func snapshotAndRedefinition() throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("snapshot.sql")
        let redefinition = CodeMigration(2, "notNull") {
            try $0.redefine(table: "note", as: NotesApp.definition)
        }
        let migrations: [any SchemaMigration] = [
            SQLMigration(version: 1, name: "notes", sql: NotesApp.notes), redefinition,
        ]
        try SchemaMigrator(migrations: migrations).writeSnapshot(to: url)
        let queue = try folder.queue()
        #expect(try SchemaMigrator(migrations: migrations, snapshot: url).migrate(queue).applied == [1, 2])
        #expect(
            try queue.strings("SELECT sql FROM sqlite_schema WHERE name = 'note'") == [NotesApp.definition])
        #expect(try queue.strings("SELECT text FROM note ORDER BY id") == NotesApp.texts(""))
    }

    @Test("a review finds the same with a snapshot as without")
    func snapshotAndReview() throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("snapshot.sql")
        let migrations = [
            SQLMigration(version: 1, name: "notes", sql: NotesApp.notes),
            SQLMigration(version: 2, name: "drop", sql: "ALTER TABLE note DROP COLUMN mood;"),
        ]
        try SchemaMigrator(migrations: migrations).writeSnapshot(to: url)
        let without = try MigrationReview(of: SchemaMigrator(migrations: migrations), after: 1).findings
        let with = try MigrationReview(of: SchemaMigrator(migrations: migrations, snapshot: url), after: 1)
            .findings
        #expect(with.map(\.description) == without.map(\.description))
        #expect(!with.isEmpty)
    }

    /// Applies a migration that no release knows, as a newer app does.
    private func migrateFurther(_ app: NotesApp, _ device: SimulatedDevice) throws {
        try app.open(in: device.folder) { queue in
            let further = SQLMigration(version: 9, name: "further", sql: "CREATE TABLE further(x);")
            try SchemaMigrator(migrations: app.files("2.0", in: device.folder).migrations + [further])
                .migrate(queue)
        }
    }

    @Test(
        "what was half done is finished in a database that is newer by then, or was salvaged",
        arguments: [false, true])
    func finishing(isSalvaged: Bool) throws {
        for batches in 0...4 {
            let app = NotesApp()
            let device = try app.upgradedDevice(deferredBatches: batches)
            if isSalvaged {
                try app.salvage(in: device.folder, for: "2.0")
            } else {
                try migrateFurther(app, device)
            }
            try device.launch(as: "3.0")
            #expect(try app.texts(in: device.folder) == NotesApp.texts("drc3"), "after \(batches)")
        }
    }

    @Test(
        "what a new install needs is done where its first launch was killed and the database is newer or salvaged then",
        arguments: [false, true])
    func freshInstall(isSalvaged: Bool) throws {
        for moment in Array(6...500).sampled(oneIn: 8) {
            let app = NotesApp()
            let device = try app.device()
            guard try device.kill(atMoment: moment, launching: "2.0") else {
                #expect(moment > 10)
                return
            }
            let hasTables = try app.open(in: device.folder) { try $0.tables().contains("note") }
            if isSalvaged, hasTables {
                try app.salvage(in: device.folder, for: "2.0")
            } else if hasTables {
                try migrateFurther(app, device)
            }
            try device.launch(as: "2.0")
            #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"), "moment \(moment)")
        }
        Issue.record("the launch does not come to an end")
    }
}
