import Foundation
import TestSupport
import Testing

@Suite("The plugin's tool reports", .timed)
struct EmbedErrorTests {
    @Test(
        "a bad file by path, line and column",
        arguments: [
            (
                ["1-a.sql": Data("SELECT 1;".utf8)],
                """
                1-a.sql:1:1: error: only an _ and a name may follow the version. Name it <version>_<name>.sql, the \
                version in digits, the name in letters, digits, spaces, _ and -. If it is no migration, begin its \
                name with something other than a digit.
                """
            ),
            (
                ["1_add moods.swift": Data()],
                """
                1_add moods.swift:1:1: error: "add moods" cannot be the name of a type. Name it \
                <version>_<TypeName>.swift, the version in digits, after the type that it declares. If it is no \
                migration, begin its name with something other than a digit.
                """
            ),
            (
                ["17_b.sql": Data("SELECT 1;".utf8), "017_a.sql": Data("SELECT 1;".utf8)],
                """
                17_b.sql:1:1: error: has version 17, which 017_a.sql has too. Give the newer one a version of its own.
                """
            ),
            (
                ["1_a.sql": Data("SELECT 1;".utf8), "2_b.down.sql": Data("SELECT 1;".utf8)],
                """
                2_b.down.sql:1:1: error: there is no 2_b.sql that it reverses. Give both the same name, or remove it.
                """
            ),
            (
                [
                    "1_a.sql": Data("SELECT 1;".utf8), "2025/2_b.sql": Data("SELECT 1;".utf8),
                    "2025/a.sql": Data(), "2025/03/3DPoint.swift": Data(),
                ],
                """
                2025/2_b.sql:1:1: error: is in a subfolder, so it would never run. Move it into the folder Migrations \
                itself, or out of it.
                """
            ),
            (
                ["1_a.sql": Data("SELECT 1;\nSELECT '\u{e9}".utf8) + Data([0xe9]) + Data("';".utf8)],
                "1_a.sql:2:11: error: is not UTF-8 text. Save it as UTF-8."
            ),
            (
                ["1_a.sql": Data("SELECT 1;\n\n \0".utf8)],
                """
                1_a.sql:3:2: error: holds a NUL byte. Remove it: SQLite would silently ignore the rest of the file.
                """
            ),
            (
                ["1_A.swift": Data(), "2_A.swift": Data()],
                "2_A.swift:1:1: error: another migration has the name A as well. Rename one of the types, and its file."
            ),
        ] as [([String: Data], String)])
    func files(files: [String: Data], message: String) async throws {
        let tool = try EmbedTool(files)
        let run = try await tool()
        #expect(run.errors == "\(tool.migrations.path)/\(message)\n")
        #expect(run.output == "")
        #expect(run.status == 1)
        #expect(!FileManager.default.fileExists(atPath: tool.output.path))
    }

    @Test("a folder without migrations")
    func empty() async throws {
        let tool = try EmbedTool(["README.md": "Nothing here."])
        #expect(
            try await tool().errors == """
                \(tool.migrations.path):1:1: error: the folder holds no migration. Name the files of migrations \
                <version>_<name>.sql or <version>_<TypeName>.swift.

                """)
    }

    @Test("all problems at once")
    func several() async throws {
        let tool = try EmbedTool(["1-a.sql": "", "2-b.sql": "", "3_c.sql": "\0"])
        #expect(try await tool().errors.split(separator: "\n").count == 3)
    }
}
