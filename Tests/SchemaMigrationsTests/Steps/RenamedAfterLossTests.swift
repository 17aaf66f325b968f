import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// What a former manager has written down counts before what was lost, or assumed, before that.
@Suite("A manager that is renamed", .timed)
struct RenamedAfterLossTests {
    private let app: App

    init() throws { app = try App() }

    private var store: URL { app.folder.url.appendingPathComponent("store.json") }

    private func queue() throws -> DatabaseQueue {
        try DatabaseQueue(path: app.folder.url.appendingPathComponent("library.sqlite").path)
    }

    /// Returns the manager, which is named `Library` before 3.0.
    private func manager(
        _ version: AppVersion, storeIn database: DatabaseQueue? = nil, isRenamed: Bool = true
    ) throws -> MigrationManager {
        let isNew = isRenamed && version == "3.0"
        return try MigrationManager(
            name: isNew ? "Pictures" : "Library", currentVersion: version,
            adopting: isNew ? .splitFrom("Library", before: "3.0") : .newApp,
            store: database.map { .database($0) } ?? .jsonFile(at: store))
    }

    private func closures(
        _ versions: AppVersion..., of manager: MigrationManager, rule: FreshInstallRule = .skip
    ) {
        for version in versions {
            manager.whenMigratingToVersion(version, onFreshInstall: rule) { [log = app.log] in
                log.add("\(version)")
            }
        }
    }

    private func steps(_ versions: AppVersion..., of manager: MigrationManager, in database: DatabaseQueue) {
        for version in versions {
            let rule: FreshInstallRule = version == "1.0" ? .run : .skip
            manager.whenMigratingToVersion(version, in: database, onFreshInstall: rule) {
                [log = app.log] db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS book(title)")
                log.add("\(version)")
            }
        }
    }

    /// Leaves the database as salvaging does that found no record, and either no history or all of it.
    private func loseRecords(_ database: DatabaseQueue, andHistory: Bool = true) throws {
        try database.write { db in
            let history = andHistory ? ["app_migrations_history"] : []
            for table in ["app_migrations", "app_migrations_mirror"] + history {
                try db.execute(sql: "DROP TABLE IF EXISTS \(table)")
            }
            var state = StoreState()
            state.markRecordsAsLost(at: Date())
            try SQLiteStore.restore(state.sharedRows, history: [], db)
        }
    }

    @Test("goes on where it was, though its store was replaced before that")
    func replacedStore() throws {
        try manager("1.0").migrate()
        try Data("{".utf8).write(to: store)
        try manager("2.0").replaceRecord(assuming: "1.0")
        let second = try manager("2.0")
        closures("1.5", "2.0", of: second)
        try second.migrate()
        let renamed = try manager("3.0")
        closures("1.5", "2.0", "3.0", of: renamed)
        #expect(try renamed.migrate().launch == .upgrade(from: "2.0"))
        #expect(app.log.lines == ["1.5", "2.0", "3.0"])
    }

    @Test("goes on in a database whose records were lost before that")
    func lostRecords() throws {
        let database = try queue()
        let first = try manager("1.0")
        steps("1.0", of: first, in: database)
        try first.migrate()
        try loseRecords(database)
        let second = try manager("2.0")
        steps("1.0", "2.0", of: second, in: database)
        try second.migrate()
        let renamed = try manager("3.0")
        steps("1.0", "2.0", "3.0", of: renamed, in: database)
        #expect(try renamed.migrate().launch == .upgrade(from: "2.0"))
        #expect(app.log.lines == ["1.0", "2.0", "3.0"])
    }

    @Test("goes on in the database that is its store, whose records were lost before that")
    func lostStore() throws {
        let database = try queue()
        let first = try manager("1.0", storeIn: database)
        steps("1.0", of: first, in: database)
        try first.migrate()
        try loseRecords(database)
        let second = try manager("2.0", storeIn: database)
        steps("1.0", "2.0", of: second, in: database)
        try second.replaceRecord(assuming: "1.0")
        try second.migrate()
        let renamed = try manager("3.0", storeIn: database)
        steps("1.0", "2.0", "3.0", of: renamed, in: database)
        #expect(try renamed.migrate().launch == .upgrade(from: "2.0"))
        #expect(app.log.lines == ["1.0", "2.0", "3.0"])
    }

    @Test("is undecided where the records of its former names may be lost")
    func unknownFormer() throws {
        let database = try queue()
        let first = try manager("1.0", storeIn: database)
        steps("1.0", of: first, in: database)
        try first.migrate()
        try loseRecords(database)
        let renamed = try manager("3.0", storeIn: database)
        steps("1.0", "2.0", of: renamed, in: database)
        let error = #expect(throws: MigrationError.self) { try renamed.migrate() }
        #expect(error?.code == .damagedStore)
        #expect(app.log.lines == ["1.0"])
    }

