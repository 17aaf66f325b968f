#if os(Linux)
    import AppMigrations
    import Foundation
    import GRDB
    import SchemaMigrations
    import TestSupport
    import TestTraits
    import Testing

    @Suite("A disk", .timed, .needs(.smallDisk))
    final class DiskTests {
        let folder: TemporaryFolder
        let disk: SmallDisk
        let schema: SchemaMigrator

        init() throws {
            folder = try TemporaryFolder()
            disk = try SmallDisk(at: folder.file("disk").path, size: "200k")
            schema = try SchemaMigrator(migrations: [
                SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x)"),
                SQLMigration(
                    version: 2, name: "b",
                    sql: """
                        CREATE TABLE b(x);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
                        INSERT INTO b SELECT i FROM n;
                        """),
            ])
        }

        deinit { disk.remove() }

        private var diskURL: URL { folder.file("disk") }

        private func queue() throws -> DatabaseQueue {
            var configuration = Configuration()
            // A small cache, so that a statement writes before the commit in every build of SQLite.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 20") }
            return try DatabaseQueue(
                path: diskURL.appendingPathComponent("library.sqlite").path, configuration: configuration)
        }

        @Test("that is full loses no data, and the run continues when there is room")
        func full() throws {
            try schema.migrate(queue(), upTo: 1)
            let error = try #require(throws: MigrationError.self) { try schema.migrate(queue()) }
            #expect(error.code == .diskFull)
            #expect(
                error.description
                    == "2_b.sql:2: database or disk is full (SQLite 13). The disk is full. Free some space, then retry."
            )
            #expect(try queue().read(schema.status).appliedVersions == [1])

            try disk.mount(size: "20m")
            #expect(try schema.migrate(queue()).applied == [2])
        }

        @Test("that has no room for a journal is full, though SQLite does not say so")
        func noRoomForJournal() throws {
            let queue = try queue()
            try schema.migrate(queue, upTo: 1)
            let url = diskURL.appendingPathComponent("filled")
            func launch(_ version: AppVersion) throws {
                let manager = try MigrationManager(
                    name: "Library", currentVersion: version, adopting: .newApp, store: .database(queue),
                    options: MigrationOptions(ignoresStepsAboveCurrent: true))
                manager.whenMigratingToVersion("2.0", in: queue) { db in
                    try Data().write(to: url)
                    try db.execute(sql: "INSERT INTO a VALUES (1)")
                }
                try manager.migrate()
            }
            try launch("1.0")
            for room in [0, 1] {
                try disk.leaveFiles(room)
                // The second time, the error of a step that has failed by itself would ask for a fix.
                for _ in 1...2 {
                    try? FileManager.default.removeItem(at: url)
                    let error = try #require(throws: MigrationError.self) { try launch("2.0") }
                    #expect(error.code == .diskFull && error.advice == .freeSpace, "\(error)")
                }
                try? FileManager.default.removeItem(at: url)
            }
            try disk.leaveFiles(0)
            let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
            #expect(error.code == .diskFull, "\(error)")

            try disk.mount(size: "20m")
            try disk.leaveFiles(100)
            try launch("2.0")
            #expect(try schema.migrate(queue).applied == [2])
            #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT x FROM a") } == [1])
        }

        @Test("that is read-only is an error, and the run continues when it is writable")
        func readOnly() throws {
            try schema.migrate(queue(), upTo: 1)
            try disk.mount(size: "20m", readOnly: true)
            let error = try #require(throws: MigrationError.self) { try schema.migrate(queue()) }
            #expect(
                error.remedy == "Make the file and its folder writable, and open it for writing, then retry.")
            #expect(try schema.migrate(queue(), upTo: 1).applied == [], "nothing pending needs no writing")

            try disk.mount(size: "20m")
            #expect(try schema.migrate(queue()).applied == [2])
        }

        @Test("that has no room for the backup or is read-only is reported before anything changes")
        func copies() throws {
            let queue = try DatabaseQueue(path: folder.file("library.sqlite").path)
            try schema.migrate(queue)
            var next = try SchemaMigrator(
                migrations: schema.migrations + [
                    SQLMigration(version: 3, name: "c", sql: "CREATE TABLE c(x)")
                ])
            next.options.backupFolder = diskURL
            let full = try #require(throws: MigrationError.self) { try next.migrate(queue) }
            #expect(full.code == .diskFull)
            #expect(
                full.description.contains(
                    #/^A copy of library\.sqlite needs \d+ bytes, and \d+ are free\. Free some space, then migrate again\. Nothing was changed\.$/#
                ), "\(full)")

            try disk.mount(size: "20m", readOnly: true)
            let readOnly = try #require(throws: MigrationError.self) { try next.migrate(queue) }
            #expect(readOnly.code == .unwritable)
            #expect(readOnly.message.hasPrefix("library.sqlite cannot be copied to \(diskURL.path): "))
            #expect(try queue.read(next.status).appliedVersions == [1, 2])

            try disk.mount(size: "20m")
            #expect(try next.migrate(queue).applied == [3])
        }
    }
#endif
