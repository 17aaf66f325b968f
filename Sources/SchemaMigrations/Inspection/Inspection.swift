import GRDB

/// Looks for what a group of migrations leaves broken: rows that refer to none, views and triggers that no
/// longer compile.
///
/// The first attempt at a group is inspected once, at its end, and only where something was touched; what is
/// broken then may be old. In a second attempt each migration is inspected, which tells new findings from old
/// ones.
struct Inspection {
    private let db: Database
    private let foreignKeys: ForeignKeys
    private var suspects: Suspects
    /// The schema before the group, in a first attempt.
    private var shape: SchemaShape?
    /// What is broken so far, in a second attempt.
    private var findings: Findings?

    /// Looks at the database before a group runs.
    init(_ db: Database, of group: MigrationGroup) throws {
        self.db = db
        foreignKeys = group.foreignKeys
        suspects = group.suspects ?? Suspects()
        if group.suspects == nil {
            shape = try SchemaShape(db)
        } else {
            findings = try Findings(db, suspects, foreignKeys)
        }
    }

    /// Inspects what a migration has done; in the first attempt, only notes what it has touched.
    ///
    /// - Throws: ``SchemaMigrationError``, when the migration leaves something broken that was not before.
    mutating func inspect(_ job: MigrationJob, touched tables: Set<String>) throws {
        guard let before = findings else { return suspects.add(tables: tables, by: job) }
        let after = try Findings(db, suspects, foreignKeys)
        if let new = after.firstNew(since: before) {
            throw SchemaMigrationError(new.finding, count: new.count, leftBy: job)
        }
        findings = after
    }

    /// Inspects what the whole group has done.
    ///
    /// - Returns: what observers of the database have to hear of.
    /// - Throws: ``SuspectGroup``, when something is broken that may be old.
    mutating func finish() throws -> SchemaChange {
        // A second attempt was inspected migration by migration.
        guard let shape else { return .anything }
        let after = try SchemaShape(db)
        suspects.add(changesSince: shape, to: after)
        guard try Findings(db, suspects, foreignKeys).isEmpty else { throw SuspectGroup(suspects: suspects) }
        return after.hasAll(of: shape) ? .additions : .anything
    }

    /// What was broken before, and locks nobody out: a sentence each.
    var warnings: [String] { findings?.descriptions ?? [] }
}

/// Thrown to roll back a group whose migrations have to run again, one at a time.
struct SuspectGroup: Error {
    let suspects: Suspects
}
