import GRDB
import SchemaMigrations

extension Refill {
    /// Removes objects.
    ///
    /// - Returns: what was removed.
    func remove(where condition: (DamagedDatabase.Entry) -> Bool) throws -> [DamagedDatabase.Entry] {
        let objects = try DamagedDatabase.Entry.fetchAll(db).filter(condition)
        for object in objects { try db.execute(sql: "DROP \(object.type) \(object.name.inMain)") }
        return objects
    }

    /// Makes the objects that no migration makes, or that are others than the migrations', such as the tables of records.
    ///
    /// - Parameter triggers: those that are made last, to which the damaged database's are added.
    mutating func takeOwnSchema(_ triggers: inout [DamagedDatabase.Entry]) throws {
        for object in version.replaced {
            try db.execute(sql: "DROP \(object.type) IF EXISTS \(object.name.inMain)")
            triggers.removeAll { $0.name == object.name }
        }
        for object in schema.objects where !triggers.contains(where: { $0.name == object.name }) {
            if object.isTrigger {
                triggers.append(object)
            } else if try !db.has(object), try !SQLiteStore.createTable(named: object.name, db) {
                try make(object)
            }
        }
        // A table that is replaced takes its indexes along.
        for object in version.definitions.values
        where object.type == "index" && !version.replaced.contains(object) {
            let index = DamagedDatabase.Entry(object)
            if try !db.has(index) { try make(index) }
        }
        layouts = try TableLayout.fetchAll(db).map(version.completing)
    }

    /// Makes an object, unless another one of the new database keeps it from being made.
    func make(_ object: DamagedDatabase.Entry) throws {
        do {
            _ = try object.make(db)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {}
    }

    /// Counts the pages of a virtual table that holds what no other table does, unless it was empty.
    ///
    /// Only its module can read them. In a new table, it has rows of its own there, too.
    mutating func countLost(_ virtual: VirtualTable) throws {
        var table = SalvageReport.Table(name: virtual.name.text)
        for shadow in virtual.shadows {
            guard let tree = damaged.tree(of: shadow) else {
                table.missingPages += damaged.entries.contains { $0.name == shadow } ? 1 : 0
                continue
            }
            var count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(shadow.inMain)") ?? 0
            for leaf in tree.leaves where count >= 0 {
                let unreadable = try damaged.forEachRow(in: leaf) { _, _ in count -= 1 }
                count -= unreadable
            }
            if count < 0 || !tree.missing.isEmpty {
                table.missingPages += tree.leaves.count + tree.missing.count
            }
        }
        tables[virtual.name] = table
    }

    /// Counts what of the damaged schema is not in the new database.
    mutating func countLostObjects() throws {
        let lost = try damaged.entries.count { entry in
            try !entry.name.folded.hasPrefix("sqlite_") && !db.has(entry)
        }
        guard lost > 0 || !damaged.hasWholeSchema else { return }
        var table = SalvageReport.Table(name: "sqlite_schema")
        table.unreadable = lost
        table.missingPages = damaged.hasWholeSchema ? 0 : 1
        tables["sqlite_schema"] = table
    }
}

extension DamagedDatabase.Entry {
    fileprivate static func fetchAll(_ db: Database) throws -> [Self] {
        try Row.fetchAll(
            db, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL"
        ).map { Self(type: $0[0], name: $0[1], table: $0[2], root: 0, sql: $0[3]) }
    }

    init(_ object: SchemaObject) {
        self.init(type: object.type, name: object.name, table: object.table, root: 0, sql: object.sql)
    }

    var isTrigger: Bool { type == "trigger" }

    /// True for an index that refuses no rows.
    var isPlainIndex: Bool {
        type == "index" && sql?.uppercased().hasPrefix("CREATE UNIQUE") == false
    }
}
