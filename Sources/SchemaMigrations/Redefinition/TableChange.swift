import AppMigrations
import GRDB

/// A table's definition, and the one that it is to have.
final class TableChange {
    let old: TableShape
    let new: TableShape
    /// The new text, with the table's name as it is spelled now.
    let sql: String

    var table: SQLName { old.name }

    /// Compares the definitions.
    ///
    /// - Throws: `MigrationError`, if the new one is more than a change of constraints.
    init(_ name: SQLName, _ definition: String, _ db: Database) throws {
        try Self.refuseOther(name, db)
        old = try TableShape(name, db)
        new = try WantedTable.shape(of: definition, for: name, db)
        sql = new.text.named(old.name)
        try old.refuse(new)
    }

    /// Throws an error if the name is not that of an app's ordinary table.
    private static func refuseOther(_ name: SQLName, _ db: Database) throws {
        let found = try Row.fetchAll(db, sql: Redefinition.firstStatement, arguments: [name])
        func refusal(_ problem: String, _ remedy: String) -> MigrationError {
            MigrationError(.invalidMigration, problem, remedy: "\(remedy) Nothing was changed.")
        }
        guard let type = found.first(where: { $0["schema"] == "main" }).map({ $0["type"] as String }) else {
            if let schema = found.first.map({ $0["schema"] as String }) {
                throw refusal(
                    "Table \(name) is in the schema \(schema); only tables of main can be redefined",
                    "Open its database by itself.")
            }
            throw refusal("There is no table \(name)", "Create it first.")
        }
        if name.folded.hasPrefix("sqlite_") || OwnTables.contains(name) {
            throw refusal("\(name) is not a table of the app", "Leave it as it is.")
        }
        switch type {
        case "view": throw refusal("\(name) is a view", "Drop the view and create it again.")
        case "virtual":
            throw refusal("\(name) is a virtual table", "Drop it, create it again and fill it.")
        case "shadow" where try ShadowTables(db).contains(name):
            throw refusal("\(name) belongs to a virtual table", "Leave it as it is.")
        default: break
        }
    }

    // MARK: Applying

    /// Gives the table its new definition, inside a transaction that is undone when this throws.
    func apply(_ db: Database, editing canEdit: Bool) throws -> Redefinition {
        guard !sql.utf8.elementsEqual(old.text.sql.utf8) else { return .unchanged }
        let keys = try NewKeys(old, new, db)
        let mayEdit = try canEdit && writeShortRows(db)
        // Nearly always, one scan shows that every row holds.
        if mayEdit, let orphans = try keys.conditions(db), try rowsHold(orphans, db) == true,
            try db.edit(table, to: sql)
        {
            return .edited
        }
        let isEdited = try mayEdit && editChecked(db)
        if !isEdited { try rebuild(db) }
        try keys.check(self, db)
        return isEdited ? .edited : .rebuilt
    }

    /// Edits the definition, and has SQLite check the rows under the new one.
    ///
    /// - Returns: false if this SQLite does not let its schema be edited.
    private func editChecked(_ db: Database) throws -> Bool {
        if try rowsHold([], db) == true { return try db.edit(table, to: sql) }
        var isEdited = false
        var finding: String?
        try db.inSavepoint {
            isEdited = try db.edit(table, to: sql)
            finding = try isEdited ? checking { try quickCheck(db) } : nil
            return finding == nil ? .commit : .rollback
        }
        guard let finding else { return isEdited }
        db.clearSchemaCache()
        try refuseRows(db)
        // Nothing breaks a new constraint: what SQLite finds was there before.
        guard try quickCheck(db) != nil else {
            throw broken("it finds: \(finding)", count: nil)
        }
        return try db.edit(table, to: sql)
    }

    /// Returns the first problem of the table that SQLite finds.
    private func quickCheck(_ db: Database) throws -> String? {
        try db.with(pragma: "ignore_check_constraints", 0) {
            let first = try String.fetchOne(db, sql: "PRAGMA main.quick_check(\(table.sql))")
            return first == "ok" ? nil : first
        }
    }
}
