import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// The section of OlderBuilds.md about the last release before an app had a manager.
@Suite("Rows that a release without a manager wrote", .timed)
struct OldReleaseTests {
    @Test("are migrated by the newer version when it is back")
    func rerun() throws {
        let app = try App()
        let database = try app.open()
        try database.write { try $0.execute(sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, hash TEXT)") }
        var lastVersion = "1.9"
        func launchOld() throws {
            try database.write { try $0.execute(sql: "INSERT INTO photo DEFAULT VALUES") }
            lastVersion = "1.9"
        }
        func launchNew() throws -> MigrationReport {
            let manager = try app.manager("2.0", adopting: .databaseHasTables(database, means: "1.9"))
            manager.whenMigratingToVersion("2.0", in: database) { db in
                try db.execute(sql: "UPDATE photo SET hash = 'of ' || id WHERE hash IS NULL")
            }
            if lastVersion == "1.9" {
                for work in manager.work where work.version == "2.0" && work.kind == .step {
                    try manager.rerun(work)
                }
            }
            let report = try manager.migrate()
            lastVersion = "2.0"
            return report
        }
        for launch in [Launch.adoption(from: "1.9"), .relaunch, .relaunch] {
            try launchOld()
            let report = try launchNew()
            #expect(report.launch == launch)
            #expect(report.completed.versions == ["2.0"])
            #expect(
                try database.read {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM photo WHERE hash IS NULL")
                } == 0)
            #expect(try launchNew().completed == [])
        }
    }
}
