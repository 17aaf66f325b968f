package import GRDB
import MigrationDiagnostics
package import SchemaMigrations
import TextOutput

/// Writes the migration that leads from what a set of migrations makes to a wanted schema.
package struct MigrationGenerator {
    /// The migrations; nil if there are none yet.
    private let migrator: SchemaMigrator?
    private let renames: [SchemaAlteration]
    private let generated: GeneratedMigration
    private let back: GeneratedMigration
    private let name: String

    /// Compares what the migrations make with what a file makes.
    ///
    /// - Throws: `SchemaMigrationError`, if the migrations or the file do not run, or a rename names nothing.
    package init(_ migrator: SchemaMigrator?, to file: SchemaFile, renaming renames: SchemaRenames) throws {
        self.migrator = migrator?.with(snapshot: nil)
        name = file.name
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let wanted = try file.database(configuration).read(SchemaDescription.init)
        let queue = try DatabaseQueue(configuration: configuration)
        try self.migrator?.migrate(queue)
        (self.renames, generated, back) = try queue.writeWithoutTransaction { db in
            let all = try renames.adding(file.renames, to: db)
            let changes = try all.apply(to: db)
            let drops = try all.namingDrops(in: db)
            let old = try SchemaDescription(db)
            let generated = try GeneratedMigration(from: old, to: wanted, losses: .ask, dropping: drops)
            return (
                changes, generated, try GeneratedMigration(from: generated.result, to: old, losses: .accept)
            )
        }
        let plain = GeneratedSQL(self.renames + generated.changes).text
        // If the migration does not run, its check says so.
        let losses = plain.isEmpty ? nil : try? AllowedLosses(plain, after: self.migrator)
        sql = losses?.allow(in: plain, askedForBy: name) ?? plain
    }

    /// True if both schemas are the same.
    package var isEmpty: Bool { sql.isEmpty && questions.isEmpty }

    /// The statements of the migration; empty if there is nothing to do, or only questions.
    ///
    /// Comments allow what `check` would find, and the wanted schema asks for.
    package let sql: String

    /// The statements of the down migration.
    package var downSQL: String {
        // A full-text table finds the texts only when their columns have their old names again.
        let last = back.changes.partitioned { if case .reindex = $0 { true } else { false } }
        return GeneratedSQL(last.others + renames.reversed().map(\.reversed) + last.matching).text
    }

    /// The changes in words, a line each.
    package var summary: [String] {
        // A view that was in the way of a rename is back in the end.
        let dropped = renames.compactMap { if case .drop(let object) = $0 { object.key.title } else { nil } }
        return renames.compactMap(\.renameSummary)
            + dropped.filter { !generated.summary.contains("+ \($0)") }.map { "- \($0)" }
            + generated.summary.map { dropped.contains(String($0.dropFirst(2))) ? "~" + $0.dropFirst() : $0 }
    }

    /// The differences that the migration leaves out.
    package var questions: [SchemaQuestion] { generated.questions }

    /// The differences that the down migration leaves out.
    package var downQuestions: [SchemaQuestion] { back.questions }

    /// The changes that some rows may not fit, in words.
    package var tightened: [String] { generated.tightened }

    /// The changes of the down migration that some rows may not fit, in words.
    package var downTightened: [String] { back.tightened }

    /// Returns whether an app that does not know the migration can use the database after it.
    package func isCompatible() throws -> Bool {
        // No app works with a database that has no tables.
        guard let migrator else { return false }
        let before = try DatabaseQueue()
        try migrator.migrate(before)
        let all = try SchemaMigrator(
            migrations: migrator.migrations + [
                SQLMigration(version: nextVersion, name: "generated", sql: sql)
            ])
        return try Compatibility.problems(of: before) { try all.migrate($0) }.isEmpty
    }

    /// The rows that the migration was tried on.
    package struct Trial: Sendable {
        package let rows: Int
        package let tables: Int
        /// The number of rows that were left out, because the new schema does not accept them.
        package let misfits: Int
        /// The tables of those rows with the reason, a clause each.
        package let misfitReasons: [String]
    }

    /// Runs the migration on rows, and back if asked to, and compares the result with the wanted schema.
    ///
    /// - Parameters:
    ///   - goesBack: whether to run the down migration as well.
    ///   - fill: adds rows to the tables of a database.
    /// - Throws: `SchemaMigrationError`, if the migration does not do what it should.
    package func check(goingBack goesBack: Bool, fill: (Database) throws -> Void) throws -> Trial {
        let (before, version) = (migrator?.migrations ?? [], nextVersion)
        do {
            let trial = try GenerationTrial(migrator, generated, renames: renames, fill: fill)
            let all = try SchemaMigrator(
                migrations: before + [
                    SQLMigration(version: version, name: "generated", sql: sql, down: downSQL)
                ])
            var problems = try trial.migrate(with: all, generated)
            if problems.isEmpty, goesBack, !downSQL.isEmpty, back.questions.isEmpty {
                problems = try trial.rollBack(with: all, to: version - 1, back).map { "going back, \($0)" }
            }
            guard problems.isEmpty else { throw failure(problems.joined(separator: "; ")) }
            return Trial(
                rows: trial.count, tables: trial.tableCount,
                misfits: trial.misfits.reduce(0) { $0 + $1.count },
                misfitReasons: trial.misfits.map {
                    "\($0.count.counting("row")) of table \($0.table.text.quoted): \($0.reason)"
                })
        } catch let error as SchemaMigrationError where error.code != .invalidRequest || error.version != nil
        {
            throw failure(error.diagnostic.problem)
        } catch let error as DatabaseError {
            throw failure(error.message ?? "\(error)")
        }
    }

    /// A version above those of the migrations.
    private var nextVersion: SchemaVersion { min(migrator?.migrations.last?.version ?? 0, .max - 1) + 1 }

    private func failure(_ problem: String) -> SchemaMigrationError {
        SchemaMigrationError(
            .invalidRequest,
            "The migration to \(name) was not written, because it failed on generated rows: \(problem)",
            remedy: "Look at it with `app-migrations diff --from \(name)`, and write it by hand.")
    }
}

extension [SchemaAlteration] {
    /// Returns the elements that match, and the others, each in order.
    fileprivate func partitioned(by isMatch: (Element) -> Bool) -> (matching: [Element], others: [Element]) {
        (filter(isMatch), filter { !isMatch($0) })
    }
}
