import AppMigrations
import Foundation
import MigrationDiagnostics
import MigrationEmbedding
import SchemaMigrations

/// Compares the code that `code.rules` names with what the migrations of its folder make.
struct GeneratedCodeReview {
    private let folder: URL
    private let migrator: SchemaMigrator
    private let command: String

    init(of migrator: SchemaMigrator, in folder: URL) {
        self.folder = folder
        self.migrator = migrator
        // The folder as a person would pass it.
        let path = folder.relativePath
        command = path == "Migrations" ? "" : " --directory \(path)"
    }

    /// The findings, each at the line that names the file.
    var findings: [ReviewFinding] {
        do {
            let rules = try CodeRules(in: folder)
            return try CodeRules.Kind.allCases.compactMap { kind in
                guard let output = rules.outputs[kind] else { return nil }
                let problem: String?
                do {
                    problem =
                        switch kind {
                        case .types: try types(output.url, rules)
                        case .embed: try embedded(output.url)
                        }
                } catch let error as MigrationError where error.file == CodeRules.fileName {
                    throw error
                } catch let error as MigrationError {
                    problem = error.diagnostic.description
                }
                return problem.map { finding($0, line: output.line) }
            }
        } catch let error as MigrationError {
            return [finding(error.diagnostic.explanation, line: error.line ?? 1)]
        } catch {
            return [finding("\(error)", line: 1)]
        }
    }

    private func finding(_ reason: String, line: Int) -> ReviewFinding {
        ReviewFinding(file: CodeRules.fileName, line: line, rule: .generatedCode, reason: reason)
    }

    private func types(_ url: URL, _ rules: CodeRules) throws -> String? {
        let file = try SchemaTypesFile(url)
        guard let header = file.header else { return missing(url, "types") }
        let versions = Set(header.versions.compactMap { SchemaVersion($0) })
        let latest = versions.max() ?? 0
        if let code = migrator.migrations.first(where: { $0 is CodeFile }), code.version <= latest {
            return """
                \(url.lastPathComponent) cannot be checked: only the app can run \(code.title). Check it in a test, with \
                OldSchemas(at:).verify(_:), and take it out of this file.
                """
        }
        let made = try SchemaTypes(
            of: migrator, at: versions, name: header.name, mapping: rules.mapping,
            configuration: rules.standIns.configuration)
        return file.hasBytes(of: made.text) ? nil : stale(url, "types")
    }

    private func embedded(_ url: URL) throws -> String? {
        guard let text = url.readGenerated() else { return missing(url, "embed") }
        return try CommittedMigrations(in: folder).text.utf8.elementsEqual(text.utf8)
            ? nil : stale(url, "embed")
    }

    private func missing(_ url: URL, _ subcommand: String) -> String {
        "\(url.lastPathComponent) is missing. Write it with `app-migrations \(subcommand)\(command)`, and commit it."
    }

    private func stale(_ url: URL, _ subcommand: String) -> String {
        """
        \(url.lastPathComponent) is not what the migrations make. Write it again with \
        `app-migrations \(subcommand)\(command)`, and commit it.
        """
    }
}
