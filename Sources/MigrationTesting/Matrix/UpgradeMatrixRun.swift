import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// A run of a matrix, which builds the old databases and has each of them upgraded.
struct UpgradeMatrixRun {
    private let matrix: UpgradeMatrix
    private let runner: any MigrationRunner
    /// The migrator, if it may have a snapshot.
    private var schema: SchemaMigrator? { runner as? SchemaMigrator }

    init(_ matrix: UpgradeMatrix) {
        self.matrix = matrix
        runner = matrix.runner
    }

    func report() -> UpgradeReport {
        var report = UpgradeReport()
        report.generalProblems = unknownVersions()
        let stale = staleSnapshot()
        report.generalProblems += stale.map { [$0] } ?? []
        // If the snapshot is out of date, every upgrade would differ from it, through no fault of its own.
        guard let trial = trial(isSnapshotSound: stale == nil, &report) else { return report }
        replay(trial, &report)
        if stale == nil { startFromSnapshot(trial, &report) }
        upgradeFixtures(trial, &report)
        if report.upgrades.isEmpty, report.generalProblems.isEmpty {
            report.generalProblems.append(
                UpgradeProblem(
                    "The matrix upgrades no database",
                    remedy: "Pass a migrator with migrations, and versions as from:, or nil for all of them.")
            )
        }
        return report
    }

    private func unknownVersions() -> [UpgradeProblem] {
        let known = Set(runner.titles.map(runner.key(of:)))
        let latest = runner.key(runner.titles.last?.version ?? 0)
        let chosen = (matrix.versions ?? []).filter { !known.contains($0) }.map {
            UpgradeProblem(
                "The matrix starts at version \($0), which no migration has",
                remedy: "Remove it from the versions passed as from:; the latest is \(latest).")
        }
        let stated = matrix.rowCounts.changes.map(\.migration).filter { !known.contains($0) }.map {
            UpgradeProblem(
                "A change in the row counts is stated for version \($0), which no migration has",
                remedy: "Name the version of the migration that makes the change in rowCounts:.")
        }
        return chosen + stated
    }

    private static let snapshotRemedy = "Write the snapshot again with writeSnapshot(to:)."

    private func staleSnapshot() -> UpgradeProblem? {
        guard let schema, let url = schema.snapshotURL else { return nil }
        do {
            try SnapshotWriter(schema, configuration: matrix.configuration).verify(url)
            return nil
        } catch {
            return UpgradeProblem(
                "The snapshot cannot be used", because: Diagnostic(error, remedy: Self.snapshotRemedy))
        }
    }

    /// Prepares the fresh install with which upgrades are compared; returns nil if it fails.
    private func trial(isSnapshotSound: Bool, _ report: inout UpgradeReport) -> UpgradeTrial? {
        do {
            let installs = try (0..<2).map { _ in
                let fresh = try database()
                let source = schema.map { $0.with(snapshot: isSnapshotSound ? $0.snapshotURL : nil) }
                _ = try matrix.upgrade(fresh, at: 0, with: source ?? runner)
                return fresh
            }
            let seeds = try installs.map { try $0.read(SeedRows.init) }
            try report.notes += matrix.wholeTableReads(of: installs[1], runner)
            return UpgradeTrial(
                matrix, fresh: try installs[0].read(DatabaseSchema.init),
                seeds: seeds[0].common(with: seeds[1]))
        } catch {
            report.generalProblems.append(
                UpgradeProblem(
                    "A fresh install fails",
                    because: Diagnostic(error, remedy: "Fix the migrations: a fresh install has to succeed."))
            )
            return nil
        }
    }

    private func database() throws -> DatabaseQueue {
        try matrix.configuration.scratchDatabase()
    }

    // MARK: Old databases

