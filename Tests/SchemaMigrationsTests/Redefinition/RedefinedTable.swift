import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// A database with one table to redefine.
struct RedefinedTable {
    let folder: TemporaryFolder
    let database: DatabaseQueue

    init(_ sql: String) throws {
        folder = try TemporaryFolder()
        database = try folder.queue("redefined.sqlite")
        try database.execute(sql)
    }

    @discardableResult
    func redefine(
        _ definition: String, table: String = "t", editing canEdit: Bool = true
    ) throws -> Redefinition {
        try database.write { db in try db.redefine(table: table, as: definition, editing: canEdit) }
    }

    /// Returns the error of a definition that is refused, and makes sure that nothing has changed.
    ///
    /// - Parameter afterWriting: whether something may have been written and undone.
    func refusal(
        of definition: String, table: String = "t", afterWriting: Bool = false,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws -> String {
        let before = try state(countingWrites: !afterWriting)
        let error = try failure(sourceLocation: sourceLocation) { try redefine(definition, table: table) }
        #expect(try state(countingWrites: !afterWriting) == before, sourceLocation: sourceLocation)
        return error.description
    }

    /// The schema, the settings of the connection and the numbers that rise with each change.
    private func state(countingWrites: Bool) throws -> [String] {
        let counters = countingWrites ? ["data_version", "schema_version"] : ["schema_version"]
        let settings = ["writable_schema", "ignore_check_constraints", "legacy_alter_table", "foreign_keys"]
        return try database.inDatabase { db in
            try String.fetchAll(db, sql: "SELECT ifnull(sql, name) FROM sqlite_master ORDER BY rowid")
                + (settings + counters).map { "\($0) \(try Int.fetchOne(db, sql: "PRAGMA \($0)") ?? -1)" }
                + (countingWrites ? ["\(db.totalChangesCount)"] : [])
        }
    }

    func rows(_ sql: String = "SELECT * FROM t") throws -> [String] {
        try database.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map(\.description).joined(separator: ", ")
            }
        }
    }

    /// Returns SQLite's message when a statement fails; nil if it does not.
    func message(of sql: String) throws -> String? {
        do {
            try database.execute(sql)
            return nil
        } catch let error as DatabaseError {
            return error.message
        }
    }

    func expectIntact(sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        #expect(try database.strings("PRAGMA integrity_check") == ["ok"], sourceLocation: sourceLocation)
    }
}
