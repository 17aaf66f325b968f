import Foundation
import TestSupport

/// A folder of migrations, on which the build tool is run.
struct EmbedTool {
    let folder: TemporaryFolder

    init(_ files: [String: Data]) throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: migrations, withIntermediateDirectories: true)
        for (name, data) in files {
            let file = migrations.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
    }

    init(_ files: [String: String]) throws {
        try self.init(files.mapValues { Data($0.utf8) })
    }

    var migrations: URL { folder.file("Migrations") }
    var output: URL { folder.file("Generated.swift") }

    /// Runs the tool as the plugin does.
    func callAsFunction() async throws -> BuiltProcess.Result {
        let files = try FileManager.default.subpathsOfDirectory(atPath: migrations.path).sorted()
            .map { migrations.appendingPathComponent($0).path }
        return try await BuiltProcess(
            "embed-migrations", [output.path, migrations.path] + files
        ).result()
    }

    /// The output of the tool.
    func generated() throws -> String { try String(contentsOf: output, encoding: .utf8) }
}
