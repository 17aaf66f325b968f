import ArgumentParser
import GRDB
import MigrationTools
import SchemaMigrations

/// Prints a database's schema.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print the schema of a database as SQL.",
        discussion: """
            The order does not depend on the database's history, so you can compare two dumps line by line. Leaves out \
            the internal tables of this package and of SQLite.

            EXAMPLE
              app-migrations dump --database library.sqlite
            """)

    @OptionGroup var database: DatabaseOption

    func run() throws {
        let dump = try database.reading { try $0.read(SchemaDump.init) }
        print(dump.text, terminator: "")
    }
}
