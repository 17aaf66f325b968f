import AppMigrations
import GRDB
import SchemaMigrations
import TextOutput

/// The renames that a person has named, since they cannot be told from a drop and an addition.
package struct SchemaRenames: Sendable {
    private let tables: [String]
    private let columns: [String]
    let drops: [String]
    /// The tables to drop with their rows.
    private(set) var droppedTables: Set<SQLName> = []
    /// The columns to drop with their values, by table.
    private(set) var droppedColumns: [SQLName: Set<SQLName>] = [:]

    /// Creates renames from texts such as `note=entry` and `note.body=text`.
    ///
    /// - Parameter drops: what to drop though it loses data, in texts such as `note` and `note.body`.
    package init(tables: [String] = [], columns: [String] = [], drops: [String] = []) {
        self.tables = tables
        self.columns = columns
        self.drops = drops
    }

    /// Returns the renames with those that the comments of a schema record.
    ///
    /// `-- renamed: note.body=text` stays in the schema: once a migration has done it, there is nothing to rename, whether or not the
    /// old name has come back.
    ///
    /// - Parameter wanted: the schema with the comments.
    func adding(
        _ comments: [String], of wanted: SchemaDescription, to db: Database
    ) throws -> SchemaRenames {
        guard try !SchemaDescription(db).objects.isEmpty else { return self }
        func isColumn(_ text: String) -> Bool { text.prefix { $0 != "=" }.contains(".") }
        // A column may be named by its table's new name, and a table may have been renamed twice.
        let inOrder = comments.filter { !isColumn($0) } + comments.filter(isColumn)
        return try inOrder.reduce(self) { renames, text in
            let more = SchemaRenames(
                tables: renames.tables + (isColumn(text) ? [] : [text]),
                columns: renames.columns + (isColumn(text) ? [text] : []), drops: drops)
            if text.splits(at: "=").contains(where: { wanted.has($0.0) }) { return renames }
            var isPending = false
            try db.inSavepoint {
                isPending = (try? more.apply(to: db)) != nil
                return .rollback
            }
            return isPending ? more : renames
        }
    }

    /// Returns the renames with the names of what is dropped.
    ///
    /// - Throws: `MigrationError`, if a text names nothing that exists.
    func namingDrops(in db: Database) throws -> SchemaRenames {
        var copy = self
        let tables = Set(try SchemaObject.fetchAll(db).filter { $0.type == "table" }.map(\.name))
        for text in drops {
            if tables.contains(SQLName(text)) {
                copy.droppedTables.insert(SQLName(text))
                continue
            }
            let found = try text.splits(at: ".").map { (table: SQLName($0.0), column: SQLName($0.1)) }.first {
                try db.has(column: $0.column, of: $0.table)
            }
            guard let found else {
                throw Self.failure(
                    "--drop \(text)", "names no table and no column that the migrations make",
                    "table or table.column")
            }
            copy.droppedColumns[found.table, default: []].insert(found.column)
        }
        return copy
    }

    /// Renames what the texts name in a scratch database.
    ///
    /// A column's table may be given by its old or by its new name.
    ///
    /// - Returns: the changes, in order.
    /// - Throws: `MigrationError`, if a text names nothing that exists.
    func apply(to db: Database) throws -> [SchemaAlteration] {
        var changes: [SchemaAlteration] = []
        var renamed: [SQLName: SQLName] = [:]
        /// Returns the present name of a table, which may have been renamed more than once.
        func present(_ table: SQLName) -> SQLName {
            var names = [table]
            while let next = renamed[names[names.count - 1]], !names.contains(next) { names.append(next) }
            return names[names.count - 1]
        }
        for text in tables {
            let known = Set(try SchemaObject.fetchAll(db).filter { $0.type == "table" }.map(\.name))
            guard let (old, new) = text.splits(at: "=").first(where: { known.contains(SQLName($0.0)) }) else {
                throw Self.failure(
                    "--rename-table \(text)", "names no table that the migrations make", "old=new")
            }
            renamed[SQLName(old)] = SQLName(new)
            try run(.renameTable(SQLName(old), to: SQLName(new)), "--rename-table \(text)", db, &changes)
        }
        /// The second halves of renames whose new names were taken.
        var waiting: [(column: SQLName, table: SQLName, new: SQLName, option: String)] = []
        for text in columns {
            let found = try text.splits(at: "=").lazy.flatMap { left, new in
                left.splits(at: ".").map { (table: SQLName($0.0), column: SQLName($0.1), new: SQLName(new)) }
            }.map { (table: present($0.table), column: $0.column, new: $0.new) }.first {
                try db.has(column: $0.column, of: $0.table)
            }
            guard let found else {
                throw Self.failure(
                    "--rename \(text)", "names no column that the migrations make", "table.old=new")
            }
            var new = found.new
            // Two columns may exchange their names.
            if found.column != new, try db.has(column: new, of: found.table) {
                while try db.has(column: new, of: found.table) { new = SQLName("\(new)_new") }
                waiting.append((new, found.table, found.new, "--rename \(text)"))
            }
            try rename(found.column, of: found.table, to: new, "--rename \(text)", db, &changes)
        }
        for rename in waiting {
            try self.rename(rename.column, of: rename.table, to: rename.new, rename.option, db, &changes)
        }
        return changes
    }

    private func rename(
        _ column: SQLName, of table: SQLName, to new: SQLName, _ option: String, _ db: Database,
        _ changes: inout [SchemaAlteration]
    ) throws {
        let change = SchemaAlteration.renameColumn(column, of: table, to: new)
        do {
            try run(change, option, db, &changes)
        } catch let error as MigrationError {
            // SQLite renames the column in a view, and not in a view on that view.
            let dependents = try dependents(of: table, db)
            guard !dependents.isEmpty else { throw error }
            for object in dependents { try run(.drop(object), option, db, &changes) }
            try run(change, option, db, &changes)
        }
    }

    /// Returns the views that show a table, and the triggers that name such a view, in an order for dropping them.
    private func dependents(of table: SQLName, _ db: Database) throws -> [SchemaObject] {
        let schema = try SchemaDescription(db)
        var names: Set<SQLName> = [table]
        var views: [SchemaObject] = []
        func mentions(_ object: SchemaObject, _ names: Set<SQLName>) -> Bool {
            SQLTokens(object, names: schema.names).tokens.contains { $0.isName && names.contains($0.name) }
        }
        while let view = schema.objects.first(where: { object in
            object.type == "view" && !names.contains(object.name) && mentions(object, names)
        }) {
            names.insert(view.name)
            views.append(view)
        }
        names.remove(table)
        return schema.objects.filter { $0.type == "trigger" && mentions($0, names) } + views.reversed()
    }

    private func run(
        _ change: SchemaAlteration, _ option: String, _ db: Database, _ changes: inout [SchemaAlteration]
    ) throws {
        do {
            try db.execute(sql: GeneratedSQL([change]).text)
            changes.append(change)
        } catch let error as DatabaseError {
            let problem = "cannot be done: \(error.message ?? "SQLite refuses it")"
            if try change.takesName(in: db) {
                throw MigrationError(
                    .misuse, "\(option) \(problem)",
                    remedy:
                        "Drop or rename what has the name in a migration of its own first. Nothing was written."
                )
            }
            throw Self.failure(option, problem, change.isOfTable ? "old=new" : "table.old=new")
        }
    }

    private static func failure(_ option: String, _ problem: String, _ form: String) -> MigrationError {
        MigrationError(
            .misuse, "\(option) \(problem)",
            remedy:
                "Pass \(option.prefix { $0 != " " }) \(form), with names as the migrations have them. Nothing was written."
        )
    }
}

