import AppMigrations
import Foundation
import GRDB

/// Reads a wanted definition by creating the table in an empty database in memory.
enum WantedTable {
    /// Returns the table that a statement would create in the main database.
    static func shape(of definition: String, for table: SQLName, _ db: Database) throws -> TableShape {
        let bytes = Array(definition.utf8)
        let tokens = Array(SQLLexer(bytes))
        func text(_ index: Int) -> SQLName {
            guard index < tokens.count else { return "" }
            return SQLName(token: String(decoding: bytes[tokens[index].range], as: UTF8.self))
        }
        guard text(0) == "create", text(1) == "table", !bytes.contains(0) else {
            throw refusal("is not a CREATE TABLE statement", table)
        }
        if let end = tokens.firstIndex(where: { $0.kind == .semicolon }),
            tokens[end...].contains(where: { $0.kind != .semicolon })
        {
            throw refusal("is more than one statement", table)
        }
        var name = 2
        if text(2) == "if", text(3) == "not", text(4) == "exists" { name = 5 }
        if text(name + 1) == "." {
            guard text(name) == "main" else {
                throw refusal("names the schema \(text(name)); only tables of main can be redefined", table)
            }
            name += 2
        }
        guard text(name) == table else { throw refusal("names another table, \(text(name))", table) }
        guard text(name + 1) != "as" else { throw refusal("is CREATE TABLE … AS", table) }
        return try create(definition, table, db)
    }

    private static func create(_ definition: String, _ table: SQLName, _ db: Database) throws -> TableShape {
        var configuration = Configuration()
        configuration.acceptsDoubleQuotedStringLiterals = db.configuration.acceptsDoubleQuotedStringLiterals
        let scratch = try DatabaseQueue(configuration: configuration)
        defer { try? scratch.close() }
        let (functions, collations) = try (Function.fetchAll(db), SQLName.fetchSet(db, sql: collations))
        return try scratch.writeWithoutTransaction { scratch in
            let known = try Set(Function.fetchAll(scratch).map(\.id))
            for function in functions where !known.contains(function.id) {
                scratch.add(function: function.standIn)
            }
            for collation in collations.subtracting(try SQLName.fetchSet(scratch, sql: self.collations)) {
                scratch.add(collation: DatabaseCollation(collation.text) { _, _ in .orderedSame })
            }
            do {
                try scratch.execute(sql: definition)
            } catch let error as DatabaseError {
                throw refusal(
                    "cannot be read: \(error.message ?? error.description)", table, underlyingError: error)
            }
            return try TableShape(table, scratch)
        }
    }

    private static let collations = "SELECT name FROM pragma_collation_list"

    static func refusal(
        _ problem: String, _ table: SQLName, underlyingError: (any Error)? = nil
    ) -> MigrationError {
        MigrationError(
            .invalidMigration, "The new definition of table \(table) \(problem)",
            remedy: "Pass one CREATE TABLE \(table.sql)(…) statement. Nothing was changed.",
            underlyingError: underlyingError)
    }
}

/// A function of SQL that a connection has.
private struct Function {
    let name: SQLName
    let argumentCount: Int
    let isPure: Bool

    static func fetchAll(_ db: Database) throws -> [Function] {
        // SQLITE_DETERMINISTIC.
        try Row.fetchAll(
            db, sql: "SELECT DISTINCT name, narg, flags & 0x800 FROM pragma_function_list WHERE type = 's'"
        )
        .map { Function(name: $0[0], argumentCount: $0[1], isPure: $0[2] as Int != 0) }
    }

    /// Tells it from all others of a connection.
    var id: String { "\(name.folded) \(argumentCount) \(isPure)" }

    /// A function that only has to be there when a table is created.
    var standIn: DatabaseFunction {
        DatabaseFunction(name.text, argumentCount: argumentCount < 0 ? nil : argumentCount, pure: isPure) {
            _ in nil
        }
    }
}
