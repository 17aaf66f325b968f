import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations
import TextOutput

/// Upgrades one old database, and finds the problems of the result.
struct UpgradeTrial {
    private let matrix: UpgradeMatrix
    private let runner: any MigrationRunner
    /// The schema of a fresh install.
    private let fresh: DatabaseSchema
    /// The rows of a fresh install.
    private let seeds: SeedRows

    init(_ matrix: UpgradeMatrix, fresh: DatabaseSchema, seeds: SeedRows) {
        self.matrix = matrix
        self.fresh = fresh
        self.seeds = seeds
        var schema = matrix.runner as? SchemaMigrator
        schema?.options.backupFolder = nil
        runner = schema ?? matrix.runner
    }

    /// Fills a database, upgrades it, and closes it.
    func upgrade(
        _ old: DatabaseQueue, from start: UpgradeReport.Start, filling rows: UpgradeMatrix.Rows
    ) -> UpgradeReport.Upgrade {
        let name = start.version.flatMap(runner.version).flatMap(runner.title)?.name ?? ""
        var upgrade = UpgradeReport.Upgrade(
            start: start, name: name == start.version?.description ? "" : name)
        do {
            try old.write { db in
                upgrade.notes = try rows.fill(db, start.version ?? 0)
                try AutoincrementSequences.raise(db, by: Self.deletedRows)
            }
        } catch {
            upgrade.problems.append(
                UpgradeProblem(
                    "The rows could not be written for the upgrade", from: start,
                    ": \(Diagnostic(error, remedy: Self.rowsRemedy).clause)", remedy: Self.rowsRemedy))
            return upgrade
        }
        do {
            try check(old, &upgrade)
            try old.close()
        } catch {
            upgrade.problems.append(
                UpgradeProblem(
                    "The upgrade", from: start, " fails",
                    because: Diagnostic(error, remedy: "Fix the migration that fails.")))
        }
        return upgrade
    }

    private func check(_ database: DatabaseQueue, _ upgrade: inout UpgradeReport.Upgrade) throws {
        let start = upgrade.start
        let before = try database.read(Inventory.init)
        let inSync = try Set(fullTextTables(database, before).filter(\.isInSync).map(\.name))
        upgrade.rows = before.rows.values.reduce(0, +)
        let edited = try database.read(runner.standing).edited
        upgrade.problems += edited.compactMap { editedProblem($0, start) }

        let copy = try self.copy(of: database)
        var applied: [SchemaVersion] = []
        upgrade.duration = try ContinuousClock().measure {
            let report = try matrix.upgrade(database, at: version(start), with: runner)
            applied = report.applied
            upgrade.notes += report.warnings
            upgrade.problems += report.failures.map { deferredProblem($0, start) }
        }
        upgrade.applied = applied.count
        if matrix.app != nil { try compareBatches(database, copy, &upgrade) }

        let after = try database.read(Inventory.init)
        upgrade.problems += schemaProblems(after.schema, edited: edited, start)
        upgrade.problems += try database.read { try damage($0, start) }
        upgrade.problems += orphans(after, start)
        upgrade.problems += try rowProblems(copy, before: before.rows, after: after.rows, applied, start)
        upgrade.problems += sequenceProblems(before, after, applied, start)
        for table in try fullTextTables(database, after) where !table.isInSync {
            if inSync.contains(table.name) {
                upgrade.problems.append(fullTextProblem(table.name, start))
            } else if !before.schema.externalFullTextTables.contains(where: { $0.name == table.name }) {
                upgrade.notes.append(
                    "full-text table \(table.name.text.quoted) is new, and does not index the rows from before"
                )
            }
        }
        // Generated rows take the ids of seed rows, and change what a migration computes from rows.
        if case .fixture = start.origin {
            upgrade.notes += try seeds.missing(in: database.read(SeedRows.init)).map {
                """
                table \($0.table.text.quoted) lacks \($0.count.counting("row")) of a fresh install, or has other values \
                there
                """
            }
        }
        upgrade.problems += try unfinished(database, start)
    }

    private func copy(of database: DatabaseQueue) throws -> DatabaseQueue {
        let copy = try matrix.configuration.scratchDatabase()
        try database.backup(to: copy)
        return copy
    }

    /// Upgrades again with batches of one row, which must give the same data.
    private func compareBatches(
        _ upgraded: DatabaseQueue, _ old: DatabaseQueue, _ upgrade: inout UpgradeReport.Upgrade
    ) throws {
        let version = version(upgrade.start)
        func contents(rowsPerBatch: Int) throws -> DatabaseContents {
            let database = try copy(of: old)
            _ = try matrix.upgrade(database, at: version, with: runner, rowsPerBatch: rowsPerBatch)
            defer { try? database.close() }
            return try database.writeWithoutTransaction(DatabaseContents.init)
        }
        let found = try upgraded.writeWithoutTransaction(DatabaseContents.init)
        let differences = try found.differences(
            from: contents(rowsPerBatch: 1), calling: "batches of ten rows", "batches of one")
        guard !differences.isEmpty else { return }
        // Times and random values differ in any case.
        let again = try contents(rowsPerBatch: SimulatedProcess.rowsPerBatch)
        if found.differences(from: again, calling: "", "").isEmpty {
            upgrade.problems.append(batchProblem(differences, upgrade.start))
        } else {
            upgrade.notes.append(
                "the upgrade writes other values each time, so that batches of deferred steps were not compared"
            )
        }
    }

