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

    @Option(
        name: .customLong("drop"),
        help: ArgumentHelp(
            "A table or a column to drop with its data, such as note or note.body.",
            valueName: "table[.column]"))
    var drops: [String] = []

    var isEmpty: Bool { columns.isEmpty && tables.isEmpty && drops.isEmpty }

    var renames: SchemaRenames { SchemaRenames(tables: tables, columns: columns, drops: drops) }
}