    @Test("runs no step again where its own record is lost, and that of its former name is not")
    func lostOwnRecord() throws {
        let database = try queue()
        let first = try manager("2.0", storeIn: database)
        steps("1.0", "2.0", of: first, in: database)
        try first.migrate()
        let renamed = try manager("3.0", storeIn: database)
        steps("1.0", "2.0", "3.0", of: renamed, in: database)
        try renamed.migrate()
        #expect(app.log.lines == ["1.0", "3.0"])
        let state = try SQLiteStore(database).read("Library")
        try loseRecords(database)
        try SQLiteStore(database).update("Library", waitingUpTo: .zero) {
            try $0.setRecord(state.record(of: "Library"), of: "Library")
        }
        let again = try manager("3.0", storeIn: database)
        steps("1.0", "2.0", "3.0", of: again, in: database)
        let error = #expect(throws: MigrationError.self) { try again.migrate() }
        #expect(error?.code == .damagedStore)
        #expect(app.log.lines == ["1.0", "3.0"])
    }

    @Test("runs no step again that it has completed under its former name, whatever version the app names")
    func replacedRecord() throws {
        let database = try queue()
        for version in ["1.0", "2.0"] as [AppVersion] {
            let old = try manager(version)
            steps("1.0", of: old, in: database)
            if version == "2.0" { steps("2.0", of: old, in: database) }
            try old.migrate()
        }
        try loseRecords(database)
        func renamed() throws -> MigrationManager {
            let manager = try manager("3.0")
            steps("1.0", of: manager, in: database)
            // Nothing says whether it has run.
            manager.afterMigratingToVersion("1.5", in: database, startingAt: 0) {
                (_, _) -> DeferredCursor<Int> in .done
            }
            steps("2.0", "3.0", of: manager, in: database)
            return manager
        }
        let error = #expect(throws: MigrationError.self) { try renamed().migrate() }
        #expect(error?.code == .damagedStore)
        try renamed().replaceRecord(assuming: "1.0")
        try renamed().migrate()
        #expect(app.log.lines == ["1.0", "2.0", "3.0"])
    }

    @Test(
        "goes on where its database stands, if the store is lost in the same update",
        arguments: [false, true])
    func storeLostMeanwhile(isRenamed: Bool) throws {
        let database = try queue()
        for version in ["1.0", "1.9"] as [AppVersion] {
            let old = try manager(version)
            steps("1.0", of: old, in: database)
            if version == "1.9" { closures("1.5", of: old) }
            try old.migrate()
        }
        try FileManager.default.removeItem(at: store)
        let manager = try manager("3.0", isRenamed: isRenamed)
        steps("1.0", of: manager, in: database)
        closures("1.5", "3.0", of: manager)
        #expect(try manager.migrate().launch == .adoption(from: "1.9"))
        #expect(app.log.lines == ["1.0", "1.5", "3.0"])
    }

    @Test("is new where the app has removed its record under its former name", arguments: [false, true])
    func removed(isRenamed: Bool) throws {
        let database = try queue()
        let first = try manager("1.0")
        steps("1.0", of: first, in: database)
        try first.migrate()
        let second = try manager("2.0")
        steps("1.0", "2.0", of: second, in: database)
        closures("1.5", of: second)
        try second.migrate()
        try database.write { try $0.execute(sql: "DELETE FROM book") }
        try second.removeRecord()
        #expect(app.log.lines == ["1.0", "1.5", "2.0"])
        let manager = try manager("3.0", isRenamed: isRenamed)
        steps("1.0", "2.0", of: manager, in: database)
        closures("1.5", "2.5", of: manager)
        closures("3.0", of: manager, rule: .only)
        #expect(try manager.migrate().launch == .freshInstall)
        #expect(app.log.lines[3...].sorted() == ["1.0", "3.0"])
    }

    @Test(
        "knows by the history of its former name what has run where records were lost",
        arguments: [false, true])
    func historyOfFormerName(isRenamed: Bool) throws {
        let database = try queue()
        let first = try manager("1.0")
        steps("1.0", of: first, in: database)
        try first.migrate()
        func launch(_ version: AppVersion) throws -> MigrationManager {
            let manager = try self.manager(version, isRenamed: isRenamed)
            steps("1.0", of: manager, in: database)
            manager.afterMigratingToVersion("2.0", in: database, startingAt: 0) {
                [log = app.log] (_, _) -> DeferredCursor<Int> in
                log.add("2.0")
                return .done
            }
            return manager
        }
        for version in ["2.0", "3.0"] as [AppVersion] {
            let manager = try launch(version)
            try manager.migrate()
            try manager.runDeferred()
        }
        try loseRecords(database, andHistory: false)
        let manager = try launch("3.0")
        try manager.migrate()
        try manager.runDeferred()
        #expect(app.log.lines == ["1.0", "2.0"])
    }
}
