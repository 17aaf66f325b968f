import Foundation
import MigrationEmbedding
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TextOutput

/// The calls that register the deferred rebuilds which lead to the schema of a file, with what people read about them.
struct DeferredGeneration {
    private let file: String
    private let generator: MigrationGenerator
    private let rebuilds: [DeferredRebuild]
    private let trial: MigrationGenerator.Trial

    /// Compares a folder's migrations with a file, and tries the rebuilds between them on generated rows.
    ///
    /// - Parameter dialog: asks about what may be renamed; nil to go by the options alone.
    init(
        from file: String, _ folder: DirectoryOption, _ renames: RenameOptions, asking dialog: RenameDialog?
    ) throws {
        self.file = file
        generator = try Generation.compare(file, folder, renames, asking: dialog)
        try Generation.checkIsWritable(generator, file)
        rebuilds = generator.deferredRebuilds
        guard !rebuilds.isEmpty else {
            throw Failure(
                "No table has to be rebuilt for the schema of \(file): \(generator.summary.joined(separator: ", "))",
                remedy:
                    "Leave out --deferred, and write a migration: `app-migrations new NAME --from \(file)`.")
        }
        trial = try generator.checkDeferredRebuilds {
            try TableFilling.fillAll($0, rowsPerTable: 32, seed: 1, style: .awkward)
        }
    }

    /// The calls, in Swift.
    var calls: String { rebuilds.map(\.call).joined(separator: "\n\n") }

    /// Returns what the rebuilds do, and what is left to do, for people.
    func report(_ style: Style) -> String {
        let tables = rebuilds.map(\.table.text.quoted).asList
        var lines = [
            trial.line(
                making: "\(rebuilds.count == 1 ? "table" : "tables") \(tables) as in \(file)", style),
            "  Pass the app version of the step, and your database, in place of \"…\" and `dbQueue`.",
        ]
        lines += rebuilds.flatMap(\.renamedIndexes).map {
            "index \($0.wanted.text.quoted) becomes \($0.name.text.quoted)"
        }.listed("SQLite cannot rename an index. Use its new name in \(file), too:", style)
        let others = generator.summaryOfOthers
        if !others.isEmpty {
            lines += ["", style.heading("These changes need no rebuild:")] + others.map { "  \($0)" }
            lines.append(
                """
                  Make a migration of them first, with new --from and a file that creates \(tables) as before. What uses the new \
                columns belongs in a step that is `finishing:` the rebuild.
                """)
        }
        lines += generator.tightened(trial).listed(
            "Rows may not fit. They are set aside, and the old table stays as long as there is one:", style)
        lines += generator.questions.listed(
            "Left out, because it would lose data or cannot be decided:", style)
        return lines.joined(separator: "\n")
    }
}

extension DeferredRebuild {
    /// The call that registers the rebuild.
    fileprivate var call: String {
        func line(_ text: String) -> String { SwiftLiteral(readable: text, indentingLinesBy: nil).text }
        func list(_ label: String, _ elements: [String]) -> String {
            elements.isEmpty ? "" : ", \(label): [\(elements.joined(separator: ", "))]"
        }
        let schema = SwiftLiteral(readable: schema, indentingLinesBy: "    ").text
        return """
            manager.whenMigratingToVersion("…", rebuilding: \(line(table.text)), deferredIn: dbQueue, as: \(schema)\
            \(list("copying", expressions.map { "\(line($0.column.text)): \(line($0.text))" }))\
            \(list("dropping", dropped.map { line($0.text) })))
            """
    }
}
