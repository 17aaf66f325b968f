import AppMigrations
package import GRDB
import MigrationDiagnostics
package import SchemaMigrations
import TextOutput

/// Writes the migration that leads from what a set of migrations makes to a wanted schema.
package struct MigrationGenerator {
    /// The migrations; nil if there are none yet.
    let migrator: SchemaMigrator?
    private let renames: [SchemaAlteration]
    private let generated: GeneratedMigration
    private let back: GeneratedMigration
    private let name: String
    let configuration: Configuration
    /// The tables and columns to drop, such as `note` and `note.body`.
    private let drops: [String]
    /// True if the wanted schema says that a sync engine mirrors its tables.
    package let isSynchronized: Bool
    /// The tables of which no row is copied.
    private let redefinitions: [TableRedefinition]

    /// Compares what the migrations make with what a file makes.
    ///
    /// - Parameters:
    ///   - redefines: whether tables whose constraints alone change are redefined, and not rebuilt.
    ///   - configuration: how to open databases in memory, with stand-ins for what the app adds to SQLite.
    /// - Throws: `MigrationError`, if the migrations or the file do not run, or a rename names nothing.
    package init(
        _ migrator: SchemaMigrator?, to file: SchemaFile, renaming renames: SchemaRenames,
        redefining redefines: Bool = true, configuration: Configuration = Configuration()
    ) throws {
        self.configuration = configuration
        self.migrator = migrator?.with(snapshot: nil)
        name = file.name
        drops = renames.drops
        isSynchronized = file.isSynchronized
        var configuration = configuration
        configuration.foreignKeysEnabled = false
        let wanted = try file.database(configuration).read(SchemaDescription.init)
        let queue = try configuration.scratchDatabase()
        try self.migrator?.migrate(queue)
        let old: SchemaDescription
        (self.renames, old, generated, back) = try queue.writeWithoutTransaction { db in
            let all = try renames.adding(file.renames, of: wanted, to: db)
            let changes = try all.apply(to: db)
            let drops = try all.namingDrops(in: db)
            let old = try SchemaDescription(db)
            let generated = try GeneratedMigration(from: old, to: wanted, losses: .ask, dropping: drops)
            return (
                changes, old, generated,
                try GeneratedMigration(from: generated.result, to: old, losses: .accept)
            )
        }
        let found = redefines ? TableRedefinition.find(in: generated, from: old) : []
        let between = Self.schema(before: found, generated, old)
        // What is there for one file must not lack what another file brings or takes away.
        let known = try Set(
            [old, generated.result].flatMap { try SchemaProblem.find(among: $0.objects, configuration) }.map(
                \.culprit))
        let isSound = try SchemaProblem.find(among: between.objects, configuration).allSatisfy {
            known.contains($0.culprit)
        }
        redefinitions = isSound ? found : []
        var files: [GeneratedFile] = []
        for file in try Self.files(self.renames, generated, back, redefinitions, from: old) {
            let before = (self.migrator?.migrations ?? []) + files.migrations(from: nextVersion)
            files.append(
                try file.allowingLosses(
                    askedForBy: name, after: before.isEmpty ? nil : SchemaMigrator(migrations: before),
                    self.configuration))
        }
        self.files = files
    }

    /// Returns the files without comments that allow anything.
    private static func files(
        _ renames: [SchemaAlteration], _ generated: GeneratedMigration, _ back: GeneratedMigration,
        _ redefinitions: [TableRedefinition], from old: SchemaDescription
    ) throws -> [GeneratedFile] {
        guard !redefinitions.isEmpty else {
            let sql = GeneratedSQL(renames + generated.changes).text
            return sql.isEmpty ? [] : [GeneratedFile(sql, down: downSQL(renames, back))]
        }
        let between = schema(before: redefinitions, generated, old)
        var plan = AlterationPlan(from: old, to: between, names: generated.result.names)
        plan.make()
        let changes = renames + plan.changes + redefinitions.flatMap(\.fills)
        let others =
            changes.isEmpty
            ? []
            : [
                GeneratedFile(
                    GeneratedSQL(changes).text,
                    down: renames.isEmpty && plan.changes.isEmpty
                        ? GeneratedFile.downOfFills
                        : downSQL(renames, try GeneratedMigration(from: between, to: old, losses: .accept)))
            ]
        return try others + [
            GeneratedFile(
                redefinitions, from: between, to: between.replacing(redefinitions.map(\.object)),
                suffix: others.isEmpty ? "" : "_redefine")
        ]
    }

    /// Returns the schema to which everything leads but the redefinitions.
    private static func schema(
        before redefinitions: [TableRedefinition], _ generated: GeneratedMigration, _ old: SchemaDescription
    ) -> SchemaDescription {
        generated.result.replacing(redefinitions.compactMap { old.byKey[$0.object.key] })
    }

    private static func downSQL(_ renames: [SchemaAlteration], _ back: GeneratedMigration) -> String {
        // A full-text table finds the texts only when their columns have their old names again.
        let last = back.changes.partitioned { if case .reindex = $0 { true } else { false } }
        return GeneratedSQL(last.others + renames.reversed().map(\.reversed) + last.matching).text
    }

    /// True if both schemas are the same.
    package var isEmpty: Bool { files.isEmpty && questions.isEmpty }

    /// Refuses to leave out a part of what a person has asked for by name.
    ///
    /// The other part alone would lead to a schema that nobody wants.
    ///
    /// - Throws: `MigrationError`, if a rename or a drop cannot be done, with the reason.
    package func checkThatAnswersAreDone() throws {
        var left = drops.filter { generated.result.has($0) }.map { "--drop \($0)" }
        for case .renameColumn(let old, let table, let new) in renames
        where generated.questions.contains(where: { $0.isAbout(new, of: table) }) {
            left.append("the rename of column " + "\(table).\(old)".quoted + " to " + new.text.quoted)
        }
        guard !left.isEmpty else { return }
        let reasons = questions.filter { $0.missing == nil }.map { "\($0.subject): \($0.text)" }
        throw MigrationError(
            .misuse, (["Cannot be done: \(left.asList)."] + reasons).joined(separator: " "),
            remedy: "Nothing was written. Leave the answer out, or write the migration by hand.")
    }

    /// The files of the migration, in order; none if there is nothing to do, or only questions.
    ///
    /// Comments allow what `check` would find, and the wanted schema asks for.
    package private(set) var files: [GeneratedFile] = []

    /// True if tables are redefined, of which no row is copied.
    package var redefines: Bool { !redefinitions.isEmpty }

    /// The statements of the migration, for people.
    package var sql: String { files.map(\.sql).joined(separator: Self.nextFile) }

    /// The statements of the down migration, for people.
    package var downSQL: String {
        files.reversed().map(\.downSQL).filter { !$0.isEmpty }.joined(separator: Self.nextFile)
    }

    private static let nextFile = "\n-- The next file:\n"

    /// The changes in words, a line each.
    package var summary: [String] {
        // A view that was in the way of a rename is back in the end.
        let dropped = renames.compactMap { if case .drop(let object) = $0 { object.key.title } else { nil } }
        return renames.compactMap(\.renameSummary)
            + dropped.filter { !generated.summary.contains("+ \($0)") }.map { "- \($0)" }
            + generated.summary.map { dropped.contains(String($0.dropFirst(2))) ? "~" + $0.dropFirst() : $0 }
            .map { line in
                let titles = redefinitions.map { "~ \($0.object.key.title), " }
                guard let title = titles.first(where: { line.hasPrefix("\($0)rebuilt: ") }) else {
                    return line
                }
                return "\(title)redefined: \(line.dropFirst(title.count + "rebuilt: ".count))"
            }
    }

    /// The tables that there are after the migration.
    var generatedTables: Set<SQLName> {
        Set(generated.result.objects.filter { $0.type == "table" && !$0.isVirtual }.map(\.name))
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
        let before = try configuration.scratchDatabase()
        try migrator.migrate(before)
        let all = try SchemaMigrator(
            migrations: migrator.migrations + files.migrations(from: nextVersion))
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
    /// - Throws: `MigrationError`, if the migration does not do what it should.
    package func check(goingBack goesBack: Bool, fill: (Database) throws -> Void) throws -> Trial {
        let (before, version) = (migrator?.migrations ?? [], nextVersion)
        do {
            let trial = try GenerationTrial(migrator, generated, renames: renames, configuration, fill: fill)
            let all = try SchemaMigrator(
                migrations: before + files.migrations(from: version))
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
        } catch let error as MigrationError where error.code != .misuse || error.schemaVersion != nil {
            throw failure(error.diagnostic.problem)
        } catch let error as DatabaseError {
            throw failure(error.message ?? "\(error)")
        }
    }

    /// Makes a migration and runs it on rows, as ``check(goingBack:fill:)`` does; if that fails, it tries to rebuild the
    /// tables that it has redefined.
    ///
    /// Other changes may need the new constraints at once, as a rebuild in the same file makes them.
    ///
    /// - Parameter make: makes a migration that redefines tables, or only rebuilds them.
    /// - Returns: the migration, and its trial unless there is nothing to do.
    package static func tried(
        goingBack goesBack: Bool, _ make: (_ redefining: Bool) throws -> MigrationGenerator,
        fill: (Database) throws -> Void
    ) throws -> (MigrationGenerator, Trial?) {
        let generator = try make(true)
        guard !generator.files.isEmpty else { return (generator, nil) }
        do {
            return (generator, try generator.check(goingBack: goesBack, fill: fill))
        } catch  where generator.redefines {
            let generator = try make(false)
            return (generator, try generator.check(goingBack: goesBack, fill: fill))
        }
    }

    /// A version above those of the migrations.
    var nextVersion: SchemaVersion { min(migrator?.migrations.last?.version ?? 0, .max - 2) + 1 }

    private func failure(_ problem: String) -> MigrationError {
        MigrationError(
            .misuse,
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
