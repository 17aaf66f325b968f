import Foundation
import PackagePlugin

/// Makes code of a target's folder `Migrations`: an `enum Migrations` whose `all` holds every migration.
@main
struct EmbedMigrations: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        [
            try command(
                folder: target.directoryURL.appending(path: "Migrations"),
                tool: context.tool(named: "embed-migrations").url, output: context.pluginWorkDirectoryURL)
        ]
    }

    /// A command that runs again when a file has changed, and, since its arguments are others then, when one has
    /// come or gone.
    private func command(folder: URL, tool: URL, output: URL) throws -> Command {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        // What is not named after a version is left alone by the tool, too.
        let files = names.sorted().filter { $0.utf8.first.map { (0x30...0x39).contains($0) } == true }
            .map { folder.appending(path: $0) }
        // Has the tool leave the SQL unchecked.
        let uncheckedSQL = folder.appending(path: ".unchecked-sql")
        let generated = output.appending(path: "Migrations.swift")
        return .buildCommand(
            displayName: "Embedding \(files.count) files of migrations", executable: tool,
            arguments: [generated.path, folder.path] + files.map(\.path),
            inputFiles: files + (names.contains(uncheckedSQL.lastPathComponent) ? [uncheckedSQL] : []),
            outputFiles: [generated])
    }
}

#if canImport(XcodeProjectPlugin)
    import XcodeProjectPlugin

    extension EmbedMigrations: XcodeBuildToolPlugin {
        func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
            // A target of an Xcode project has no folder of its own: its files tell where they are.
            let folders = Set(
                target.inputFiles.map { $0.url.deletingLastPathComponent() }
                    .filter { $0.lastPathComponent == "Migrations" })
            guard let folder = folders.min(by: { $0.path < $1.path }), folders.count == 1 else {
                Diagnostics.error(
                    "\(target.displayName) needs exactly one folder Migrations, and has \(folders.count).")
                return []
            }
            return [
                try command(
                    folder: folder, tool: context.tool(named: "embed-migrations").url,
                    output: context.pluginWorkDirectoryURL)
            ]
        }
    }
#endif
