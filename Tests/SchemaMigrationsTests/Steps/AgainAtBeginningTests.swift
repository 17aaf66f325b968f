import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// A record begins in an install that the manager has not known, or knows no longer; the next step drops what the rows need.
@Suite("A step that counts as done where a record begins, and is needed again", .timed)
struct AgainAtBeginningTests {
    private let folder: TemporaryFolder
    private let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private func makeRows() throws {
        try queue.execute(
            """
            CREATE TABLE entry(id INTEGER PRIMARY KEY, old TEXT, new TEXT);
            INSERT INTO entry(old, new) VALUES ('A', 'a'), ('LATE', NULL);
            """)
    }

    private func manager(
        _ version: AppVersion, adopting: Adoption = .newApp, store: MigrationStore? = nil
    ) throws -> MigrationManager {
        try MigrationManager(
            name: "Diary", currentVersion: version, adopting: adopting,
            store: store ?? .jsonFile(at: folder.file("record.json")))
    }

    private func addSteps(to manager: MigrationManager, dropsOld: Bool = true) {
        manager.whenMigratingToVersion("2.0", in: queue, again: Self.isOld) { db in
            try db.execute(sql: "UPDATE entry SET new = lower(old) WHERE new IS NULL")
        }
        guard dropsOld else { return }
        manager.whenMigratingToVersion("3.0", in: queue) { db in
            try db.execute(sql: "ALTER TABLE entry DROP COLUMN old")
        }
    }

    private static let isOld: @Sendable (Database) throws -> Bool = { db in
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE new IS NULL)") ?? false
    }

    private func expectBoth(_ manager: MigrationManager) throws {
        #expect(try manager.pending().map(\.work.version) == ["2.0", "3.0"])
        #expect(try manager.migrate().completed.versions == ["2.0", "3.0"])
        #expect(
            try queue.read { try String.fetchAll($0, sql: "SELECT new FROM entry ORDER BY id") } == [
                "a", "late",
            ])
    }

    @Test("runs before later steps where the app adopts an install")
    func adoption() throws {
        try makeRows()
        let manager = try manager("3.0", adopting: Adoption { "2.5" })
        addSteps(to: manager)
        try expectBoth(manager)
    }

    @Test("runs in the launch that adopts an install, though nothing else is pending")
    func alone() throws {
        try makeRows()
        let manager = try manager("3.0", adopting: Adoption { "2.5" })
        addSteps(to: manager, dropsOld: false)
        #expect(try manager.migrate().completed.versions == ["2.0"])
    }

    @Test("runs before later steps where the app replaces a damaged record")
    func replaced() throws {
        try manager("1.0", store: .database(queue)).migrate()
        try makeRows()
        let before = try manager("2.0", store: .database(queue))
        addSteps(to: before, dropsOld: false)
        try before.migrate()
        try queue.execute(
            """
            INSERT INTO entry(old) VALUES ('LATE'); DELETE FROM entry WHERE id = 2;
            UPDATE app_migrations SET value = '{' WHERE part = 'managers'; DROP TABLE app_migrations_mirror;
            """)
        let manager = try manager("3.0", store: .database(queue))
        addSteps(to: manager)
        #expect(throws: MigrationError.self) { try manager.migrate() }
        try manager.replaceRecord(assuming: "2.0")
        try expectBoth(manager)
    }

    @Test("runs before later steps where the app has moved it into a database", arguments: [false, true])
    func moved(isStore: Bool) throws {
        let store: MigrationStore? = isStore ? .database(queue) : nil
        try manager("1.0", store: store).migrate()
        try makeRows()
        let before = try manager("2.0", store: store)
        before.whenMigratingToVersion("2.0", again: { false }, run: {})
        try before.migrate()
        let manager = try manager("3.0", adopting: Adoption { "1.0" }, store: store)
        addSteps(to: manager)
        try expectBoth(manager)
    }

    @Test("does not run on a fresh install, whose tables are not there yet")
    func freshInstall() throws {
        let manager = try manager("3.0")
        addSteps(to: manager)
        #expect(try manager.migrate().completed.isEmpty)
    }
}
