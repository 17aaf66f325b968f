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
            In an order that does not depend on the database's history, so that two can be compared line by line. The \
            tables in which this package and SQLite keep their own things are left out.

            EXAMPLE
              app-migrations dump --database library.sqlite
            """)

    @OptionGroup var database: DatabaseOption

    func run() throws {
        let dump = try database.reading { try $0.read(SchemaDump.init) }
        print(dump.text, terminator: "")
    }
}
