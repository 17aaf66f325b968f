package import SchemaMigrations
import TextOutput

/// One change of a schema.
package enum SchemaAlteration: Sendable {
    case renameTable(SQLName, to: SQLName)
    case renameColumn(SQLName, of: SQLName, to: SQLName)
    case drop(SchemaObject)
    case dropColumn(SQLName, of: SQLName)
    /// Adds a column, whose definition begins with its name.
    case addColumn(SQLName, of: SQLName, definition: String)
    case rebuild(TableRebuild)
    /// Gives a table another definition, in a file that holds nothing else.
    ///
    /// `isFilled` is true if a file before it has given columns values in the place of NULL.
    case redefine(SchemaObject, reasons: [String], isFilled: Bool)
    /// Puts a value in the place of NULL.
    case fill(SQLName, of: SQLName, with: String)
    case create(SchemaObject)
    /// A statement that a person may want, as a comment.
    case proposal(String)
    /// Indexes the texts of another table again.
    case reindex(SQLName)
    /// Gives a full-text table the settings that it had, by these statements.
    case configure([String])
}

/// A table that is created again under another name, filled, and put in the place of the old one.
///
/// These are the steps that SQLite's documentation recommends (lang_altertable.html, 7).
package struct TableRebuild: Sendable {
    /// A column of the new table, and the expression over the old one that gives its values.
    package struct Copy: Sendable {
        package let column: SQLName
        package let expression: String
        /// True if the values may differ from the old ones.
        package let converts: Bool
    }

    package let table: SQLName
    /// The old table's name, which may be written in another case.
    package let oldName: SQLName
    /// The new table's name, until it takes the old one's.
    package let temporaryName: SQLName
    /// The SQL that creates the new table under that name.
    package let sql: String
    package let copies: [Copy]
    /// The name by which the rows' ids are copied, where no column is another name of them; nil otherwise.
    ///
    /// A full-text table, a trigger or a deferred step may hold them.
    package let rowID: SQLName?
    /// True if the new table goes on from the highest id that the old one ever had.
    package let keepsSequence: Bool
    /// The changes that need a rebuild, such as ``column `text` ``.
    package let reasons: [String]
}

/// A difference that a generated migration leaves out, because it would lose data or cannot be decided.
package struct SchemaQuestion: Sendable, Hashable {
    /// The object, such as ``column `note.mood` ``.
    package let subject: String
    /// The reason, and what to do.
    package let text: String
    /// The object that the wanted schema lacks; nil if the question is about something else.
    package let missing: Missing?
    /// Other objects that are left out with it.
    package internal(set) var waiting: [String] = []

    /// A table or a column that may have another name in the wanted schema.
    package struct Missing: Sendable, Hashable {
        /// The table, or table and column: the argument of `--drop`.
        package let path: String
        package let isTable: Bool
        /// The names that only the wanted schema has.
        package let newNames: [String]
    }

    /// Returns whether the question is about a column.
    func isAbout(_ column: SQLName, of table: SQLName) -> Bool {
        subject == "column " + "\(table).\(column)".quoted
    }

    init(_ subject: String, _ text: String, missing: Missing? = nil) {
        self.subject = subject
        self.text = text
        self.missing = missing
    }
}
