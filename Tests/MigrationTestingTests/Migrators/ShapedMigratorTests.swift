import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@testable import MigrationTesting

@Suite("Migrators of the shapes of real apps'", .timed)
struct ShapedMigratorTests {
    @Test("upgrade from every migration", arguments: ShapedMigrator.all.sampled(oneIn: 4, from: 3))
    func matrix(app: ShapedMigrator) throws {
        let matrix = UpgradeMatrix(
            of: app.migrator, rowCounts: .unchanged(except: app.rowCounts), configuration: app.configuration)
        let report: UpgradeReport
        do {
            report = try matrix.run()
        } catch let error as UpgradeMatrixError {
            report = error.report
        }
        #expect(report.problems.map(\.message) == app.problems)
        #expect(report.upgrades.count == app.migrator.migrations.count)
        #expect(report.upgrades.count >= 20)
    }

    @Test("are reviewed", arguments: ShapedMigrator.all.sampled(oneIn: 4))
    func review(app: ShapedMigrator) throws {
        let review = try MigrationReview(of: app.migrator, configuration: app.configuration)
        let found = review.findings.filter { $0.rule != "unindexed-foreign-key" && $0.rule != "name-style" }
        #expect(found.map { "\($0.migration) \($0.rule)" } == app.findings, "\(review)")
    }

    @Test("are locked", arguments: ShapedMigrator.all.sampled(oneIn: 4, from: 1))
    func lock(app: ShapedMigrator) throws {
        let folder = try TemporaryFolder()
        let lock = MigrationLock(at: folder.file("Migrations.lock"), configuration: app.configuration)
        try lock.record(app.migrator)
        try lock.verify(app.migrator)
    }

    @Test("are exported, verified, and adopted", arguments: ShapedMigrator.all.sampled(oneIn: 4, from: 2))
    func export(app: ShapedMigrator) throws {
        let folder = try TemporaryFolder()
        let export = try MigrationExport(
            of: app.migrator, startingAt: 20260101000000000, ignoring: app.removed,
            configuration: app.configuration)
        #expect(
            Set(export.code.keys) == Set(app.inSwift.keys),
            "\(export.code.map { "\($0): \($1)" }.sorted().joined(separator: "\n"))")
        for (identifier, reason) in app.inSwift {
            #expect(export.code[identifier]?.hasPrefix(reason) == true, "\(export.code)")
        }
        #expect(export.fileNames.count + export.code.count == app.migrator.migrations.count)
        try export.write(to: folder.url)
        for identifier in app.migrator.migrations + app.removed {
            #expect(export.description.contains("\"\(identifier)\""))
        }

        // An existing database, which also has what was removed or merged, continues with the next file.
        let old = try DatabaseQueue(configuration: app.configuration)
        try app.migrator.migrate(old)
        try old.write { db in
            for identifier in app.removed {
                try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [identifier])
            }
        }
        let code = app.migrator.migrations.enumerated().filter { export.code[$0.element] != nil }
            .map { CodeMigration(20260101000000000 + Int64($0.offset), $0.element) { _ in } }
        let next = SQLMigration(version: 20270101000000000, name: "next", sql: "CREATE TABLE next(x);")
        let schema = try SchemaMigrator(
            directory: folder.url, migrations: code + [next], adopting: export.adoption)
        #expect(try schema.migrate(old).applied == [20270101000000000])
    }
}
