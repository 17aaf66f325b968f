import ArgumentParser
import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// Compares the schema of a database with what its migrations make.
struct DriftCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift",
        abstract: "Compare the schema of a database with what its migrations make.",
        discussion: """
            Runs the migrations that the database has had on an empty database in memory, and compares both schemas. \
            Ends with status 1 when they differ: the schema was changed by hand, or a migration was edited after it \
            was applied.

            EXAMPLE
              app-migrations drift --database library.sqlite
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @OptionGroup var format: JSONOption

    func run() throws {
        let migrator = try folder.migrator()
        let name = database.database
        let sentences = try database.reading(with: folder.standIns()) { queue in
            try queue.read { db in
                let schema = try DatabaseSchema(db)
                let sentences = try migrator.differences(of: db, in: Ledger(db)) { replica in
                    try schema.difference(to: replica.read(DatabaseSchema.init)).changes
                        .filter { !$0.isSetting }
                        .map { $0.sentence(here: "in \(name)", there: "in its migrations") }
                }
                guard let sentences else {
                    throw Failure(
                        "\(name) has had migrations that the folder does not hold",
                        remedy: "Pass the folder of its own migrations as --directory.")
                }
                return sentences
            }
        }
        let output = DriftOutput(database: name, drifted: !sentences.isEmpty, differences: sentences)
        if format.json { try printJSON(output) } else { output.print() }
        if output.drifted { throw ExitCode.failure }
    }
}

/// The output of `drift`.
private struct DriftOutput: Encodable {
    let database: String
    let drifted: Bool
    let differences: [String]

    func print() {
        let style = Style()
        if differences.isEmpty {
            Swift.print("\(style.good("✓")) \(database) has the schema that its migrations make")
        } else {
            Swift.print(
                "\(style.heading(database)): \(differences.count.counting("difference")) from what its migrations make"
            )
            for sentence in differences { Swift.print("  \(style.notable("!")) \(sentence)") }
        }
    }
}
