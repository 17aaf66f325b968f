import GRDB

/// A search for problems that migrations or a step cause in a transaction.
///
/// They are rows that refer to missing rows, and views and triggers that no longer compile.
///
/// The first attempt is inspected once, at its end, and only where it touched something. A problem found then may be
/// old. In a second attempt the database is inspected before and after the work, or each piece of it, which tells new
/// findings from old ones. The look after one transaction serves as the one before the next, if nothing has been written in
/// between.
final class Inspection {
    private let db: Database
    private let foreignKeys: ForeignKeys
    private var suspects: Suspects
    /// The schema before the work, in a first attempt.
    private var shape: SchemaShape?
    /// The problems so far, in a second attempt.
    private var findings: Findings?
    /// The number of looks at the database, in a second attempt.
    private var looks = 0

    /// Inspects the database before the work begins.
    ///
    /// - Parameters:
    ///   - suspects: the tables that the first attempt may have broken; nil in the first attempt.
    ///   - look: the last look at all tables.
    init(
        _ db: Database, _ foreignKeys: ForeignKeys, retrying suspects: Suspects?, after look: WholeLook? = nil
    ) throws {
        self.db = db
        self.foreignKeys = foreignKeys
        self.suspects = suspects ?? Suspects()
        if suspects == nil {
            shape = try SchemaShape(db)
        } else if let look, self.suspects.isEverything, try look.holds(db, foreignKeys) {
            findings = look.findings
        } else {
            findings = try Findings(db, self.suspects, foreignKeys, label: looks)
        }
    }

    /// Inspects the changes of a migration or a step.
    ///
    /// In the first attempt, it only records the tables that the work touched.
    ///
    /// - Parameters:
    ///   - isCode: whether it is written in Swift, so that the tables that it drops are unknown.
    ///   - areMany: whether the changes are those of several migrations.
    /// - Returns: a problem that did not exist before, in a second attempt.
    func firstNew(touched tables: Set<SQLName>, byCode isCode: Bool, byMany areMany: Bool = false) throws
        -> Finding?
    {
        guard let before = findings else {
            suspects.add(tables: tables, byCode: isCode)
            return nil
        }
        looks += 1
        let after = try Findings(db, suspects, foreignKeys, label: looks)
        if let new = try after.firstNew(since: before, byMany: areMany, db) { return new }
        try before.drop(db)
        findings = after
        return nil
    }

    /// Records the tables that migrations in SQL touched, in the first attempt.
    func add(tables: Set<SQLName>) {
        suspects.add(tables: tables)
    }

    /// Inspects the changes of the whole transaction.
    ///
    /// - Returns: the change to report to observers of the database.
    /// - Throws: ``SuspectWork``, when there is a problem that may be old.
    func finish() throws -> SchemaChange {
        // A second attempt has looked for itself.
        guard let shape else {
            try findings?.drop(db)
            return .anything
        }
        let after = try shape.next(db)
        suspects.add(changesSince: shape, to: after)
        guard try Findings.isEmpty(db, suspects, foreignKeys, since: shape, now: after) else {
            suspects.addParents(after.keys)
            throw SuspectWork(suspects: suspects)
        }
        return after.hasAll(of: shape) ? .additions : .anything
    }

    /// Returns the last look at all tables, for the next transaction; nil if there was none, or it cannot be kept.
    ///
    /// Call it after the last change of the transaction.
    func wholeLook() throws -> WholeLook? {
        guard let findings, suspects.isEverything, !findings.hasTables else { return nil }
        return WholeLook(findings: findings, foreignKeys: foreignKeys, changes: try ChangeCount(db))
    }

    /// The old problems, a sentence each, which do not stop the migration.
    var warnings: [String] { findings?.descriptions ?? [] }
}

/// An error that rolls back work that has to run again, to tell new problems from old ones.
struct SuspectWork: Error {
    let suspects: Suspects
}

/// The tables that a group of migrations may have broken.
struct Suspects {
    /// The names of tables.
    private(set) var tables: Set<SQLName> = []
    /// The tables to which suspects refer.
    ///
    /// An orphan of any other child of theirs tells that a row was missing before.
    private(set) var parents: Set<SQLName> = []
    /// True if views and triggers may have been broken.
    private(set) var schemaHasChanged = false
    /// True if any table may have been touched.
    private(set) var isEverything = false
    /// True if migrations in Swift ran, whose dropped tables are not known beforehand.
    private var includesCode = false

    /// Every table, view and trigger.
    static let everything = Suspects(schemaHasChanged: true, isEverything: true)

    /// True if any table is a suspect.
    var includesTables: Bool { isEverything || !tables.isEmpty }

    /// Adds the tables to which suspects refer.
    mutating func addParents(_ keys: some Sequence<ForeignKey>) {
        parents.formUnion(keys.filter { $0.concerns(self) }.map(\.parent))
    }

    /// Returns whether a table that does not exist may have existed before one of the migrations.
    func mayHaveDropped(_ table: SQLName, from before: SchemaShape) -> Bool {
        includesCode || isEverything || tables.contains(table)
            || before.objects.values.contains { $0.table == table }
    }

