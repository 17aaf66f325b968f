import GRDB
import SchemaMigrations

/// Inserts rows into a table, all by one statement, which takes longer to compile than to run.
struct RowInsertion {
    private let db: Database
    private let sql: String
    private var statement: Statement

    init(_ db: Database, into table: SQLName, _ columns: [SQLName]) throws {
        self.db = db
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        sql =
            "INSERT INTO \(table.inMain)"
            + (columns.isEmpty ? " DEFAULT VALUES" : "(\(columns.sql)) VALUES (\(places))")
        statement = try db.makeStatement(sql: sql)
    }

    /// Inserts a row.
    ///
    /// - Returns: the error of a constraint that refuses it; nil if the table has it.
    mutating func insert(_ row: [DatabaseValue]) throws -> DatabaseError? {
        do {
            try statement.execute(arguments: StatementArguments(row))
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // GRDB does not run a statement again that has failed.
            statement = try db.makeStatement(sql: sql)
            return error
        }
    }
}
