#if os(Linux)
    import Foundation
    import GRDB
    import Glibc
    import SchemaMigrations
    import TestSupport
    import Testing

    /// A small disk of its own.
    ///
    /// Only root may have one; where it may not, the tests are skipped.
    final class SmallDisk {
        let url: URL

        init?(options: String = "size=200k") {
            url = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)")
            guard
                (try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)) != nil,
                mount("tmpfs", url.path, "tmpfs", 0, options) == 0
            else {
                rmdir(url.path)
                return nil
            }
        }

        deinit {
            umount(url.path)
            rmdir(url.path)
        }

        func remount(_ options: String, readOnly: Int = 0) -> Bool {
            mount("tmpfs", url.path, "tmpfs", UInt(MS_REMOUNT | readOnly), options) == 0
        }

        static var isAllowed: Bool { SmallDisk() != nil }
    }

    @Suite("A disk", .enabled(if: SmallDisk.isAllowed))
    struct DiskTests {
        let disk: SmallDisk
        let schema: SchemaMigrator

        init() throws {
            disk = try #require(SmallDisk())
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

        private func queue() throws -> DatabaseQueue {
            try DatabaseQueue(path: disk.url.appendingPathComponent("library.sqlite").path)
        }

        @Test("that is full loses nothing, and the run goes on when there is room")
        func full() throws {
            try schema.migrate(queue(), upTo: 1)
            let error = try #require(throws: SchemaMigrationError.self) { try schema.migrate(queue()) }
            #expect(
                error.description
                    == "2_b.sql, line 2: database or disk is full (SQLite 13). The disk is full: make room, and try again."
            )
            #expect(try queue().read(schema.status).appliedVersions == [1])

            #expect(disk.remount("size=20m"))
            #expect(try schema.migrate(queue()).applied == [2])
        }

        @Test("that is read-only gives an error, and the run goes on when it is not")
        func readOnly() throws {
            try schema.migrate(queue(), upTo: 1)
            #expect(disk.remount("size=20m", readOnly: MS_RDONLY))
            let error = try #require(throws: SchemaMigrationError.self) { try schema.migrate(queue()) }
            #expect(error.remedy == "Make the file and its folder writable, and try again.")
            #expect(try schema.migrate(queue(), upTo: 1).applied == [], "nothing pending needs no writing")

            #expect(disk.remount("size=20m"))
            #expect(try schema.migrate(queue()).applied == [2])
        }

        @Test("that is to take a copy, and is full or read-only, is told of before anything is changed")
        func copies() throws {
            let folder = try TestSupport.TemporaryFolder()
            let queue = try DatabaseQueue(path: folder.file("library.sqlite").path)
            try schema.migrate(queue)
            var next = try SchemaMigrator(
                migrations: schema.migrations + [
                    SQLMigration(version: 3, name: "c", sql: "CREATE TABLE c(x)")
                ])
            next.options.backup = .beforeMigrating(to: disk.url)
            let full = try #require(throws: SchemaMigrationError.self) { try next.migrate(queue) }
            #expect(full.code == .backupFailed)
            #expect(
                full.description.contains(
                    #/^A copy of library\.sqlite needs \d+ bytes, and \d+ are free\. Make room, and migrate again\. Nothing was changed\.$/#
                ), "\(full)")

            #expect(disk.remount("size=20m", readOnly: MS_RDONLY))
            let readOnly = try #require(throws: SchemaMigrationError.self) { try next.migrate(queue) }
            #expect(readOnly.code == .backupFailed)
            #expect(readOnly.message.hasPrefix("library.sqlite cannot be copied to \(disk.url.path): "))
            #expect(try queue.read(next.status).appliedVersions == [1, 2])

            #expect(disk.remount("size=20m"))
            #expect(try next.migrate(queue).applied == [3])
        }
    }
#endif
