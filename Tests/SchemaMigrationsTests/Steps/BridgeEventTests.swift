import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Events and progress of moves", .timed)
struct BridgeEventTests {
    let app: App

    init() throws { app = try App() }

    @Test("a schema step reports its schema versions, and a step its database")
    func events() throws {
        var steps: [MigrationEvent.Step] = []
        var lines: [String] = []
        let options = MigrationOptions(onEvent: { event in
            lines.append("\(event)".replacing(#/in [\d.e-]+ seconds/#, with: "in TIME"))
            if case .willRun(let step) = event.kind { steps.append(step) }
        })
        try app.launch("1.0")
        try app.launch("2.0", options: options)
        #expect(
            lines == [
                "Library: upgrade(from: 1.0)",
                "Library: schema step 1.2 (1 of 4) begins",
                "Library: schema step 1.2 (1 of 4) finished in TIME",
                "Library: step 1.2 (2 of 4) begins", "Library: step 1.2 (2 of 4) finished in TIME",
                "Library: schema step 2.0 (3 of 4) begins",
                "Library: schema step 2.0 (3 of 4) finished in TIME",
                "Library: step 2.0 (4 of 4) begins", "Library: step 2.0 (4 of 4) finished in TIME",
                "Library: finished; steps: 2, schema steps: 2",
            ])
        #expect(steps.map(\.schemaVersions) == [["12"], nil, ["20"], nil])
        #expect(steps.allSatisfy { $0.database == "library.sqlite" && $0.attempt == 1 })
    }

    @Test("a failed schema step is reported, and the next launch retries it")
    func failure() throws {
        var lines: [String] = []
        let options = MigrationOptions(onEvent: { lines.append("\($0)") })
        let database = try app.open()
        let manager = try app.manager("1.0", options: options)
        let broken = try SchemaMigrator(migrations: [ExecutedSQL(version: 10, sql: "CREATE TABEL book(id)")])
        manager.whenMigratingToVersion(
            "1.0", migrate: broken, in: database, fileID: "App/Migrations.swift", line: 7)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .stepFailed)
        #expect(error.message.hasPrefix("Library: schema step 1.0 (Migrations.swift:7) failed: "))
        #expect(error.remedy == "Earlier steps are complete. The next launch retries this one.")
        #expect(lines.dropLast() == ["Library: freshInstall", "Library: schema step 1.0 (1 of 1) begins"])
        #expect(lines.last?.hasPrefix("Library: schema step 1.0 (1 of 1) failed: ") == true)
        #expect(try app.launch("1.0").schemaSteps.map(\.schemaVersions) == [["10"]])
    }

    @Test("each schema migration of a schema step counts like a step")
    func weight() throws {
        let database = try app.open()
        let manager = try app.manager("2.0")
        let progress = manager.progress
        var fractions: [Double] = []
        manager.whenMigratingToVersion("1.0", onFreshInstall: .run) {
            fractions.append(progress.fractionCompleted)
        }
        manager.whenMigratingToVersion("1.2", migrate: try app.schema(), in: database)
        manager.whenMigratingToVersion("1.2", onFreshInstall: .run) {
            fractions.append(progress.fractionCompleted)
        }
        try manager.migrate()
        #expect(fractions == [0, 0.8])
        #expect(progress.fractionCompleted == 1)
    }

    @Test("schema steps and steps above the current version are left out if requested")
    func leaveOut() throws {
        let database = try app.open()
        func launch(_ version: String) throws -> MigrationReport {
            let manager = try app.manager(version, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            let schema = try app.schema()
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: database)
            manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20, in: database)
            manager.whenMigratingToVersion("2.0", in: database) { db in
                try db.execute(sql: "INSERT INTO book(title, year) VALUES ('by 2.0', 2000)")
            }
            return try manager.migrate()
        }
        #expect(try launch("1.0").schemaSteps.map(\.schemaVersions) == [["10"]])
        #expect(try launch("1.5").schemaSteps == [])
        let report = try launch("2.0")
        #expect(report.schemaSteps.map(\.schemaVersions) == [["12", "20"]])
        #expect(report.completed.versions == ["2.0"])
    }

    @Test("an extension that waits gets an error while schema steps are pending, and writes nothing")
    func waits() throws {
        try app.launch("1.0")
        let files = try FileManager.default.contentsOfDirectory(atPath: app.folder.url.path).sorted()
        let before = try Data(contentsOf: app.databaseURL)
        let error = try #require(throws: MigrationError.self) {
            try app.launch("2.0", options: MigrationOptions(role: .waitsForApp))
        }
        #expect(error.code == .notYetMigrated)
        #expect(try FileManager.default.contentsOfDirectory(atPath: app.folder.url.path).sorted() == files)
        #expect(try Data(contentsOf: app.databaseURL) == before)
        try app.launch("2.0")
        #expect(try app.launch("2.0", options: MigrationOptions(role: .waitsForApp)).launch == .relaunch)
    }
}
