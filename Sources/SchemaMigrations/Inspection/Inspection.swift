import GRDB

/// A search for problems that migrations or a step cause in a transaction.
///
/// They are rows that refer to missing rows, and views and triggers that no longer compile.
///
/// The first attempt is inspected once, at its end, and only where it touched something. A problem found then may be
/// old. In a second attempt the database is inspected before and after each piece of work, which tells new findings
/// from old ones.
struct Inspection {
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
    /// - Parameter suspects: the tables that the first attempt may have broken; nil in the first attempt.
    init(_ db: Database, _ foreignKeys: ForeignKeys, retrying suspects: Suspects?) throws {
        self.db = db
        self.foreignKeys = foreignKeys
        self.suspects = suspects ?? Suspects()
        if suspects == nil {
            shape = try SchemaShape(db)
        } else {
            findings = try Findings(db, self.suspects, foreignKeys, label: looks)
        }
    }

    /// Inspects the changes of a migration or a step.
    ///
    /// In the first attempt, it only records the tables that the work touched.
    ///
    /// - Parameter isCode: whether it is written in Swift, so that the tables that it drops are unknown.
    /// - Returns: a problem that did not exist before, in a second attempt.
    mutating func firstNew(touched tables: Set<SQLName>, byCode isCode: Bool) throws -> Finding? {
        guard let before = findings else {
            suspects.add(tables: tables, byCode: isCode)
            return nil
        }
        looks += 1
        let after = try Findings(db, suspects, foreignKeys, label: looks)
        if let new = try after.firstNew(since: before, db) { return new }
        try before.drop(db)
        findings = after
        return nil
    }

    /// Records the tables that migrations in SQL touched, in the first attempt.
    mutating func add(tables: Set<SQLName>) {
        suspects.add(tables: tables)
    }

    /// Inspects the changes of the whole transaction.
    ///
    /// - Returns: the change to report to observers of the database.
    /// - Throws: ``SuspectWork``, when there is a problem that may be old.
    mutating func finish() throws -> SchemaChange {
        // A second attempt was inspected piece by piece.
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

    /// The old problems, a sentence each, which do not stop the migration.
    var warnings: [String] { findings?.descriptions ?? [] }
}

/// An error that rolls back work that has to run again, to tell new problems from old ones.
struct SuspectWork: Error {
    let suspects: Suspects
}
