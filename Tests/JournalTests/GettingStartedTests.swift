import Foundation
import TestSupport
import Testing

@Suite("GettingStarted", .timed)
struct GettingStartedTests {
    private static let article = "Sources/AppMigrations/AppMigrations.docc/GettingStarted.md"

    @Test("is the program of the article")
    func program() throws {
        let program = try text(of: "Samples/GettingStarted/main.swift")
        #expect(try text(of: Self.article).blocks("swift").first == program)
    }

    @Test("prints what the article shows, release by release, in one folder of data")
    func output() async throws {
        let shown = try #require(try text(of: Self.article).blocks("").first)
        var session = ""
        let folder = try TemporaryFolder()
        for command in shown.split(separator: "\n") where command.hasPrefix("$ ") {
            let version = try #require(command.split(separator: " ").last)
            session += "\(command)\n"
            session += try await Self.run([String(version)], in: folder.url)
        }
        #expect(session == shown)
    }

    @Test("upgrades data of 1.0 once, however often 1.0 was launched")
    func launches() async throws {
        let folder = try TemporaryFolder()
        _ = try await Self.run(["1.0"], in: folder.url)
        #expect(try await Self.run(["1.0"], in: folder.url) == "1.0: relaunch, ran []\n[]\n")
        let upgraded =
            "1.1: upgrade(from: 1.0), ran [Library: step 1.1 in library.sqlite]\n[\"Emma\", \"Persuasion\"]\n"
        #expect(try await Self.run(["1.1"], in: folder.url) == upgraded)
    }

    @Test("upgrades data of a user of 1.0 who has no books")
    func withoutBooks() async throws {
        let folder = try TemporaryFolder()
        _ = try await Self.run(["1.0"], in: folder.url)
        try FileManager.default.removeItem(at: folder.file("Data/books.txt"))
        let upgraded = "1.1: upgrade(from: 1.0), ran [Library: step 1.1 in library.sqlite]\n[]\n"
        #expect(try await Self.run(["1.1"], in: folder.url) == upgraded)
    }

    /// Runs the program in a folder, and returns what it prints.
    private static func run(_ arguments: [String], in folder: URL) async throws -> String {
        let program = try Products.executable("GettingStarted")
        let result = try await BuiltProcess(running: program, arguments, in: folder).result()
        #expect(result.errors == "")
        #expect(result.status == 0)
        return result.output
    }
}