extension SchemaAlteration {
    fileprivate var isOfTable: Bool { if case .renameTable = self { true } else { false } }

    /// Returns whether a rename gives a name that something else has.
    fileprivate func takesName(in db: Database) throws -> Bool {
        switch self {
        case .renameTable(_, to: let new): try SchemaObject.fetchAll(db).contains { $0.name == new }
        case .renameColumn(_, of: let table, to: let new): try db.has(column: new, of: table)
        default: false
        }
    }

    /// The change that reverses a rename.
    var reversed: SchemaAlteration {
        switch self {
        case .renameTable(let old, let new): .renameTable(new, to: old)
        case .renameColumn(let old, let table, let new): .renameColumn(new, of: table, to: old)
        case .drop(let object): .create(object)
        default: self
        }
    }

    /// The change in the words of a summary; nil for all but renames.
    var renameSummary: String? {
        switch self {
        case .renameTable(let old, let new): "~ table \(old.text.quoted) is \(new.text.quoted) now"
        case .renameColumn(let old, let table, let new):
            "~ column " + "\(table).\(old)".quoted + " is \(new.text.quoted) now"
        default: nil
        }
    }
}

extension String {
    /// Returns both sides of each occurrence of a character, since names may contain it.
    fileprivate func splits(at separator: Character) -> [(String, String)] {
        indices.filter { self[$0] == separator }.map {
            (String(self[..<$0]), String(self[index(after: $0)...]))
        }
        .filter { !$0.0.isEmpty && !$0.1.isEmpty }
    }
}

extension Database {
    fileprivate func has(column: SQLName, of table: SQLName) throws -> Bool {
        try Bool.fetchOne(
            self,
            sql: "SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo(?, 'main') WHERE name = ? COLLATE NOCASE)",
            arguments: [table, column]) == true
    }
}