    /// Adds the tables that a migration touched.
    mutating func add(tables names: Set<SQLName>, byCode isCode: Bool = false) {
        tables.formUnion(names)
        if isCode { includesCode = true }
    }

    /// Adds the tables whose definition, or whose place in the database file, has changed.
    ///
    /// Leaves out those of which `ALTER TABLE` has changed columns that no foreign key uses. Their rows refer to what
    /// they referred to, and reading them may take long.
    mutating func add(changesSince before: SchemaShape, to after: SchemaShape) {
        guard before.cookie != after.cookie else { return }
        schemaHasChanged = true
        let changed = before.objects(notIn: after) + after.objects(notIn: before)
        // The schema was changed, and looks the same: something was dropped and created again. For a `.sql`
        // file, the dropped tables are known.
        if changed.isEmpty, includesCode { isEverything = true }
        // A table that Swift code has dropped and created again may look altered, too.
        func isAltered(_ object: SchemaShape.Object) -> Bool {
            let id = object.identity.id
            return !includesCode && before.objects[id]?.identity == after.objects[id]?.identity
        }
        tables.formUnion(changed.filter { !isAltered($0) }.map(\.table))
        tables.formUnion((before.keys(notIn: after) + after.keys(notIn: before)).map(\.child))
    }
}

/// A database's schema at one moment, for detecting changes.
struct SchemaShape {
    struct Object: Equatable {
        let identity: Identity
        let sql: String?

        var table: SQLName { identity.table }
    }

    /// The part that stays the same while `ALTER TABLE` adds, drops or renames a column.
    struct Identity: Equatable {
        /// An identifier that usually changes when a table is dropped and created again.
        let id: Int64
        let name: String
        let table: SQLName
        let rootPage: Int

        /// True of a table with rows of its own.
        ///
        /// A trigger, too, may have a table's name.
        var isTable: Bool { rootPage > 0 && SQLName(name) == table }
    }

    /// The schema cookie (fileformat2.html, 1.3.9), which each change of the schema raises.
    let cookie: Int
    /// The objects, by their identifiers.
    let objects: [Int64: Object]
    let keys: [ForeignKey]
    /// True if some object has no root page, as views, triggers and virtual tables (fileformat2.html, 2.6).
    let mayHaveViewsOrTriggers: Bool

    /// Reads the schema.
    ///
    /// - Parameter before: an earlier schema of the database, from which the foreign keys of unchanged tables are taken.
    init(_ db: Database, since before: SchemaShape? = nil) throws {
        cookie = try db.pragma("main.schema_version")
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT rowid, name, tbl_name, rootpage, sql, instr(lower(sql), 'references') FROM main.sqlite_master
                """)
        var objects: [Int64: Object] = [:]
        var (known, others): (Set<SQLName>, [SQLName]) = ([], [])
        var mayHaveViewsOrTriggers = false
        while let row = try rows.next() {
            let identity = Identity(id: row[0], name: row[1], table: row[2], rootPage: row[3] ?? 0)
            objects[identity.id] = Object(identity: identity, sql: row[4])
            mayHaveViewsOrTriggers = mayHaveViewsOrTriggers || identity.rootPage == 0
            guard row[5] as Int? ?? 0 > 0, identity.isTable else { continue }
            // Its own definition alone says which foreign keys a table has (pragma.html, foreign_key_list).
            if before?.objects[identity.id]?.sql == objects[identity.id]?.sql {
                known.insert(identity.table)
            } else {
                others.append(identity.table)
            }
        }
        self.objects = objects
        self.mayHaveViewsOrTriggers = mayHaveViewsOrTriggers
        keys =
            others.count > Self.fewTables
            ? try ForeignKey.fetchAll(db)
            : try (before?.keys.filter { known.contains($0.child) } ?? [])
                + others.flatMap { try ForeignKey.fetchAll(db, of: $0).map(\.key) }
    }

    /// The number of tables up to which a statement for each takes less than one for all.
    private static let fewTables = 8

    /// Returns the schema of the same connection later on, which takes little if nothing has changed.
    func next(_ db: Database) throws -> SchemaShape {
        try db.pragma("main.schema_version") == cookie ? self : SchemaShape(db, since: self)
    }

    /// Returns the objects that another schema does not have, or has with another definition.
    func objects(notIn other: SchemaShape) -> [Object] {
        objects.values.filter { other.objects[$0.identity.id] != $0 }
    }

    /// Returns the foreign keys that another schema does not have.
    func keys(notIn other: SchemaShape) -> [ForeignKey] {
        if keys == other.keys { return [] }
        let known = Set(other.keys)
        return keys.filter { !known.contains($0) }
    }

    /// Returns true if everything in the earlier schema still exists unchanged.
    func hasAll(of before: SchemaShape) -> Bool {
        cookie == before.cookie || before.objects(notIn: self).isEmpty
    }
}
