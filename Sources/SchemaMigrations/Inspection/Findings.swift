import GRDB
import MigrationDiagnostics

/// The problems in a database, told apart by what they are about.
struct Findings {
    /// The tables of the database.
    private let tables: Set<SQLName>
    /// The suspects, with the tables to which they refer.
    private var suspects: Suspects
    /// The foreign keys of the suspects, and all others that refer to the same parents.
    private var keys: [ForeignKey] = []
    /// The foreign keys that SQLite cannot check.
    private var uncheckedKeys: [ForeignKey] = []
    private let missing: MissingKeys
    private let orphans: [(key: ForeignKey, count: Int)]
    private var objects: [BrokenObject] = []

    /// Looks for problems in the suspects, and in everything that refers to them.
    ///
    /// - Parameter label: tells the temporary tables from those of an earlier look.
    init(_ db: Database, _ suspects: Suspects, _ foreignKeys: ForeignKeys, label: Int) throws {
        tables = try db.tableNames()
        self.suspects = suspects
        var checked: [ForeignKey] = []
        if foreignKeys != .unchecked, suspects.includesTables {
            let all = try ForeignKey.fetchAll(db)
            self.suspects.addParents(all)
            let parents = self.suspects.parents
            keys = all.filter { parents.contains($0.parent) }
            for key in keys {
                let isChecked =
                    try !tables.contains(key.parent) || key.isUnique(in: db, key.parentColumns(in: db))
                if isChecked {
                    checked.append(key)
                } else if !uncheckedKeys.contains(key) {
                    uncheckedKeys.append(key)
                }
            }
        }
        // SQLite's own check is many times faster, and leaves few tables to look for the missing values.
        let children = try Set(checked.map(\.child)).filter { try db.hasViolations(of: $0) }
        missing = try MissingKeys(
            db, checked.filter { children.contains($0.child) }, tables: tables, label: label)
        orphans = try missing.rows(db)
        if suspects.schemaHasChanged { objects = try BrokenObject.fetchAll(db) }
    }

    /// Returns whether there certainly is no problem, which takes less than to find out what it is.
    ///
    /// - Parameters:
    ///   - shape: the schema before.
    ///   - after: the schema now.
    static func isEmpty(
        _ db: Database, _ suspects: Suspects, _ foreignKeys: ForeignKeys, since shape: SchemaShape,
        now after: SchemaShape
    ) throws -> Bool {
        if foreignKeys != .unchecked, suspects.includesTables {
            let keys = after.keys.filter { $0.concerns(suspects) }
            for child in Set(keys.map(\.child)) where try db.hasViolations(of: child) { return false }
            if suspects.schemaHasChanged, !keys.isEmpty {
                let tables = try db.tableNames()
                let isDropped = keys.contains {
                    !tables.contains($0.parent) && suspects.mayHaveDropped($0.parent, from: shape)
                }
                if isDropped { return false }
            }
        }
        return try !suspects.schemaHasChanged || !after.mayHaveViewsOrTriggers
            || BrokenObject.fetchAll(db).isEmpty
    }

    /// The problems of the suspects, a sentence each.
    var descriptions: [String] {
        let orphans = orphans.filter { $0.key.concerns(suspects) }
            .map { Finding.orphans($0.key, count: $0.count, hasParent: tables.contains($0.key.parent)) }
        let broken = uncheckedKeys.filter { $0.concerns(suspects) }.map(\.brokenKey)
        return (orphans + broken + objects.map(Finding.brokenObject))
            .map { "\($0.description)." + ($0.hint.map { " \($0)" } ?? "") }.inOrder()
    }

    /// Returns a problem that did not exist before, or nil if there is none.
    ///
    /// An orphan is old if a row of any table referred to the same missing row before; a view or a trigger, if
    /// that very one was broken before. Of several migrations, one may have dropped a table that another has created.
    func firstNew(since before: Findings, byMany areMany: Bool, _ db: Database) throws -> Finding? {
        let orphans = try missing.newRows(since: before.missing, db).map {
            Finding.orphans($0.key, count: $0.count, hasParent: tables.contains($0.key.parent))
        }
        if let first = orphans.min(by: { $0.description < $1.description }) { return first }

        let broken = uncheckedKeys.filter { !before.hasUnchecked($0, in: tables) }.map(\.brokenKey)
        if let first = broken.min(by: { $0.description < $1.description }) { return first }

        let cut = keys.first {
            !tables.contains($0.parent)
                && (before.tables.contains($0.parent)
                    || areMany && (suspects.isEverything || suspects.tables.contains($0.parent)))
        }
        if let cut { return .cutKey(child: cut.child, parent: cut.parent) }

        let old = before.objects.map(\.identity)
        return objects.filter { !old.contains($0.identity) }.map(Finding.brokenObject)
            .min { $0.description < $1.description }
    }

