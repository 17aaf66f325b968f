import Foundation
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TextOutput

/// A migration that leads to the schema of a file, with what people read about it.
struct Generation {
    private let file: String
    private let generator: MigrationGenerator
    private let goesBack: Bool
    private let trial: MigrationGenerator.Trial?
    /// The reasons for which a sync engine would not accept it, a sentence each.
    private let refusedBySync: [String]
    /// True if an app that does not know the migration can use the database after it.
    private let isCompatible: Bool

    /// Compares a folder's migrations with a file, and tries the migration between them on generated rows.
    ///
    /// - Parameter dialog: asks about what may be renamed; nil to go by the options alone.
    init(
        from file: String, _ folder: DirectoryOption, _ renames: RenameOptions, goingBack goesBack: Bool,
        asking dialog: RenameDialog? = nil
    ) throws {
        self.file = file
        self.goesBack = goesBack
        let migrator = try folder.migratorIfAny()
        let configuration = try folder.standIns().configuration
        let schema = try SchemaFile(contentsOf: URL(fileURLWithPath: file))
        func compare(_ renames: RenameOptions, redefining: Bool = true) throws -> MigrationGenerator {
            try MigrationGenerator(
                migrator, to: schema, renaming: renames.renames, redefining: redefining,
                configuration: configuration)
        }
        let answers = try dialog?.complete(renames) { try compare($0).questions } ?? renames
        (generator, trial) = try MigrationGenerator.tried(goingBack: goesBack) {
            try compare(answers, redefining: $0)
        } fill: {
            try TableFilling.fillAll($0, rowsPerTable: 32, seed: 1, style: .awkward)
        }
        try generator.checkThatAnswersAreDone()
        refusedBySync = try generator.synchronizedFindings(in: folder.url)
            .filter { $0.severity == .error }.map(\.reason)
        isCompatible = try !generator.files.isEmpty && generator.isCompatible()
    }

    /// True if the migrations make the schema of the file already.
    var isEmpty: Bool { generator.isEmpty }

    /// The statements of the migration.
    var sql: String { generator.sql }

    /// The statements of the down migration.
    var downSQL: String { generator.downSQL }

    /// Throws an error if there is nothing to write.
    func checkIsWritable() throws {
        guard refusedBySync.isEmpty else {
            throw Failure(
                "A sync engine would not accept the migration: \(refusedBySync.joined(separator: " "))",
                remedy: "Correct \(file), or write the migration by hand. Nothing was written.")
        }
        guard generator.files.isEmpty else { return }
        guard generator.questions.isEmpty else {
            throw Failure(
                """
                Nothing can be written, because everything that differs would lose data or cannot be decided: \
                \(generator.questions.map { "\($0.subject). \($0.text)\($0.drop.map { " \($0)" } ?? "")" }.joined(separator: " "))
                """,
                remedy: "Answer the questions, or write the migration by hand. Nothing was written.")
        }
        throw Failure(
            "The migrations make the schema of \(file) already",
            remedy: "Edit \(file) first. Nothing was written.")
    }

    /// The files of the migration, in order.
    var files: [GeneratedFile] { generator.files }

    /// Returns the text of a migration's file.
    func text(of generated: GeneratedFile, named name: String) -> String {
        let settings = (generated.redefines ? ["redefine"] : []) + (isCompatible ? ["compatible"] : [])
        let header =
            (settings.isEmpty ? "" : "-- migrations: \(settings.joined(separator: ", "))\n")
            + (generator.isSynchronized ? "-- tool: synced\n" : "")
        return """
            -- \(name)
            --
            -- Written by `app-migrations new --from \(file.split(whereSeparator: \.isNewline).joined(separator: " "))`, and \
            tried on generated rows.
            \(header)
            \(generated.body)
            """
    }

    /// Returns what the migration does and leaves out, for people.
    func report(_ style: Style) -> String {
        var lines = generator.summary.map { "  \($0)" }
        if let trial {
            let result = generator.questions.isEmpty ? "the schema of \(file)" : "what it should"
            let rows = "on \(trial.rows.counting("generated row")) in \(trial.tables.counting("table"))"
            lines.append(
                style.good("✓")
                    + (trial.rows == 0
                        ? " Tried: it makes \(result)."
                        : " Tried \(rows): it makes \(result), and every row stays.")
                    + (trial.misfits == 0
                        ? ""
                        : " \(trial.misfits.counting("more row")) \(trial.misfits == 1 ? "does" : "do") not fit it.")
            )
        }
        if isCompatible {
            lines.append(style.good("✓") + " Compatible: an older build can use the database after it.")
        }
        lines += list(
            generator.tightened + (trial?.misfitReasons.map { "of the generated rows, \($0)" } ?? []),
            of: "migration", style)
        if !refusedBySync.isEmpty {
            lines += [
                "", style.heading("A sync engine would not accept it, so new --from does not write it:"),
            ]
            lines += refusedBySync.map { "  \(style.notable("!")) \($0)" }
        }
        lines += list(
            generator.questions, "Left out, because it would lose data or cannot be decided:", style)
        if goesBack {
            lines += list(generator.downTightened, of: "down migration", style)
            lines += list(generator.downQuestions, "Left out of the down migration:", style)
        }
        return lines.joined(separator: "\n")
    }

    private func list(_ tightened: [String], of migration: String, _ style: Style) -> [String] {
        guard !tightened.isEmpty else { return [] }
        return ["", style.heading("Rows may not fit, and then the \(migration) fails and changes nothing:")]
            + tightened.map { "  \(style.notable("!")) \($0)" }
    }

    private func list(_ questions: [SchemaQuestion], _ title: String, _ style: Style) -> [String] {
        guard !questions.isEmpty else { return [] }
        var lines = ["", style.heading(title)]
        for question in questions {
            lines.append("  \(style.notable("?")) \(question.subject): \(question.text)")
            if let drop = question.drop { lines.append("    \(drop)") }
            if !question.waiting.isEmpty { lines.append("    Left out with it: \(question.waiting.asList).") }
        }
        return lines
    }
}

extension SchemaQuestion {
    /// The option that drops what the schema lacks, in a sentence.
    fileprivate var drop: String? { missing.map { "To drop it, pass --drop \($0.path.shellWord)." } }
}
