import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A folder of migrations", .timed)
struct MigrationFolderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func refusal(of folders: [URL]) throws -> MigrationError {
        try #require(throws: MigrationError.self) { try SchemaMigrator(directories: folders) }
    }

    @Test("orders migrations by number, and ignores other files")
    func order() throws {
        let schema = try folder.migrator([
            "10_c.sql": "", "9_b.sql": "", "007_a.sql": "", "007_a.down.sql": "", "README.md": "",
            "notes.sql": "",
        ])
        #expect(schema.migrations.map(\.version) == [7, 9, 10])
        #expect(schema.migrations.map(\.name) == ["a", "b", "c"])
    }

    @Test("is refused if it does not exist")
    func missing() throws {
        let missing = folder.url.appendingPathComponent("nowhere")
        let error = try refusal(of: [missing])
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                \(missing.path): the folder does not exist. Pass the folder that holds the migrations; in an app, \
                check that it is copied into the bundle.
                """)
    }

    @Test("is refused if it is a file")
    func file() throws {
        let file = try folder.folder(["1_a.sql": "SELECT 1"]).appendingPathComponent("1_a.sql")
        let error = try refusal(of: [file])
        #expect(error.code == .invalidMigration)
        #expect(error.message.hasPrefix("\(file.path): cannot be read: "))
    }

    @Test("is refused if it holds no migration", arguments: [[], ["README.md"], ["1_a.down.sql"]])
    func empty(names: [String]) throws {
        let empty = try folder.folder(Dictionary(uniqueKeysWithValues: names.map { ($0, "") }))
        let error = try refusal(of: [empty])
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                \(empty.path): the folder holds no migration. Name the files of migrations \
                <version>_<name>.sql.
                """)
    }

    @Test("is refused if two files have the same version, and both are named")
    func duplicate() throws {
        let twice = try folder.folder(["17_b.sql": "", "017_a.sql": "", "16_z.sql": ""])
        let error = try refusal(of: [twice])
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                17_b.sql: has version 17, which 017_a.sql has too. Give the newer one a version of its own.
                """)
    }

    @Test("is refused if a name is malformed")
    func malformed() throws {
        let malformed = try folder.folder(["1_a.sql": "", "2-b.sql": ""])
        let error = try refusal(of: [malformed])
        #expect(error.code == .invalidMigration)
        #expect(error.message == "2-b.sql: only an _ and a name may follow the version.")
    }

    @Test("is listed as Foundation lists it")
    func listing() throws {
        let odd = try folder.folder([
            "1_a.sql": "", ".hidden": "", "...sql": "", "..x": "", "2_\u{e9}.sql": "", "3_e\u{301}.sql": "",
            "4 b-c.sql": "", "5_\u{1f986}.SQL": "",
        ])
        try FileManager.default.createDirectory(
            at: odd.appendingPathComponent("6_folder.sql"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: odd.appendingPathComponent("7_link.sql").path, withDestinationPath: "nowhere")
        #if os(Linux)
            // Apple's file systems take only UTF-8.
            let name = Array("\(odd.path)/8_".utf8CString.dropLast()) + [-1, -2, 0]
            #expect(mkdir(name, 0o700) == 0)
        #endif
        let expected = try FileManager.default.contentsOfDirectory(atPath: odd.path)
        let names = try MigrationFolder.names(in: odd)
        #expect(
            names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
                == expected.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
        #expect(try MigrationFolder.names(in: folder.folder([:], named: "empty")).isEmpty)
    }

    @Test("can be combined with another one, and with migrations in Swift")
    func joined() throws {
        let first = try folder.folder(
            ["1_a.sql": "CREATE TABLE a(x)", "4_d.sql": "INSERT INTO c VALUES (4)"], named: "first")
        let second = try folder.folder(["2_b.sql": "CREATE TABLE b(x)"], named: "second")
        let schema = try SchemaMigrator(
            directories: [first, second], migrations: [CodeMigration(3, sql: "CREATE TABLE c(x)")])
        let queue = try folder.queue()

        #expect(schema.migrations.map(\.name) == ["a", "b", "Code3", "d"])
        #expect(try schema.migrate(queue).applied == [1, 2, 3, 4])
        #expect(try queue.tables() == ["a", "b", "c"])
        #expect(try queue.integers("SELECT x FROM c") == [4])
    }

    @Test("cannot be combined with another one that has the same version")
    func joinedDuplicate() throws {
        let first = try folder.folder(["1_a.sql": ""], named: "first")
        let second = try folder.folder(["1_b.sql": "", "2_c.sql": ""], named: "second")
        let error = try refusal(of: [first, second])
        #expect(error.message == "1_b.sql: has version 1, which 1_a.sql has too.")
        let mixed = try #require(throws: MigrationError.self) {
            try SchemaMigrator(directories: [second], migrations: [CodeMigration(2, sql: "")])
        }
        #expect(mixed.message == "Code2: has version 2, which 2_c.sql has too.")
    }

    @Test("files are read only if they are pending")
    func unread() throws {
        let files = try folder.folder(["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)"])
        let schema = try SchemaMigrator(directory: files)
        let queue = try folder.queue()
        try schema.migrate(queue)

        for name in ["1_a.sql", "2_b.sql"] { try replaceByFolder(files.appendingPathComponent(name)) }
        try Data("CREATE TABLE c(x)".utf8).write(to: files.appendingPathComponent("3_c.sql"))
        #expect(try SchemaMigrator(directory: files).migrate(queue).applied == [3])
    }

    @Test("is refused before anything runs if a pending file cannot be read")
    func unreadable() throws {
        let files = try folder.folder(["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": ""])
        try replaceByFolder(files.appendingPathComponent("2_b.sql"))
        let queue = try folder.queue()
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(directory: files).migrate(queue)
        }
        #expect(error.code == .invalidMigration)
        #expect(error.file == "2_b.sql")
        #expect(error.message.hasPrefix("2_b.sql: cannot be read: "))
        #expect(error.remedy == "Check its permissions.")
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
    }

    @Test("is refused before anything runs if a file is not UTF-8, and the file is named")
    func notUTF8() throws {
        let files = try folder.folder(data: [
            "1_a.sql": Data("CREATE TABLE a(x);".utf8), "2_b.sql": Data([0x2d, 0x2d, 0x20, 0xe9, 0x0a]),
        ])
        let queue = try folder.queue()
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(directory: files).migrate(queue)
        }
        #expect(error.code == .invalidMigration)
        #expect(error.description == "2_b.sql: is not UTF-8 text. Save it as UTF-8.")
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
    }

    private func replaceByFolder(_ file: URL) throws {
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    }

    @Test("has migrations that can run without a migrator")
    func byHand() throws {
        let queue = try DatabaseQueue()
        let migrations: [any SchemaMigration] =
            try folder.migrator(["1_a.sql": "CREATE TABLE a(x); INSERT INTO a VALUES (1)"]).migrations
            + [SQLMigration(version: 2, name: "", sql: "CREATE TABLE b(x)")]
        try queue.write { db in for migration in migrations { try migration.migrate(db) } }
        #expect(try queue.tables() == ["a", "b"])
    }

    @Test("is refused if it is a bundle without migrations")
    func bundle() throws {
        let error = try #require(throws: MigrationError.self) { try SchemaMigrator(bundle: .main) }
        #expect(error.code == .invalidMigration)
    }
}
