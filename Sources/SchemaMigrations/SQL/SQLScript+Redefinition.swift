import AppMigrations
import GRDB
import MigrationDiagnostics

extension SQLScript {
    /// Gives the tables the definitions that the file holds, one after the other.
    ///
    /// - Parameter afterEach: is called after each.
    /// - Throws: `MigrationError`, with the line and the statement that failed.
    func redefine(_ db: Database, afterEach: () throws -> Void) throws {
        for statement in statements {
            guard let table = statement.redefinedTable else { continue }
            do {
                try db.redefine(table: table.text, as: wholeText(of: statement))
            } catch var error as MigrationError {
                error.diagnostic.place = .file(fileName, line: statement.line)
                error.statement = text(of: statement)
                // An error of SQLite's has a remedy of its own.
                if error.code == .stepFailed, error.underlyingError == nil {
                    error.remedy = "Correct the rows in a file before it. It was rolled back."
                }
                throw error
            }
            try afterEach()
        }
    }
}

extension SQLScript.Statement {
    /// The table of a plain `CREATE TABLE`, as a file that redefines tables holds it; nil for another statement.
    var redefinedTable: SQLName? {
        guard opens(with: "CREATE", "TABLE") else { return nil }
        let hasCondition = opens(with: "CREATE", "TABLE", "IF", "NOT", "EXISTS")
        return opening.dropFirst(hasCondition ? 5 : 2).qualifiedName
    }
}
