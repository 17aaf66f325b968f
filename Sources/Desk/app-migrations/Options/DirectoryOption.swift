import ArgumentParser
import Foundation
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// The option that names the folder of migrations.
struct DirectoryOption: ParsableArguments {
    @Option(
        name: .customLong("directory"),
        help: ArgumentHelp(
            "The folder of the migrations. (default: Migrations, or else the package's Sources/*/Migrations)",
            valueName: "dir"),
        completion: .directory)
    var given: String?

    /// The folder, as it is written in messages.
    var directory: String { given ?? Self.foldersOfTargets.first ?? "Migrations" }

    func validate() throws {
        let folders = given == nil ? Self.foldersOfTargets : []
        guard folders.count > 1 else { return }
        throw ValidationError(
            "Several targets have migrations: \(folders.joined(separator: ", ")). Pass one as --directory.")
    }

    /// The folders of migrations that the package in this folder embeds, unless there is one beside its sources.
    private static var foldersOfTargets: [String] {
        guard FileKind("Migrations") == .missing else { return [] }
        let targets = (try? FileManager.default.contentsOfDirectory(atPath: "Sources")) ?? []
        return targets.sorted().map { "Sources/\($0)/Migrations" }.filter { FileKind($0) == .folder }
    }

    var url: URL { URL(fileURLWithPath: directory, isDirectory: true) }

    /// Creates a migrator for the folder.
    ///
    /// It knows migrations in Swift by name; only the app can run them.
    func migrator(options: SchemaOptions = SchemaOptions()) throws -> SchemaMigrator {
        try SchemaMigrator(sourcesIn: url, options: options)
    }

    /// What `code.rules` declares to stand in for the app's functions, collations and tokenizers.
    func standIns() throws -> StandIns { try CodeRules(in: url).standIns }

    /// Creates a migrator for the folder; nil if it is not there, or holds no migration yet.
    func migratorIfAny() throws -> SchemaMigrator? {
        guard FileKind(url.path) != .missing else { return nil }
        let set = try MigrationFileSet(names: MigrationFolder.names(in: url), .sqlAndSwift)
        return set.entries.isEmpty && set.problems.isEmpty ? nil : try migrator()
    }
}
