import GRDB

/// A search for problems that a group of migrations causes.
///
/// They are rows that refer to missing rows, and views and triggers that no longer compile.
///
/// The first attempt at a group is inspected once, at its end, and only where it touched something. A problem
/// found then may be old. In a second attempt each migration is inspected, which tells new findings from old
/// ones.
struct Inspection {
    private let db: Database
    private let foreignKeys: ForeignKeys
    private var suspects: Suspects
    /// The schema before the group, in a first attempt.
    private var shape: SchemaShape?
    /// The problems so far, in a second attempt.
    private var findings: Findings?
    /// The number of looks at the database, in a second attempt.
    private var looks = 0

    /// Inspects the database before a group runs.
    init(_ db: Database, of group: MigrationGroup) throws {
        self.db = db
        foreignKeys = group.foreignKeys
        suspects = group.suspects ?? Suspects()
        if group.suspects == nil {
            shape = try SchemaShape(db)
        } else {
            findings = try Findings(db, suspects, foreignKeys, label: looks)
        }
    }

    /// Inspects the changes of a migration.
    ///
    /// In the first attempt, it only records the tables that the migration touched.
    ///
    /// - Throws: ``SchemaMigrationError``, when the migration causes a problem that did not exist before.
    mutating func inspect(_ job: MigrationJob, touched tables: Set<SQLName>) throws {
        guard let before = findings else {
            suspects.add(tables: tables, byCode: job.isCode)
            return
        }
        looks += 1
        let after = try Findings(db, suspects, foreignKeys, label: looks)
        if let new = try after.firstNew(since: before, db) { throw SchemaMigrationError(new, leftBy: job) }
        try before.drop(db)
        findings = after
    }

    /// Records the tables that migrations in SQL touched, in the first attempt.
    mutating func add(tables: Set<SQLName>) {
        suspects.add(tables: tables)
    }

    /// Inspects the changes of the whole group.
    ///
    /// - Returns: the change to report to observers of the database.
    /// - Throws: ``SuspectGroup``, when there is a problem that may be old.
    mutating func finish() throws -> SchemaChange {
        // A second attempt was inspected migration by migration.
        guard let shape else {
            try findings?.drop(db)
            return .anything
        }
        let after = try shape.next(db)
        suspects.add(changesSince: shape, to: after)
        guard try Findings.isEmpty(db, suspects, foreignKeys, since: shape, now: after) else {
            suspects.addParents(after.keys)
            throw SuspectGroup(suspects: suspects)
        }
        return after.hasAll(of: shape) ? .additions : .anything
    }

    /// The old problems, a sentence each, which do not stop the migration.
    var warnings: [String] { findings?.descriptions ?? [] }
}

/// An error that rolls back a group whose migrations have to run again, one at a time.
struct SuspectGroup: Error {
    let suspects: Suspects
}
