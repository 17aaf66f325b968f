import ArgumentParser
import Foundation
import MigrationTools
import SchemaMigrations
import TextOutput

/// Writes the tables of earlier schema versions as Swift types.
struct TypesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "types",
        abstract: "Write the tables of earlier schema versions as Swift types, for steps that read old rows.",
        discussion: """
            The migrations run in memory. For each version, the file has an enumeration such as Schema.v20240601, with \
            a struct for each table. Commit the file. It needs GRDB, and no plugin.

            Without --versions, the file keeps the versions that it has, and gets the latest and those that a release \
            left: a file has the word "release" in its name, or is a baseline that names its last release. Pass the \
            versions of upTo: that your steps use.

            The file code.rules in the folder of the migrations has the path of the output, so that the next run and \
            check find it, and the types of columns that the app stores in its own way, a line for each:

              types: ../OldSchemas.swift
              entry.mood: Mood               an enumeration, by its raw value
              entry.day: Date(yyyy-MM-dd)    or secondsSince1970, millisecondsSince1970, secondsSince2001
              entry.key: UUID                a blob, as GRDB stores it; or UUID(uppercase), UUID(lowercase)
              *.metadata: json([String: String])

            A value that its type cannot hold unchanged is an error, which names table, key and column. The command \
            rehearse finds such rows in a copy of a database.

            EXAMPLE
              app-migrations types --output Sources/App/OldSchemas.swift
              app-migrations types --versions 20240110090000000,20240601120000000
              app-migrations types
            """)

    @OptionGroup var folder: DirectoryOption

    @Option(
        help: ArgumentHelp(
            "The versions, with commas between them, or all. In place of those that the file has.",
            valueName: "versions"))
    var versions: String?

    @Option(
        help: ArgumentHelp("The Swift file. Needed once; code.rules notes it.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp("The name of the enumeration around all. (default: Schema)", valueName: "name"))
    var name: String?

    func run() throws {
        let migrator = try folder.migrator()
        var rules = try CodeRules(in: folder.url)
        let url = try rules.url(of: .types, output)
        let file = try SchemaTypesFile(url)
        let types = try SchemaTypes(
            of: migrator, at: chosen(migrator, file), name: name ?? file.header?.name ?? "Schema",
            mapping: rules.mapping, configuration: rules.standIns.configuration)
        let isNew = try file.write(types.text)
        print("\(url.shortPath): \(types.summary)\(isNew ? "" : ", unchanged")")
        try rules.announce(url, as: .types, in: folder)
    }

    /// Returns the versions that get types.
    private func chosen(_ migrator: SchemaMigrator, _ file: SchemaTypesFile) throws -> Set<SchemaVersion> {
        let known = Set(migrator.migrations.map(\.version))
        guard let versions else {
            let kept = Set((file.header?.versions ?? []).compactMap { SchemaVersion($0) })
            let gone = kept.subtracting(known).sorted()
            if !gone.isEmpty {
                print("\(Style().notable("!")) No file has version \(gone.map { "\($0)" }.asList) any more")
            }
            return try kept.intersection(known).union(migrator.releasedVersions())
        }
        if versions == "all" { return known }
        return Set(
            try versions.split { $0 == "," || $0 == " " }.map { text in
                guard let version = SchemaVersion(text) else {
                    throw ValidationError(
                        "\(text) is not a version. Pass versions with commas between them, or all.")
                }
                return version
            })
    }
}

extension CodeRules {
    /// Returns the file to write, which is the one that the rules name unless another one is passed.
    func url(of kind: Kind, _ output: String?) throws -> URL {
        if let output { return URL(fileURLWithPath: output).standardizedFileURL }
        guard let url = outputs[kind]?.url else {
            throw Failure(
                "No file to write: \(CodeRules.fileName) names none",
                remedy:
                    "Pass --output once, such as --output Sources/App/\(kind == .types ? "OldSchemas" : "Migrations").swift."
            )
        }
        return url
    }

    /// Notes a file, and prints so if it is new.
    mutating func announce(_ url: URL, as kind: Kind, in folder: DirectoryOption) throws {
        guard try note(url, as: kind) else { return }
        let path = (folder.directory as NSString).appendingPathComponent(CodeRules.fileName)
        print("\(path): names it, so that `app-migrations check` compares it. Commit both files.")
    }
}

extension URL {
    /// The path from the current folder if the file is in it.
    var shortPath: String {
        let folder =
            URL(fileURLWithPath: FileManager.default.currentDirectoryPath).standardizedFileURL.path + "/"
        let path = standardizedFileURL.path
        return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
    }
}
