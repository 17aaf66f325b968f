import GRDB
import SchemaMigrations

/// Databases at one version after the other, each with only the tables that the next file may touch.
struct SmallSteps {
    private let database: DatabaseQueue
    private var schema: ReviewedSchema?
    /// A database with the ledger of the other, and nothing else.
    private let ledger: DatabaseQueue

    private static let tables = [SQLName(OwnTables.ledger), OwnTables.details]

    /// - Parameter database: a database that is migrated step by step, between the calls.
    init(of database: DatabaseQueue) throws {
        self.database = database
        ledger = try DatabaseQueue()
        let definitions = try database.read { db in
            try Self.tables.map { table in
                try String.fetchOne(
                    db, sql: "SELECT sql FROM main.sqlite_master WHERE name = ?", arguments: [table])
            }
        }
        try ledger.write { db in for case let sql? in definitions { try db.execute(sql: sql) } }
    }

    /// Returns a part of the database as it is now, for the file that comes next.
    mutating func next(_ script: SQLScript) throws -> DatabaseQueue {
        let schema = try database.read { [schema] in try ReviewedSchema($0, since: schema) }
        self.schema = schema
        try extendLedger()
        let outline = ScriptOutline(script)
        // What a file only names has to be there.
        let tables = schema.tables(concernedBy: outline.changedNames)
            .union(outline.names.intersection(schema.tables.keys))
        return try schema.database(
            without: schema.tables(unconcernedBy: tables), rowsOf: database,
            beginningWith: { [ledger] in try ledger.backup(to: $0) })
    }

    /// Copies the rows of the migrations since the last step.
    private func extendLedger() throws {
        for table in Self.tables {
            let known = try ledger.read {
                try Int64.fetchOne($0, sql: "SELECT max(version) FROM \(table.inMain)")
            }
            let rows = try database.read {
                try Row.fetchAll(
                    $0, sql: "SELECT * FROM \(table.inMain) WHERE version > ?", arguments: [known ?? -1])
            }
            guard let first = rows.first else { continue }
            try ledger.write { db in
                var insertion = try RowInsertion(db, into: table, first.columnNames.map { SQLName($0) })
                for row in rows { _ = try insertion.insert(Array(row.databaseValues)) }
            }
        }
    }
}
