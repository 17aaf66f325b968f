import GRDB
import SchemaMigrations

/// The schema of a database at one moment, as the rules for migrations compare it.
struct ReviewedSchema {
    let tables: [SQLName: TableLayout]
    /// The indexes that `CREATE INDEX` made, by name.
    let indexes: [SQLName: SchemaObject]
    let triggers: [SQLName: SchemaObject]
    /// The columns of each view that compiles.
    let views: [SQLName: [SQLName]]
    /// The tables whose texts a full-text table indexes, by the name of that one.
    let fullTextSources: [SQLName: SQLName]
    /// How to open a database in which the schema can be made.
    private let configuration: Configuration
    /// The objects by table, to find the tables that have changed.
    private let objects: [SQLName: [SchemaObject]]

    /// Reads the schema of a database.
    ///
    /// - Parameter previous: an earlier schema of the database, from which tables that are the same are taken.
    init(_ db: Database, since previous: ReviewedSchema? = nil) throws {
        db.clearSchemaCache()
        configuration = db.configuration
        let objects = try SchemaObject.fetchAll(db)
        func named(_ type: String) -> [SQLName: SchemaObject] {
            Dictionary(
                objects.filter { $0.type == type }.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        }
        let byTable = Dictionary(grouping: objects, by: \.table)
        self.objects = byTable
        let changed = Set(byTable.filter { previous?.objects[$0.key] != $0.value }.keys)
        // A foreign key without columns of the parent means the parent's primary key.
        var tables =
            previous?.tables.filter { name, table in
                byTable[name] != nil && !changed.contains(name)
                    && !table.references.contains { changed.contains($0.parent) }
            } ?? [:]
        for object in objects
        where object.type == "table" && !object.isVirtual && tables[object.name] == nil {
            tables[object.name] = try TableLayout(db, object)
        }
        self.tables = tables
        indexes = named("index")
        triggers = named("trigger")
        views = named("view").compactMapValues { view in
            try? SQLName.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, 'main')", arguments: [view.name])
        }
        fullTextSources = Dictionary(
            objects.compactMap { object in
                FullTextTable(object)?.contentTable.map { (object.name, $0) }
            }, uniquingKeysWith: { $1 })
    }

    /// Returns the layouts of tables, each after those that it refers to if possible.
    ///
    /// A column that a trigger or a file compares with a key of another table refers to it, so that these find generated rows.
    func layouts(of names: Set<SQLName>, comparedIn outline: ScriptOutline? = nil) -> [TableLayout] {
        var layouts = tables.filter { names.contains($0.key) }
        func suppose(_ pairs: [[(SQLName, SQLName)]], by evidence: TableLayout.Reference.Evidence) {
            for pair in pairs {
                for ((child, column), (parent, key)) in zip(pair, pair.reversed())
                where layouts[parent]?.isUnique([key]) == true && child != parent {
                    layouts[child]?.suppose(column, refersTo: key, of: parent, by: evidence)
                }
            }
        }
        suppose(
            triggers.values.sorted { $0.name < $1.name }.flatMap { trigger in
                trigger.comparisons.map { [($0.table, $0.column), (trigger.table, $0.ownColumn)] }
            }, by: .trigger)
        suppose(outline?.statements.flatMap(\.comparisons) ?? [], by: .comparison)
        return TableLayout.parentsFirst(layouts.values)
    }

    /// Returns the tables that an earlier schema does not have, or has otherwise, by name.
    func tables(otherThanIn before: ReviewedSchema) -> [TableLayout] {
        tables.values.filter { objects[$0.name] != before.objects[$0.name] }.sorted { $0.name < $1.name }
    }

    /// Returns whether a foreign key refers to a table, which may be missing.
    func refers(to name: SQLName) -> Bool {
        tables.values.contains { table in table.references.contains { $0.parent == name } }
    }

    /// Returns whether a table exists, which may be virtual.
    func hasTable(_ name: SQLName) -> Bool {
        objects[name]?.contains { $0.type == "table" && $0.name == name } == true
    }

    /// Returns whether a table exists that is virtual.
    func isVirtual(_ name: SQLName) -> Bool { hasTable(name) && tables[name] == nil }

    /// Returns whether a table exists that a `CREATE TABLE` statement defines otherwise.
    func hasTable(_ name: SQLName, otherThan sql: String) -> Bool {
        guard let table = object(of: name), !table.isVirtual else { return false }
        let other = table.with(sql: sql)
        let names = table.names.union(other.names)
        return !TableOutline(table, names: names).isSame(as: TableOutline(other, names: names))
    }