    /// Migrates a database one version at a time, and upgrades a copy of it at each version of the matrix.
    private func replay(_ trial: UpgradeTrial, _ report: inout UpgradeReport) {
        let wanted = matrix.versions.map { Set($0.compactMap(runner.version)) }
        let ladderRunner = schema?.with(snapshot: nil) ?? runner
        var version: SchemaVersion = 0
        var losses: [RebuiltTables.Loss] = []
        do {
            let ladder = try database()
            for migration in runner.titles {
                version = migration.version
                let before = try ladder.read(RebuiltTables.init)
                _ = try ladderRunner.run(ladder, upTo: version)
                try losses += ladder.read(RebuiltTables.init).losses(since: before, by: migration)
                guard wanted?.contains(version) != false else { continue }
                let old = try database()
                try ladder.backup(to: old)
                let start = UpgradeReport.Start(version: runner.key(version), origin: .replay)
                report.upgrades.append(trial.upgrade(old, from: start, filling: matrix.rows))
            }
            let final = try ladder.read(RebuiltTables.init)
            report.notes += losses.filter { !final.contains($0.object) }.map(\.sentence)
        } catch {
            report.generalProblems.append(
                UpgradeProblem(
                    "The database of version \(runner.key(version)) cannot be built by replay",
                    because: Diagnostic(error, remedy: "Fix the migration of this version.")))
        }
    }

    /// Upgrades a database that was made from the snapshot alone, as on a device that was new at its version.
    private func startFromSnapshot(_ trial: UpgradeTrial, _ report: inout UpgradeReport) {
        guard let schema, let url = schema.snapshotURL,
            let version = try? Snapshot(contentsOf: url).versions.max()
        else { return }
        let start = UpgradeReport.Start(
            version: runner.key(version), origin: .snapshot(url.lastPathComponent))
        do {
            let old = try database()
            try schema.with(snapshot: url).migrate(old, upTo: version)
            report.upgrades.append(trial.upgrade(old, from: start, filling: matrix.rows))
        } catch {
            report.generalProblems.append(
                UpgradeProblem(
                    "The snapshot \(url.lastPathComponent) makes no database",
                    because: Diagnostic(error, remedy: Self.snapshotRemedy)))
        }
    }

    private func upgradeFixtures(_ trial: UpgradeTrial, _ report: inout UpgradeReport) {
        guard let folder = matrix.fixtures else { return }
        let extensions: Set<String> = ["sqlite", "sqlite3", "db"]
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
            .filter { extensions.contains(($0 as NSString).pathExtension.lowercased()) }
        if names.isEmpty {
            report.generalProblems.append(
                UpgradeProblem(
                    "The folder \(folder.path) holds no fixture",
                    remedy: """
                        Fixtures are databases named .sqlite, .sqlite3 or .db; `app-migrations fixture` makes one from a \
                        real database.
                        """))
        }
        for name in names {
            do {
                let old = try fixture(at: folder.appendingPathComponent(name))
                let version = try old.read(runner.standing).current
                let start = UpgradeReport.Start(version: version.map(runner.key), origin: .fixture(name))
                report.upgrades.append(trial.upgrade(old, from: start, filling: .none))
            } catch {
                var remedy = "Make it again with `app-migrations fixture`, or remove it from the folder."
                let cause = Diagnostic(error, remedy: remedy)
                if let error = error as? MigrationError, error.code == .undecided { remedy = error.remedy }
                report.generalProblems.append(
                    UpgradeProblem("The fixture \(name) cannot be used: \(cause.clause)", remedy: remedy))
            }
        }
    }

    /// Returns a copy of a fixture in memory, and only reads the file.
    private func fixture(at url: URL) throws -> DatabaseQueue {
        let copy = try database()
        let file = try SQLiteFile(path: url.path, configuration: matrix.configuration).openReadOnly()
        let result = Result { try file.backup(to: copy) }
        try file.close()
        try result.get()
        guard try copy.read({ try !DatabaseSchema($0).isEmpty }) else { throw EmptyFixture() }
        return copy
    }
}

/// An error that says that a fixture has no tables.
private struct EmptyFixture: Error, CustomStringConvertible {
    let description = "it holds no table"
}