    // MARK: Problems

    private static let rowsRemedy = "Fix what is passed as filledWith: for the tables of this version."

    private func deferredProblem(
        _ error: MigrationError, _ start: UpgradeReport.Start
    ) -> UpgradeProblem {
        UpgradeProblem(
            "The deferred work of the upgrade", from: start, " fails",
            because: Diagnostic(error.diagnostic.problem, remedy: "Fix the step that fails."))
    }

    private func batchProblem(_ differences: [String], _ start: UpgradeReport.Start) -> UpgradeProblem {
        UpgradeProblem(
            "Deferred steps depend on how their rows are cut into batches in the upgrade", from: start,
            ": \(differences.asList)", remedy: "Change only the rows that the step is given.")
    }

    private func title(_ version: SchemaVersion) -> String {
        runner.title(version)?.title ?? "\(version)"
    }

    private func version(_ start: UpgradeReport.Start) -> SchemaVersion {
        start.version.flatMap(runner.version) ?? 0
    }

    private func editedProblem(_ version: SchemaVersion, _ start: UpgradeReport.Start) -> UpgradeProblem? {
        guard case .fixture(let name) = start.origin else { return nil }
        return UpgradeProblem(
            "\(title(version)) was edited after it had been applied: found in the upgrade", from: start,
            remedy: """
                Undo the edit, and write a new migration. If the edit was intended, accept it: app-migrations accept \
                --database \(name) \(version)
                """)
    }

    private func schemaProblems(
        _ upgraded: DatabaseSchema, edited: [SchemaVersion], _ start: UpgradeReport.Start
    ) -> [UpgradeProblem] {
        let remedy =
            if !edited.isEmpty {
                "Undo the edit of \(edited.map(title).asList), and write a new migration instead."
            } else if case .fixture = start.origin {
                """
                If the app left databases like this one, write a new migration that makes both alike. If the fixture is \
                wrong, make it again with `app-migrations fixture`.
                """
            } else {
                """
                A migration does something else where there are rows, or objects from before (IF NOT EXISTS, a migration \
                in Swift): write a new one that makes both alike.
                """
            }
        return upgraded.difference(to: fresh).changes.map {
            UpgradeProblem($0, from: start, remedy: remedy)
        }
    }

    private func damage(_ db: Database, _ start: UpgradeReport.Start) throws -> [UpgradeProblem] {
        try Set(IntegrityCheck(db, .full, limit: 20).findings).sorted().map {
            UpgradeProblem(
                "SQLite's integrity check finds after upgrading", from: start, ": \($0)",
                remedy: "Fix the migration that causes it.")
        }
    }

    private func orphans(_ after: Inventory, _ start: UpgradeReport.Start) -> [UpgradeProblem] {
        after.orphans.sorted { $0.key < $1.key }.map {
            UpgradeProblem(
                """
                \($0.value.counting("row")) of table \($0.key.table.text.quoted) \($0.value == 1 ? "refers" : "refer") to no row \
                of \($0.key.parent.text.quoted) after upgrading
                """, from: start,
                remedy: "Write a migration that removes such rows, or gives them a row to refer to.")
        }
    }

    /// The number of deleted rows to suppose in each table with `AUTOINCREMENT`.
    private static let deletedRows: Int64 = 1_000

    private func sequenceProblems(
        _ before: Inventory, _ after: Inventory, _ applied: [SchemaVersion], _ start: UpgradeReport.Start
    ) -> [UpgradeProblem] {
        let expected = matrix.rowCounts.expected(after: applied.map(runner.key), from: before.rows)
        return after.lostSequences(since: before)
            .filter { expected[$0.table] == before.rows[$0.table] }.map { table, old, new in
                UpgradeProblem(
                    "Table \(table.text.quoted) may give the ids of deleted rows again after upgrading",
                    from: start,
                    ": its AUTOINCREMENT sequence was at \(old), and is at \(new)",
                    remedy:
                        "When a migration rebuilds the table, have it copy the table's row in sqlite_sequence."
                )
            }
    }

    /// Returns the tables that index other tables' texts, and whether they agree with these.
    private func fullTextTables(
        _ database: DatabaseQueue, _ inventory: Inventory
    ) throws -> [(name: SQLName, isInSync: Bool)] {
        try database.writeWithoutTransaction { db in
            try inventory.schema.externalFullTextTables.map { ($0.name, try $0.table.isInSync(db)) }
        }
    }