    /// Returns whether the migrator could give a table the definition that a later schema has, without copying its rows.
    ///
    /// Also false if the definition stays the same.
    func canRedefine(_ table: SQLName, asIn later: ReviewedSchema) -> Bool {
        guard let old = object(of: table), let new = later.object(of: table),
            !old.isSame(as: new, names: old.names.union(new.names)),
            let database = try? configuration.scratchDatabase()
        else { return false }
        defer { try? database.close() }
        let result = try? database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            for object in objects[table] ?? [] where ["table", "index"].contains(object.type) {
                try db.execute(sql: object.sql)
            }
            return try db.redefine(table: table.text, as: new.sql, editing: true)
        }
        return result != nil
    }

    /// Returns the object of a table, which may be virtual.
    func object(of table: SQLName) -> SchemaObject? {
        objects[table]?.first { $0.type == "table" && $0.name == table }
    }

    /// The foreign keys that no index serves, by table.
    ///
    /// Without one, deleting or updating a row of the parent reads every row of the child (foreignkeys.html, 3).
    var unindexedForeignKeys: [ForeignKeyName] {
        tables.values.flatMap { table in
            table.references.filter { !table.hasIndex(startingWith: $0.columns) }
                .map { ForeignKeyName(table: table.name, columns: $0.columns, parent: $0.parent) }
        }
    }

    /// Returns the tables with these names, the tables that refer to them, those that triggers of all these name, and all
    /// that they refer to.
    ///
    /// A view reads tables that are hard to tell, so its name stands for all tables.
    func tables(concernedBy names: Set<SQLName>) -> Set<SQLName> {
        guard views.keys.allSatisfy({ !names.contains($0) }) else { return Set(tables.keys) }
        let sources = fullTextSources.filter { names.contains($0.key) }.map(\.value)
        var named = names.union(sources)
        guard tables.keys.contains(where: named.contains) else { return [] }
        var found = tables(namedOrReferringTo: named)
        var fired = triggers.values.filter { found.contains($0.table) }
        while !fired.isEmpty {
            named.formUnion(fired.flatMap(\.names))
            let more = tables(namedOrReferringTo: named).subtracting(found)
            found.formUnion(more)
            fired = triggers.values.filter { more.contains($0.table) }
        }
        var new = found
        while !new.isEmpty {
            let parents = new.flatMap { tables[$0]?.references.map(\.parent) ?? [] }
            new = Set(parents.filter { tables[$0] != nil }).subtracting(found)
            found.formUnion(new)
        }
        return found
    }

    private func tables(namedOrReferringTo names: Set<SQLName>) -> Set<SQLName> {
        Set(
            tables.values.filter { table in
                names.contains(table.name) || table.references.contains { names.contains($0.parent) }
            }.map(\.name))
    }

    /// Returns the tables that statements on others leave alone: no trigger of those names them.
    func tables(unconcernedBy changed: Set<SQLName>) -> Set<SQLName> {
        let named = triggers.values.filter { changed.contains($0.table) || views[$0.table] != nil }
            .reduce(into: changed) { $0.formUnion($1.names) }
        return Set(tables.keys).subtracting(named)
    }

    /// Creates a database of this schema without some tables, and without the views that read these.
    ///
    /// - Parameters:
    ///   - database: the database whose rows it gets; nil for none.
    ///   - begin: changes the database before it has a table.
    func database(
        without tables: Set<SQLName>, rowsOf database: DatabaseQueue?,
        beginningWith begin: (DatabaseQueue) throws -> Void = { _ in }
    ) throws -> DatabaseQueue {
        let all = objects.values.flatMap(\.self).filter { object in
            !tables.contains(object.table) && fullTextSources[object.name].map(tables.contains) != true
                && (object.type != "view" || object.names.isDisjoint(with: tables))
        }
        let order = ["table", "index", "view", "trigger"]
        let small = try configuration.scratchDatabase()
        try begin(small)
        try small.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            for type in order {
                for object in all where object.type == type { try db.execute(sql: object.sql) }
            }
        }
        guard let database else { return small }
        for object in all where object.type == "table" && !object.isVirtual {
            guard let columns = self.tables[object.name]?.columns.map(\.name), !columns.isEmpty else {
                continue
            }
            let rows = try database.read {
                try Row.fetchAll($0, sql: "SELECT \(columns.sql) FROM \(object.name.inMain)")
            }
            guard !rows.isEmpty else { continue }
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            try small.write { db in
                let insertion = try db.makeStatement(
                    sql: "INSERT OR IGNORE INTO \(object.name.inMain)(\(columns.sql)) VALUES (\(places))")
                for row in rows {
                    try insertion.execute(arguments: StatementArguments(Array(row.databaseValues)))
                }
            }
        }
        return small
    }

    /// A foreign key, by its table and columns.
    struct ForeignKeyName: Hashable {
        let table: SQLName
        let columns: [SQLName]
        let parent: SQLName
    }
}

