import Foundation
import TestSupport
import Testing

@Suite("A process that dies after an imported file was deleted", .timed)
struct ImportTests {
    @Test("has the rows at the next launch, because each migration in Swift commits alone")
    func importing() async throws {
        let folder = try TemporaryFolder()
        try Data("one\ntwo\n".utf8).write(to: folder.file("old.txt"))
        func launch(_ options: [String]) async throws -> BuiltProcess.Result {
            try await BuiltProcess("Launcher", ["--folder", folder.url.path, "--imports"] + options).result()
        }
        #expect(try await launch(["--dies"]).signal == SIGKILL)
        #expect(!FileManager.default.fileExists(atPath: folder.file("old.txt").path))
        #expect(try await launch([]).output == "applied [2]\nlines [\"one\", \"two\"]\n")
    }
}