    private func fullTextProblem(_ table: SQLName, _ start: UpgradeReport.Start) -> UpgradeProblem {
        UpgradeProblem(
            "Full-text table \(table.text.quoted) does not index the rows that it belongs to after upgrading",
            from: start,
            remedy: """
                In the migration that changes the rows, add INSERT INTO \(table.sql)(\(table.sql)) VALUES ('rebuild').
                """)
    }

    private func unfinished(
        _ database: DatabaseQueue, _ start: UpgradeReport.Start
    ) throws -> [UpgradeProblem] {
        let pending = try database.read(runner.standing).pending
        let changes = try database.read { $0.totalChangesCount }
        let again = try runner.run(database, upTo: nil).applied
        let isUntouched = try database.read { $0.totalChangesCount } == changes
        guard !pending.isEmpty || !again.isEmpty || !isUntouched else { return [] }
        return [
            UpgradeProblem(
                "A second run after upgrading", from: start,
                " applies \((pending.isEmpty ? again : pending).map(title).asList)",
                remedy: "See that no migration changes the table in which migrations are recorded.")
        ]
    }

    // MARK: Rows

    /// Returns the tables that do not have the expected number of rows, by name.
    private func differences(
        _ after: [SQLName: Int], before: [SQLName: Int], _ applied: [SchemaVersion]
    ) -> [(table: SQLName, expected: Int)] {
        matrix.rowCounts.expected(after: applied.map(runner.key), from: before)
            .filter { after[$0.key, default: 0] != $0.value }
            .sorted { $0.key < $1.key }.map { (table: $0.key, expected: $0.value) }
    }

    /// Applies the migrations again, each in its own commit, to find the causes of problems.
    ///
    /// It finds the migrations that change the numbers, and those that work only when they are committed with
    /// others.
    private func rowProblems(
        _ copy: DatabaseQueue, before: [SQLName: Int], after: [SQLName: Int], _ applied: [SchemaVersion],
        _ start: UpgradeReport.Start
    ) throws -> [UpgradeProblem] {
        let lost = differences(after, before: before, applied)
        // With one transaction for all migrations, none is ever committed alone.
        if case .allOrNothing = (runner as? SchemaMigrator)?.options.commits, lost.isEmpty { return [] }
        // Migrations may need the app's steps, which do not run here.
        if matrix.app != nil, lost.isEmpty { return [] }
        var problems: [UpgradeProblem] = []
        var counts = before
        do {
            for version in applied {
                _ = try runner.run(copy, upTo: version)
                let next = try copy.read(Inventory.init).rows
                problems += differences(next, before: counts, [version]).map { table, expected in
                    rowProblem(table, expected: expected, before: counts, after: next, version, start)
                }
                counts = next
            }
            try copy.close()
        } catch {
            if matrix.app == nil {
                problems.append(
                    UpgradeProblem(
                        "With each migration committed alone, as on a slow device, the upgrade", from: start,
                        " fails", because: Diagnostic(error, remedy: "Fix the migration that fails.")))
            }
        }
        guard problems.isEmpty else { return problems }
        return lost.map { table, expected in
            UpgradeProblem(
                "Table \(table.text.quoted) has \(after[table, default: 0].counting("row")) after upgrading",
                from: start,
                ", where \(expected) had been expected",
                remedy: """
                    Fix the \(matrix.app == nil ? "migration" : "step or the migration") that changes it, or state the change \
                    as rowCounts:.
                    """)
        }
    }

    private func rowProblem(
        _ table: SQLName, expected: Int, before: [SQLName: Int], after: [SQLName: Int],
        _ version: SchemaVersion, _ start: UpgradeReport.Start
    ) -> UpgradeProblem {
        let key = runner.key(version).code
        func remedy(stating change: String) -> String {
            // A change applies to what those before it in the list leave.
            let others =
                matrix.rowCounts.changes.contains { $0.migration == runner.key(version) } ? "…, " : ""
            return
                "Fix it, or, if it is intended, state it: rowCounts: .unchanged(except: [\(others)\(change)])"
        }
        let told =
            expected == before[table] ?? 0
            ? "which had \(expected.counting("row"))"
            : "where \(expected.counting("row")) had been expected"
        guard let has = after[table] else {
            // The table that most likely replaced it.
            let other = after.filter { before[$0.key] == nil && $0.value == expected }.keys.min()
            let change =
                other.map { ".renamed(\"\(table)\", to: \"\($0)\", by: \(key))" }
                ?? ".dropped(\"\(table)\", by: \(key))"
            return UpgradeProblem(
                "\(title(version)) removes table \(table.text.quoted), \(told), in the upgrade",
                from: start, remedy: remedy(stating: change))
        }
        let change =
            has == 0
            ? ".emptied(\"\(table)\", by: \(key))"
            : ".changed(\"\(table)\", by: \(key)) { $0 \(has < expected ? "-" : "+") \(abs(has - expected)) }"
        return UpgradeProblem(
            "\(title(version)) leaves \(has.counting("row")) in table \(table.text.quoted), \(told), in the upgrade",
            from: start, remedy: remedy(stating: change))
    }
}
