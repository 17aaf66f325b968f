import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite(
    "Migrations of real applications", .timed,
    .needs(.realMigrations))
struct RealMigrationsTests {
    private static let sets = [RealMigrations.atuin, RealMigrations.eventCache]

    @Test("build the same database as plain SQLite, in one run", arguments: sets)
    func atOnce(set: MigrationSet) throws { try MigrationSetTrial(set).freshInstall() }

    @Test("build the same database as plain SQLite, one at a time", arguments: sets)
    func oneAtATime(set: MigrationSet) throws { try MigrationSetTrial(set).oneAtATime() }

    @Test("continue after another tool has run the first half", arguments: sets)
    func secondHalf(set: MigrationSet) throws { try MigrationSetTrial(set).secondHalf() }

    #if os(macOS) || os(Linux)
        @Test(
            "continue after the sqlite3 tool has run the first half",
            .needs(.sqlite3), arguments: sets)
        func secondHalfByTool(set: MigrationSet) throws {
            let folder = try TemporaryFolder()
            let schema = try SchemaMigrator(directory: set.folder)
            let half = set.count / 2
            let versions = schema.migrations.prefix(half).map { "(\($0.version))" }.joined(separator: ", ")
            let texts = try set.files.map { try String(contentsOf: $0.url, encoding: .utf8) }
            let ledger = """
                CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                INSERT INTO schema_migrations VALUES \(versions);
                """
            _ = try Sqlite3Tool.run(
                folder.path("app.sqlite"), texts.prefix(half).joined(separator: "\n") + "\n" + ledger)
            _ = try Sqlite3Tool.run(folder.path("plain.sqlite"), texts.joined(separator: "\n"))

            #expect(try schema.migrate(folder.queue()).applied.count == set.count - half)
            let migrated = try Sqlite3Tool.schema(folder.path("app.sqlite"))
            let plain = try Sqlite3Tool.schema(folder.path("plain.sqlite"))
            #expect(migrated == plain)
            #expect(plain.count > 3)
        }
    #endif

    @Test("come out the same if the oldest are squashed, at three places each", arguments: sets)
    func squashed(set: MigrationSet) throws {
        let versions = try SchemaMigrator(directory: set.folder).migrations.map(\.version)
        for place in [versions.count / 4, versions.count / 2, versions.count - 1] {
            let squash = try Squash.verified(directory: set.folder, before: versions[max(1, place)])
            #expect(squash.databases >= versions.count - max(1, place) + 2)
            #expect(squash.unproved == [])
        }
    }

    @Test("keep the users' rows")
    func rows() throws {
        let folder = try TemporaryFolder()
        let schema = try SchemaMigrator(directory: RealMigrations.atuin.folder)
        let queue = try folder.queue()
        try schema.migrate(queue, upTo: 20210422143411)
        try queue.execute(
            """
            INSERT INTO history(id, timestamp, duration, exit, command, cwd, session, hostname)
            VALUES ('a', 1, 2, 0, 'ls', '/', 's', 'h'), ('b', 2, 2, 0, 'cd', '/', 's', 'h');
            """)
        #expect(try schema.migrate(queue).applied.count == 11)
        #expect(try queue.strings("SELECT command FROM history ORDER BY id") == ["ls", "cd"])
    }

    @Test("are refused if two files have the same version")
    func doubleVersion() throws {
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(directory: RealMigrations.crypto.folder)
        }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                017_drop_old_secrets_inbox.sql: has version 17, which 017_add_new_secrets_inbox.sql has too. Give \
                the newer one a version of its own.
                """)
    }
}

#if os(macOS) || os(Linux)
    /// The command line tool `sqlite3`, if it is installed.
    private enum Sqlite3Tool {
        static let url = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: String($0)).appendingPathComponent("sqlite3") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }

        /// Executes SQL, and returns the output.
        static func run(_ database: String, _ sql: String) throws -> String {
            let script = URL(fileURLWithPath: database + ".in.sql")
            try Data(sql.utf8).write(to: script)
            let process = Process()
            process.executableURL = url
            process.arguments = ["-bail", database]
            // The tool refuses any SQLite but its own.
            process.environment = ProcessInfo.processInfo.environment.filter {
                $0.key != "LD_LIBRARY_PATH" && $0.key != "LD_PRELOAD"
            }
            let output = Pipe()
            process.standardInput = try FileHandle(forReadingFrom: script)
            process.standardOutput = output
            try process.run()
            let printed = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return String(decoding: printed, as: UTF8.self)
        }

        /// The sorted output of `.schema`, without the ledger's tables.
        static func schema(_ database: String) throws -> [String] {
            try run(database, ".schema --nosys").split(separator: ";\n")
                .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
                .filter { !$0.contains("schema_migrations") }.sorted()
        }
    }
#endif

#if os(macOS) || os(Linux)
    extension Requirement {
        fileprivate static let sqlite3 = Self("the program sqlite3", "install it.") { Sqlite3Tool.url != nil }
    }
#endif
