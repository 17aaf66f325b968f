public import GRDB

/// The way in which a table got its new definition.
package enum Redefinition: Hashable, Sendable {
    /// The table had this very definition already.
    case unchanged
    /// The definition was replaced, and no row was copied.
    case edited
    /// The table was rebuilt, because this build of SQLite does not let its schema be edited.
    case rebuilt

    /// The first statement that every redefinition runs in its savepoint, by which a trace knows it.
    package static let firstStatement =
        "SELECT schema, type FROM pragma_table_list WHERE name = ? COLLATE NOCASE"
}

extension Database {
    /// Changes the constraints of a table, whatever its size, without copying its rows.
    ///
    /// ```swift
    /// try db.redefine(
    ///     table: "photo",
    ///     as: """
    ///         CREATE TABLE photo(
    ///             id INTEGER PRIMARY KEY,
    ///             title TEXT NOT NULL CHECK (length(title) > 0),
    ///             album INTEGER REFERENCES album(id) ON DELETE CASCADE)
    ///         """)
    /// ```
    ///
    /// `NOT NULL`, `CHECK`, foreign keys with their actions, `DEFAULT` and `ON CONFLICT` may change. Columns, affinities,
    /// collations, keys, `UNIQUE` and generated values must stay: that is an error, and nothing is written.
    ///
    /// SQLite checks the rows under the new definition. Where they break it, everything is undone, and the error names the
    /// constraint, the number of rows and the first keys. Rows that broke an unchanged constraint before stop nothing.
    ///
    /// Indexes, triggers and views stay. Outside a transaction, it runs in one of its own.
    ///
    /// - Parameters:
    ///   - table: a table of the main database.
    ///   - definition: one `CREATE TABLE` statement for this table.
    /// - Throws: `MigrationError`, or the error with which SQLite fails.
    public func redefine(table: String, as definition: String) throws {
        _ = try redefine(table: table, as: definition, editing: true)
    }

    /// Changes the constraints of a table, and says in which way.
    ///
    /// - Parameter canEdit: false to rebuild the table, as where SQLite refuses the edit.
    package func redefine(
        table: String, as definition: String, editing canEdit: Bool
    ) throws -> Redefinition {
        var result = Redefinition.unchanged
        do {
            try inSavepoint {
                let change = try TableChange(SQLName(table), definition, self)
                result = try change.apply(self, editing: canEdit)
                return .commit
            }
        } catch {
            clearSchemaCache()
            throw error
        }
        if result != .unchanged { clearSchemaCache() }
        return result
    }
}