extension SchemaObject {
    /// A comparison in a trigger's statement on a table with the row that fires it: `DELETE FROM revision WHERE note = new.id`.
    fileprivate struct Comparison {
        let table: SQLName
        let column: SQLName
        let ownColumn: SQLName
    }

    fileprivate var comparisons: [Comparison] {
        let bytes = Array(sql.utf8)
        let tokens = SQLLexer(bytes).map {
            SQLScript.Token($0.kind, String(decoding: bytes[$0.range], as: UTF8.self))
        }
        var table: SQLName?
        return tokens.indices.compactMap { index in
            if index > 0, ["FROM", "UPDATE", "INTO", "JOIN"].contains(tokens[index - 1].keyword) {
                table = tokens[index].name
            }
            guard let table, tokens[index].keyword == "=",
                let left = tokens[..<index].suffix(3).qualifiedColumn(isLast: true),
                let right = tokens[(index + 1)...].prefix(3).qualifiedColumn(isLast: false),
                left.isOwn != right.isOwn
            else { return nil }
            let (own, other) = left.isOwn ? (left, right) : (right, left)
            return Comparison(table: table, column: other.name, ownColumn: own.name)
        }
    }
}

extension ArraySlice<SQLScript.Token> {
    /// Reads a column, perhaps with a table before it, at the end or at the beginning of three tokens.
    ///
    /// It is one of the row that fires a trigger after `new` and `old`.
    fileprivate func qualifiedColumn(isLast: Bool) -> (name: SQLName, isOwn: Bool)? {
        guard let first, let last else { return nil }
        guard count == 3, self[startIndex + 1].keyword == "." else {
            return ((isLast ? last : first).name, false)
        }
        return (last.name, ["NEW", "OLD"].contains(first.keyword))
    }
}

extension TableLayout {
    /// Adds a reference that nothing declares, if no constraint limits the column.
    fileprivate mutating func suppose(
        _ column: SQLName, refersTo key: SQLName, of parent: SQLName, by evidence: Reference.Evidence
    ) {
        guard let free = self.column(named: column), !free.isKey, checks(of: free).isEmpty,
            !references.contains(where: { $0.columns.contains(column) })
        else { return }
        references.append(
            Reference(
                parent: parent, columns: [column], parentColumns: [key], actions: [], evidence: evidence))
    }

    /// Returns whether an index begins with these columns, in any order, or is unique on some of them.
    func hasIndex(startingWith columns: [SQLName]) -> Bool {
        let wanted = Set(columns)
        if !primaryKey.isEmpty, wanted.isSuperset(of: primaryKey) { return true }
        if Set(primaryKey.prefix(wanted.count)) == wanted { return true }
        return indexes.contains { index in
            guard !index.isPartial else { return false }
            let indexed = index.columns.compactMap(\.self)
            return Set(index.columns.prefix(wanted.count)) == Set(wanted.map(Optional.some))
                || index.isUnique && indexed.count == index.columns.count && wanted.isSuperset(of: indexed)
        }
    }

    /// Returns whether no two rows can have the same values in these columns.
    func isUnique(_ columns: [SQLName]) -> Bool {
        let wanted = Set(columns)
        if !primaryKey.isEmpty, wanted.isSuperset(of: primaryKey) { return true }
        return indexes.contains { index in
            index.isUnique && !index.isPartial
                && index.columns.allSatisfy { $0.map(wanted.contains) == true }
        }
    }

    /// True if every one of the columns exists, generated ones included.
    func hasAll(_ names: some Sequence<SQLName>) -> Bool {
        names.allSatisfy { column(named: $0) != nil || generatedColumns.contains($0) }
    }
}
