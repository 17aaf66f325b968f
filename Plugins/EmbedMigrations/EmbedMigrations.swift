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
        // The tool refuses migrations in subfolders.
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        let files = names.sorted().map { folder.appending(path: $0) }.filter(isVersioned)
        // Has the tool leave the SQL unchecked.
        let uncheckedSQL = folder.appending(path: ".unchecked-sql")
        // Swift refuses two files of one name in a module, and apps have a Migrations.swift.
        let generated = output.appending(path: "EmbeddedMigrations.swift")
        return .buildCommand(
            displayName: "Embedding \(files.count) files of migrations", executable: tool,
            arguments: [generated.path, folder.path] + files.map(\.path),
            inputFiles: files + (names.contains(uncheckedSQL.lastPathComponent) ? [uncheckedSQL] : []),
            outputFiles: [generated])
    }

    /// Returns false for what the tool leaves alone, too, since no version begins its name.
    private func isVersioned(_ file: URL) -> Bool {
        file.lastPathComponent.utf8.first.map { (0x30...0x39).contains($0) } == true
    }
}

#if canImport(XcodeProjectPlugin)
    import XcodeProjectPlugin

    extension EmbedMigrations: XcodeBuildToolPlugin {
        func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
            // A target of an Xcode project has no folder of its own: its files tell where they are.
            let folders = Set(
                target.inputFiles.map(\.url).filter(isVersioned).map { $0.deletingLastPathComponent() }
                    .filter { $0.lastPathComponent == "Migrations" })
            guard let folder = folders.first, folders.count == 1 else {
                let paths = folders.map(\.path).sorted().joined(separator: " and ")
                Diagnostics.error(
                    folders.isEmpty
                        ? "\(target.displayName) has no migration. Add the files of a folder Migrations to it."
                        : "\(target.displayName) has migrations in \(paths). Keep them in one of these.")
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
