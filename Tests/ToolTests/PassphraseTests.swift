import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("app-migrations with an encrypted database", .timed)
struct PassphraseTests {
    @Test(
        "says that its SQLite cannot read one, and makes no database",
        .needs(.noEncryption),
        arguments: ["--passphrase-file key.txt", "--ask-passphrase"])
    func without(option: String) async throws {
        let tool = try Tool(Tool.books)
        try tool.write("secret\n", to: "key.txt")
        let run = try await tool("migrate --database app.sqlite \(option)")
        #expect(
            run.errors == """
                error: The SQLite of this app-migrations cannot read encrypted databases.
                Build app-migrations with a GRDB that is made for SQLCipher.

                """)
        #expect(run.status == 1)
        #expect(try tool.folder.fileNames == ["Migrations", "key.txt"])
    }

    @Test("takes the passphrase from a file or the terminal, and never as an argument")
    func twice() async throws {
        let run = try await Tool()("status --database a --passphrase-file key.txt --ask-passphrase")
        #expect(run.errors.hasPrefix("Error: Pass either --passphrase-file or --ask-passphrase."))
        let argument = try await Tool()("status --database a --ask-passphrase=secret")
        #expect(argument.status == 64)
    }

    @Test(
        "makes, migrates, reads and copies one",
        .needs(.encryption),
        arguments: ["it's a secret", "it's a secret\n", "it's a secret\r\n"])
    func encrypted(file: String) async throws {
        let tool = try Tool(Tool.books)
        try tool.write(file, to: "key.txt")
        let options = "--database app.sqlite --passphrase-file key.txt"
        #expect(try await tool("migrate \(options) --up-to 20240110090000000").status == 0)
        let queue = try DatabaseQueue(
            path: tool.folder.file("app.sqlite").path,
            configuration: Encryption.configuration(passphrase: "it's a secret"))
        try await queue.write { try $0.execute(sql: "INSERT INTO book(title) VALUES ('Middlemarch')") }
        try queue.close()
        for command in [
            "status \(options)", "plan \(options)", "check \(options)", "history \(options)",
            "dump \(options)",
            "rehearse \(options)", "fixture \(options) --output fixture.sqlite", "migrate \(options)",
        ] {
            let run = try await tool(command)
            #expect(run.errors == "", "\(command)")
            #expect(run.status == 0, "\(command)")
        }
        #expect(
            try tool.folder.filesInClearText(holding: "Middlemarch").filter { $0.hasSuffix("sqlite") } == [])
        let run = try await tool("status --database app.sqlite")
        #expect(
            run.errors == """
                error: app.sqlite: file is not a database (SQLite 26).
                If it is encrypted, pass its passphrase; if not, restore the database from a backup.

                """)
    }

    @Test(
        "refuses a file without a passphrase",
        .needs(.encryption),
        arguments: [
            ("none.txt", "The file none.txt holds no passphrase."),
            ("Migrations", "The file Migrations holds no passphrase."),
            ("empty.txt", "The passphrase is empty."),
            ("null.txt", "The passphrase contains a null character."),
            ("noise.txt", "The file noise.txt holds no passphrase."),
        ])
    func refused(file: String, problem: String) async throws {
        let tool = try Tool(Tool.books)
        try tool.write("\n", to: "empty.txt")
        try tool.write("a\0b", to: "null.txt")
        try tool.write(Data([0xff, 0xfe]), to: "noise.txt")
        let run = try await tool("migrate --database app.sqlite --passphrase-file \(file)")
        #expect(run.errors.hasPrefix("error: \(problem)\n"))
        #expect(!FileManager.default.fileExists(atPath: tool.folder.file("app.sqlite").path))
    }
}
