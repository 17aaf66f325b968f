import ArgumentParser
import MigrationTools

/// The options that name what is renamed, since a rename looks like a drop and an addition.
struct RenameOptions: ParsableArguments {
    @Option(
        name: .customLong("rename"),
        help: ArgumentHelp("A column to rename, such as note.body=text.", valueName: "table.old=new"))
    var columns: [String] = []

    @Option(
        name: .customLong("rename-table"),
        help: ArgumentHelp("A table to rename, such as note=entry.", valueName: "old=new"))
    var tables: [String] = []

    var isEmpty: Bool { columns.isEmpty && tables.isEmpty }

    var renames: SchemaRenames { SchemaRenames(tables: tables, columns: columns) }
}
