import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

@Suite("Migrations of real applications", .enabled(if: RealMigrations.areHere))
struct RealMigrationsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A database that plain SQLite has fed with files, as text.
    private func plain(_ files: some Sequence<URL>, _ name: String) throws -> DatabaseQueue {
        let queue = try folder.queue(name)
        for file in files {
            try queue.execute("PRAGMA foreign_keys = OFF;" + String(contentsOf: file, encoding: .utf8))
        }
        return queue
    }

    private static let sets = [(RealMigrations.atuin, 12), (RealMigrations.eventCache, 16)]

    @Test("give the schema that plain SQLite gives, all at once", arguments: sets)
    func atOnce(files: URL, count: Int) throws {
        let schema = try SchemaMigrator(directory: files)
        let queue = try folder.queue()
        #expect(try schema.migrate(queue).applied.count == count)
        #expect(try queue.ledger() == schema.migrations.map(\.version))

        let expected = try plain(RealMigrations.files(in: files), "plain.sqlite").schema()
        #expect(expected.count > 3)
        #expect(try queue.schema() == expected)
        #expect(try schema.migrate(queue).applied == [])
    }

    @Test("give the schema that plain SQLite gives, one at a time", arguments: sets)
    func oneAtATime(files: URL, count: Int) throws {
        let schema = try SchemaMigrator(directory: files)
        let queue = try folder.pool()
        let plainQueue = try folder.queue("plain.sqlite")
        let urls = try RealMigrations.files(in: files)
        #expect(urls.count == count)
        for (migration, url) in zip(schema.migrations, urls) {
            #expect(try schema.migrate(queue, upTo: migration.version).applied == [migration.version])
            try plainQueue.execute("PRAGMA foreign_keys = OFF;" + String(contentsOf: url, encoding: .utf8))
            #expect(try queue.schema() == plainQueue.schema(), "\(url.lastPathComponent)")
        }
        #expect(try !queue.read(schema.status).needsMigration)
    }

    @Test("go on where another tool has stopped", arguments: sets)
    func halfWay(files: URL, count: Int) throws {
        let schema = try SchemaMigrator(directory: files)
        let urls = try RealMigrations.files(in: files)
        let half = count / 2
        let queue = try plain(urls.prefix(half), "app.sqlite")
        let done = schema.migrations.prefix(half).map { "(\($0.version))" }.joined(separator: ", ")
        try queue.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES \(done);
            """)

        #expect(try queue.read(schema.status).pendingVersions.count == count - half)
        #expect(try schema.migrate(queue).applied == schema.migrations.dropFirst(half).map(\.version))
        #expect(try queue.ledger() == schema.migrations.map(\.version))
        #expect(try queue.schema() == plain(urls, "plain.sqlite").schema())
    }

    @Test("go on where the sqlite3 tool has stopped", .enabled(if: Sqlite3Tool.isHere), arguments: sets)
    func halfWayByTool(files: URL, count: Int) throws {
        let schema = try SchemaMigrator(directory: files)
        let urls = try RealMigrations.files(in: files)
        let half = count / 2
        let versions = schema.migrations.prefix(half).map { "(\($0.version))" }.joined(separator: ", ")
        let texts = try urls.map { try String(contentsOf: $0, encoding: .utf8) }
        let ledger = """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES \(versions);
            """
        _ = try Sqlite3Tool.run(
            folder.path("app.sqlite"), texts.prefix(half).joined(separator: "\n") + "\n" + ledger)
        _ = try Sqlite3Tool.run(folder.path("plain.sqlite"), texts.joined(separator: "\n"))

        #expect(try schema.migrate(folder.queue()).applied.count == count - half)
        let migrated = try Sqlite3Tool.schema(folder.path("app.sqlite"))
        let plain = try Sqlite3Tool.schema(folder.path("plain.sqlite"))
        #expect(migrated == plain)
        #expect(plain.count > 3)
    }

    @Test("keep an app's rows")
    func rows() throws {
        let schema = try SchemaMigrator(directory: RealMigrations.atuin)
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

    @Test("that use one version twice are refused with both names")
    func doubleVersion() throws {
        let error = try #require(throws: SchemaMigrationError.self) {
            try SchemaMigrator(directory: RealMigrations.crypto)
        }
        #expect(error.code == .duplicateVersion)
        #expect(
            error.description == """
                017_add_new_secrets_inbox.sql and 017_drop_old_secrets_inbox.sql both have version 17. Give the newer \
                one a version of its own.
                """)
    }
}

/// The command line tool `sqlite3`, where it is installed.
private enum Sqlite3Tool {
    private static let url = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("sqlite3") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    static var isHere: Bool { url != nil }

    /// Feeds it with SQL, and returns what it prints.
    static func run(_ database: String, _ sql: String) throws -> String {
        let script = URL(fileURLWithPath: database + ".in.sql")
        try Data(sql.utf8).write(to: script)
        let process = Process()
        process.executableURL = url
        process.arguments = ["-bail", database]
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: script)
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: printed, as: UTF8.self)
    }

    /// What `.schema` prints, sorted, but for the tables that keep the record.
    static func schema(_ database: String) throws -> [String] {
        try run(database, ".schema --nosys").split(separator: ";\n")
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            .filter { !$0.contains("schema_migrations") }.sorted()
    }
}
