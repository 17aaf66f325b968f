import Foundation
import MigrationDiagnostics
import MigrationEmbedding

/// The build tool behind the plugin `EmbedMigrations`: writes a Swift file that holds a folder's migrations.
///
///     embed-migrations <output> <folder> [<file> …]
///
/// Errors are printed as compilers do, `path:line:column: error: message`, so that editors can go there.
@main
struct EmbedMigrationsTool {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 2 else {
            report(["error: usage: embed-migrations <output> <folder> [<file> …]"])
        }
        let output = URL(fileURLWithPath: arguments[1])
        let folder = URL(fileURLWithPath: arguments[2], isDirectory: true)
        do {
            let migrations = try EmbeddedMigrations(
                files: arguments.dropFirst(2).map { URL(fileURLWithPath: $0) }, folder: folder)
            let trial = SQLTrial(migrations, in: folder)
            guard trial.errors.isEmpty else { report(trial.errors.map(\.compilerError)) }
            for note in trial.notes { write(note.compilerNote) }
            try write(SwiftSource(migrations).text, to: output)
        } catch let error as EmbeddingErrors {
            report(error.diagnostics.map(\.compilerError))
        } catch {
            let diagnostic = Diagnostic(
                at: .file(output.path), "cannot be written: \(error.localizedDescription)",
                remedy: "Make its folder writable.")
            report([diagnostic.compilerError])
        }
    }

    /// Leaves the file alone when it says the same already, so that nothing is compiled again.
    private static func write(_ text: String, to output: URL) throws {
        let data = Data(text.utf8)
        if let old = try? Data(contentsOf: output), old == data { return }
        try data.write(to: output, options: .atomic)
    }

    private static func report(_ lines: [String]) -> Never {
        write(lines.joined(separator: "\n"))
        exit(1)
    }

    private static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