    /// Returns whether SQLite could not check a key, whose tables may have been renamed since.
    private func hasUnchecked(_ key: ForeignKey, in tablesAfter: Set<SQLName>) -> Bool {
        func isSame(_ old: SQLName, _ new: SQLName) -> Bool {
            old == new || !tables.contains(new) && !tablesAfter.contains(old)
        }
        return uncheckedKeys.contains {
            isSame($0.child, key.child) && isSame($0.parent, key.parent)
                && $0.columns.count == key.columns.count
        }
    }

    /// True if the findings need temporary tables, which do not outlive their transaction.
    var hasTables: Bool { !missing.isEmpty }

    /// Removes the temporary tables.
    func drop(_ db: Database) throws {
        try missing.drop(db)
    }
}

extension ForeignKey {
    /// The problem of a key that SQLite cannot check, in its words.
    fileprivate var brokenKey: Finding {
        .brokenKey(child: child, reason: "foreign key mismatch - \"\(child)\" referencing \"\(parent)\"")
    }
}

extension Database {
    fileprivate func tableNames() throws -> Set<SQLName> {
        try SQLName.fetchSet(self, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table'")
    }

    /// Returns whether a row of a table refers to a missing one, or a key of the table cannot be checked.
    fileprivate func hasViolations(of table: SQLName) throws -> Bool {
        do {
            return try Row.fetchOne(
                self, sql: "SELECT 1 FROM pragma_foreign_key_check(?, 'main')", arguments: [table]) != nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return true
        }
    }
}

/// One way in which a database is broken.
indirect enum Finding {
    /// Rows that refer to rows that do not exist.
    case orphans(ForeignKey, count: Int, hasParent: Bool)
    /// A foreign key that SQLite cannot check.
    case brokenKey(child: SQLName, reason: String)
    /// A foreign key that refers to a table that no longer exists.
    case cutKey(child: SQLName, parent: SQLName)
    /// A view or a trigger that does not compile, or a full-text table without its texts.
    case brokenObject(BrokenObject)

    /// A clause that completes "leaves …".
    var description: String {
        switch self {
        case .orphans(let key, let count, let hasParent):
            """
            \(count) \(count == 1 ? "row" : "rows") of table \(key.child) whose \
            \(key.columns.map(\.text).joined(separator: ", ")) \(count == 1 ? "refers" : "refer") to no row of \
            \(key.parent)\(hasParent ? "" : ", which does not exist")
            """
        case .brokenKey(let child, let reason): "a foreign key of table \(child) broken: \(reason)"
        case .cutKey(let child, let parent):
            "table \(child) with a foreign key to table \(parent), which no longer exists"
        case .brokenObject(let object):
            "\(object.identity.type) \(object.identity.name) broken: \(object.reason)"
        }
    }

    /// True if rows refer to a table that does not exist.
    var isOfMissingParent: Bool {
        if case .orphans(_, _, hasParent: false) = self { true } else { false }
    }

    /// A likely reason, in a sentence.
    var hint: String? {
        if case .brokenObject(let object) = self { object.hint } else { nil }
    }

    /// The remedy: how to change the migration.
    var remedy: String {
        switch self {
        case .orphans(let key, _, false):
            """
            The rows may be right: rebuild \(key.child), so that it refers to the table that has taken the place of \
            \(key.parent), or to none.
            """
        case .orphans: "Keep the rows that others refer to, or delete the rows that refer to them."
        case .brokenKey: "Make the foreign key refer to columns that are unique together."
        case .cutKey(let child, let parent):
            "Drop \(child) as well, or rebuild it without the key: every insert would fail without \(parent)."
        case .brokenObject: "Drop what uses the old names first, and create it again."
        }
    }
}
