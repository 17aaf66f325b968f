import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A set of migrations with a baseline", .timed)
struct BaselineTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let unsquashed = [
        "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)",
        "3_c.sql": "CREATE TABLE c(x); INSERT INTO c VALUES (1)", "4_d.sql": "CREATE TABLE d(x)",
    ]
    private static let squashed = [
        "3_baseline.sql": """
        -- replaces: 1 a
        -- replaces: 2 b
        -- replaces: 3 c
        -- last release: 2.4
        CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); INSERT INTO c VALUES (1);
        """,
        "4_d.sql": "CREATE TABLE d(x)",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private var before: SchemaMigrator { get throws { try migrator(Self.unsquashed, "before") } }
    private var after: SchemaMigrator { get throws { try migrator(Self.squashed, "after") } }

    private func migrator(_ files: [String: String], _ name: String) throws -> SchemaMigrator {
        try SchemaMigrator(
            directory: folder.folder(files, named: name), options: SchemaOptions(differentSchemas: .refuse))
    }

    @Test("builds a new database from it, which an older build without it can use")
    func fresh() throws {
        #expect(try after.migrate(queue).applied == [3, 4])
        #expect(try queue.tables() == ["a", "b", "c", "d"])
        #expect(try queue.integers("SELECT x FROM c") == [1])
        #expect(try after.migrate(queue).applied == [])
        #expect(try before.migrate(queue).applied == [])
        let status = try queue.read(before.status)
        #expect(status.skippedVersions == [1, 2])
        #expect(status.editedVersions == [])
    }

    @Test("does not find a schema different for a column that a file merged late has brought")
    func mergedLate() throws {
        try before.migrate(queue, upTo: 3)
        var files = Self.squashed.merging(["6_f.sql": "ALTER TABLE a ADD COLUMN z"]) { $1 }
        #expect(try migrator(files, "6").migrate(queue).applied == [4, 6])
        files["5_e.sql"] = "ALTER TABLE a ADD COLUMN y"
        #expect(try migrator(files, "5").migrate(queue).applied == [5])
    }

    @Test("skips it in a database that has had its migrations", arguments: [3, 4] as [SchemaVersion])
    func above(version: SchemaVersion) throws {
        try before.migrate(queue, upTo: version)
        #expect(try after.migrate(queue).applied == (version == 3 ? [4] : []))
        #expect(try queue.ledger() == [1, 2, 3, 4])
        let status = try queue.read(after.status)
        #expect(status.unknownVersions == [])
        #expect(status.editedVersions == [])
        #expect(status.pendingVersions == [])
        #expect(try before.migrate(queue).applied == [])
    }

    @Test("refuses a database below it, and names the last release that could migrate it")
    func tooOld() throws {
        try before.migrate(queue, upTo: 2)
        let error = try failure { try after.migrate(queue) }
        #expect(error.code == .tooOld)
        #expect(
            error.description == """
                The database is too old: it is without migration 3, which was squashed into 3_baseline.sql. Version 2.4 of \
                the app can still migrate it: launch that first. Nothing was changed.
                """)
        #expect(try queue.tables() == ["a", "b"])
    }

    @Test("refuses a database that another tool has left below it, by the number it has")
    func tooOldForAdoption() throws {
        try queue.execute("CREATE TABLE a(x); CREATE TABLE b(x); PRAGMA user_version = 2")
        let schema = try SchemaMigrator(
            directory: folder.folder(Self.squashed, named: "after"), adopting: .userVersion())
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .tooOld)
        #expect(error.message.hasPrefix("The database is too old: it is at version 2, which was squashed"))
    }

    @Test("refuses a database that lacks a migration in between, which came late")
    func gap() throws {
        try migrator(Self.unsquashed.filter { $0.key != "2_b.sql" }, "gap").migrate(queue, upTo: 3)
        let error = try failure { try after.migrate(queue) }
        #expect(error.message.hasPrefix("The database is too old: it is without migration 2"))
    }

    @Test("refuses a database that has had only the file whose version the baseline has")
    func lastFileAlone() throws {
        try migrator(Self.unsquashed.filter { $0.key == "3_c.sql" }, "alone").migrate(queue)
        let error = try failure { try after.migrate(queue) }
        #expect(error.code == .tooOld)
        #expect(error.message.hasPrefix("The database is too old: it is without migration 1"))
        #expect(try queue.tables() == ["c"])
        // One that began with the baseline has the same ledger, and is complete.
        let fresh = try folder.queue("fresh.sqlite")
        try after.migrate(fresh, upTo: 3)
        #expect(try fresh.ledger() == queue.ledger())
        #expect(try after.migrate(fresh).applied == [4])
    }

    @Test("names in its status what a database that is too old lacks, and calls nothing pending")
    func statusOfTooOld() throws {
        try before.migrate(queue, upTo: 1)
        let status = try queue.read(after.status)
        #expect(status.squashedVersions == [2, 3])
        #expect(status.pendingVersions == [])
        #expect(status.pendingVersions.isEmpty)
        #expect(try queue.read(before.status).squashedVersions == [])
        #expect(try folder.queue("new.sqlite").read(after.status).squashedVersions == [])
        #expect(try folder.queue("new.sqlite").read(after.status).pendingVersions == [3, 4])
    }

    @Test("refuses a database that has had a migration of another branch among those squashed")
    func unknownBelow() throws {
        func file(_ version: SchemaVersion, _ sql: String = "SELECT 1") -> SQLMigration {
            SQLMigration(version: version, name: "m\(version)", sql: sql)
        }
        let branch = [file(1, "CREATE TABLE a(x)"), file(3), file(4, "DROP TABLE a"), file(5)]
        try SchemaMigrator(migrations: branch).migrate(queue)
        let header = "-- replaces: 1 m1\n-- replaces: 3 m3\n-- replaces: 5 m5\n"
        let baseline = SQLMigration(version: 5, name: "baseline", sql: header + "CREATE TABLE a(x)")
        let error = try failure { try SchemaMigrator(migrations: [baseline]).migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.message == "The database has had migrations that are unknown and not compatible: 4_m4.")
    }

    @Test("takes a version that was squashed for the baseline's, in a call and in a manager's move")
    func squashedTargets() throws {
        #expect(try after.migrate(queue, upTo: 2).applied == [3])
        let other = try folder.queue("other.sqlite")
        let manager = try MigrationManager(
            name: "Library", currentVersion: "3.0", adopting: .newApp, store: .database(other))
        let schema = try SchemaMigrator(directory: folder.folder(Self.squashed, named: "after"))
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: other)
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 2, in: other)
        manager.whenMigratingToVersion("3.0", migrate: schema, upTo: 4, in: other)
        try manager.migrate()
        #expect(try other.tables().filter { !$0.hasPrefix("app_") } == ["a", "b", "c", "d"])
        #expect(try failure { try after.migrate(queue, upTo: 0) }.message == "No migration has version 0.")
    }

    @Test("is a mistake beside lower files, for databases that have had them too")
    func notLowest() throws {
        try before.migrate(queue, upTo: 3)
        var files = Self.squashed
        files["2_late.sql"] = "CREATE TABLE late(x)"
        files["3_baseline.sql"] = files["3_baseline.sql"]?.replacingOccurrences(
            of: "-- replaces: 2 b\n", with: "")
        let error = try failure { try migrator(files, "wrong").migrate(queue) }
        #expect(error.code == .invalidMigration)
        #expect(
            error.message
                == "3_baseline.sql: stands for older migrations, but 2_late.sql has a lower version.")
    }

    @Test("accepts a database that began above some of its migrations")
    func floor() throws {
        try before.markApplied(queue, upTo: 2)
        try queue.execute("DELETE FROM schema_migrations WHERE version = 1")
        try queue.execute("CREATE TABLE a(x); CREATE TABLE b(x)")
        #expect(try before.migrate(queue, upTo: 3).applied == [3])
        #expect(try after.migrate(queue).applied == [4])
    }

    @Test("refuses tables that are adopted at a version below it")
    func adoption() throws {
        try queue.execute("CREATE TABLE a(x); PRAGMA user_version = 1")
        func schema(_ version: SchemaVersion) throws -> SchemaMigrator {
            try SchemaMigrator(
                directory: folder.folder(Self.squashed, named: "after"),
                adopting: .userVersion(means: [1: version]))
        }
        let error = try failure { try schema(1).migrate(queue) }
        #expect(error.code == .tooOld)
        #expect(error.message.hasPrefix("The database is too old: it is at version 1"))
        #expect(try schema(3).migrate(queue).applied == [4])
    }

    /// A newer build's files: a baseline above all files of the older build.
    private static let newer = [
        "5_baseline.sql": "-- replaces: 1 a\n-- replaces: 2 b\n-- replaces: 5 e\nCREATE TABLE a(x)",
        "5_baseline.down.sql": "DROP TABLE a", "6_f.sql": "CREATE TABLE f(x)",
        "6_f.down.sql": "DROP TABLE f",
    ]

    @Test(
        "makes a database that an older build takes for newer, and does not undo",
        arguments: [SchemaOptions.NewerDatabaseRule.refuse, .rollBack])
    func newerBaseline(rule: SchemaOptions.NewerDatabaseRule) throws {
        try migrator(Self.newer, "newer").migrate(queue)
        var older = try before
        older.options.newerDatabases = rule
        let error = try failure { try older.migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.message == """
                The database has had migrations that are unknown and not compatible: 5_baseline, 6_f\
                \(rule == .rollBack ? "; the database began with 5_baseline" : "").
                """)
        #expect(try queue.tables() == ["a", "f"])
    }

    @Test("is not undone by an older build that has a later migration of its own")
    func newerBaselineBesideLater() throws {
        try migrator(Self.newer, "newer").migrate(queue)
        let files = Self.unsquashed.merging(["8_h.sql": "CREATE TABLE h(x)"]) { $1 }
        var older = try migrator(files, "branch")
        try older.markApplied(queue, upTo: 8)
        older.options.newerDatabases = .rollBack
        let error = try failure { try older.migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(error.message.hasSuffix("; the ledger cannot undo 5_baseline."), "\(error)")
        #expect(try queue.tables() == ["a", "f"])
    }

    @Test("is none that a second set of migrations finds in a database that was adopted")
    func secondSet() throws {
        try queue.execute("CREATE TABLE a(x)")
        try SchemaMigrator(migrations: [CodeMigration(7, sql: "")], adopting: SchemaAdoption { _ in 7 })
            .migrate(queue)
        var second = try before
        second.options.newerDatabases = .allow
        let error = try failure { try second.migrate(queue) }
        #expect(error.code == .differentSchema)
        #expect(error.remedy.hasPrefix("One database has one set of migrations"))
    }

    @Test(
        "is not what an older build finds in a database that the newer one has adopted, which is newer",
        arguments: [SchemaOptions.NewerDatabaseRule.refuse, .rollBack, .allow])
    func newerAdoption(rule: SchemaOptions.NewerDatabaseRule) throws {
        try queue.execute("CREATE TABLE a(x)")
        try SchemaMigrator(
            migrations: [CodeMigration(9, sql: ""), CodeMigration(10, sql: "CREATE TABLE b(x)")],
            adopting: SchemaAdoption { _ in 9 }
        ).migrate(queue)
        var older = try before
        older.options.newerDatabases = rule
        let error = try failure { try older.migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                The database has had 2 migrations, none of which is known to this migrator. If a newer version of the app has \
                migrated the database, update the app. If not, one database has one set of migrations: join the folders in one \
                SchemaMigrator. Nothing was changed.
                """)
        #expect(try queue.tables() == ["a", "b"])
    }

    @Test("makes a database to which an older build adds nothing, if it may go on")
    func allowedNewerBaseline() throws {
        try migrator(Self.newer, "newer").migrate(queue)
        var older = try before
        older.options.newerDatabases = .allow
        let report = try older.migrate(queue)
        #expect(report.applied == [])
        #expect(report.newer == [5, 6])
    }

    @Test("refuses a database below it, also if it was saved with a byte order mark")
    func byteOrderMark() throws {
        try before.migrate(queue, upTo: 2)
        var files = Self.squashed
        files["3_baseline.sql"] = "\u{FEFF}" + (files["3_baseline.sql"] ?? "")
        #expect(try failure { try migrator(files, "marked").migrate(queue) }.code == .tooOld)
    }

    @Test("refuses a database of another set")
    func differentSet() throws {
        try SchemaMigrator(migrations: [CodeMigration(7, sql: "")]).migrate(queue)
        #expect(try failure { try after.migrate(queue) }.code == .differentSchema)
    }

    @Test("passes the upgrade matrix, and a snapshot can be made of it")
    func matrixAndSnapshot() throws {
        #expect(try UpgradeMatrix(of: after).run().upgrades.count == 2)
        let snapshot = folder.file("schema.sql")
        try after.writeSnapshot(to: snapshot)
        let schema = try SchemaMigrator(
            directory: folder.folder(Self.squashed, named: "after"), snapshot: snapshot)
        #expect(try schema.migrate(queue).applied == [3, 4])
        #expect(try before.migrate(queue).applied == [])
    }

    @Test("refuses a migration below it")
    func below() throws {
        let schema = try migrator(
            Self.squashed.merging(["2_late.sql": "CREATE TABLE late(x)"]) { $1 }, "below")
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.message
                == "3_baseline.sql: stands for older migrations, but 2_late.sql has a lower version.")
    }
}
