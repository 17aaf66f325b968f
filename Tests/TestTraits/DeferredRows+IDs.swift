public import DatabaseBatches
public import GRDB

extension DeferredRows {
    /// Returns the ids of the rows, in order.
    public func ids(of table: String, _ db: Database) throws -> [Int64] {
        let (sql, arguments) = try SQL("SELECT id FROM \(sql: table) WHERE \(condition) ORDER BY id").build(
            db)
        return try Int64.fetchAll(db, sql: sql, arguments: arguments)
    }
}
