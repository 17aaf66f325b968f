import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Where a manager begins is read, not guessed: most tests were a loss while dates, file names and copies stood in for what
/// can be known.
@Suite("Places that know themselves", .timed)
struct PlaceIdentityTests {
    private let app: App
    private let log = BridgeLog()

    init() throws { app = try App() }

    private func store(_ name: String) throws -> MigrationStore {
        try .jsonFile(at: app.folder.url.appendingPathComponent(name))
    }

    /// Opens a database, in a folder of its own if the path has one.
    private func queue(_ path: String) throws -> DatabaseQueue {
        let url = app.folder.url.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        return try DatabaseQueue(path: url.path)
    }

    private func manager(
        _ name: String, _ version: String, adopting: Adoption = .newApp, store file: String = "store.json"
    ) throws -> MigrationManager {
        try Environment.$current.withValue(Environment.changed { $0.build = version }) {
            try MigrationManager(
                name: name, currentVersion: version, adopting: adopting, store: try store(file))
        }
    }

    private func closure(
        _ manager: MigrationManager, _ versions: AppVersion..., rule: FreshInstallRule = .skip
    ) {
        for version in versions {
            manager.whenMigratingToVersion(version, onFreshInstall: rule) { [log, name = manager.name] in
                log.add("\(name) \(version)")
            }
        }
    }

    private func step(
        _ manager: MigrationManager, _ version: AppVersion, in database: DatabaseQueue,
        rule: FreshInstallRule = .skip
    ) {
        manager.whenMigratingToVersion(version, in: database, onFreshInstall: rule) {
            [log, name = manager.name] db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS book(title)")
            log.add("\(name) \(version)")
        }
    }

    // MARK: The order of versions

    @Test("notes versions in the order in which they were launched, whatever the clock says")
    func clock() throws {
        let database = try queue("library.sqlite")
        let first = try manager("Library", "1.0")
        step(first, "1.0", in: database, rule: .run)
        try first.migrate()
        try database.write { db in
            for table in ["app_migrations", "app_migrations_mirror"] {
                try db.execute(sql: #"UPDATE \#(table) SET value = replace(value, '"20', '"30')"#)
            }
            let seen = try String.fetchAll(db, sql: "SELECT value FROM app_migrations WHERE part = 'seen'")
            #expect(seen.joined().contains(#""30"#), "\(seen)")
        }
        let second = try manager("Library", "2.0")
        step(second, "2.0", in: database)
        try second.migrate()
        let photos = try manager("Photos", "2.0", store: "photos.json")
        closure(photos, "1.5")
        step(photos, "2.0", in: database)
        #expect(try photos.migrate().launch == .adoption(from: "1.0"))
        #expect(log.lines == ["Library 1.0", "Library 2.0", "Photos 1.5", "Photos 2.0"])
    }

    // MARK: Former managers

    private func photos(_ version: String, _ adopting: Adoption? = nil) throws -> MigrationManager {
        let photos = try manager(
            "Photos", version, adopting: adopting ?? .splitFrom("Library", before: "2.0"))
        closure(photos, "1.5", "2.0")
        return photos
    }

    @Test("a manager that is split off is new on a new install, in whatever order the managers are called")
    func splitOnNewInstall() throws {
        try manager("Library", "2.0").migrate()
        let photos = try photos("2.0")
        closure(photos, "2.0-1", rule: .run)
        let report = try photos.migrate()
        #expect(report.launch == .freshInstall)
        #expect(report.completed.versions == ["2.0-1"])
    }

    @Test("a manager that is split off upgrades from the version before, and checks that it is supported")
    func splitOnUpgrade() throws {
        let old = try manager("Library", "1.0")
        closure(old, "1.0")
        try old.migrate()
        let library = try manager("Library", "2.0")
        // Its own step of the version does not count for the other one.
        closure(library, "2.0")
        try library.migrate()

        let strict = try MigrationManager(
            name: "Photos", currentVersion: "2.0", adopting: .splitFrom("Library", before: "2.0"),
            store: store("store.json"), options: MigrationOptions(oldestSupported: "1.5"))
        let error = try #require(throws: MigrationError.self) { try strict.migrate() }
        #expect(error.code == .tooOld)

        let photos = try photos("2.0")
        photos.whenVersionChanges { [log] from, to in log.add("\(from) to \(to)") }
        #expect(try photos.migrate().launch == .upgrade(from: "1.0"))
        #expect(log.lines == ["Library 2.0", "Photos 1.5", "Photos 2.0", "1.0 to 2.0"])
    }

    @Test("a manager that is split off, and reached one version later, runs its own steps of that before")
    func splitReachedLater() throws {
        try manager("Library", "1.9").migrate()
        let library = try manager("Library", "2.0")
        closure(library, "2.0")
        try library.migrate()
        try manager("Library", "2.1").migrate()
        #expect(try photos("2.1").migrate().completed.versions == ["2.0"])
    }

    @Test("each of several former names counts")
    func formerNames() throws {
        try manager("A", "1.0").migrate()
        let a = try manager("A", "1.9")
        closure(a, "1.5")
        try a.migrate()
        let photos = try photos(
            "3.0", .any(.splitFrom("B", before: "3.0"), .splitFrom("A", before: "2.0")))
        #expect(try photos.migrate().launch == .upgrade(from: "1.9"))
        #expect(log.lines == ["A 1.5", "Photos 2.0"])
    }

    @Test("a new name brings two managers together, or steps back to the manager that they came from")
    func newNameForFormers() throws {
        try manager("Library", "1.0").migrate()
        let old = try manager("Library", "1.9")
        closure(old, "1.5")
        try old.migrate()
        try photos("2.0").migrate()
        let library = try manager("Library", "2.0")
        closure(library, "2.0-1")
        try library.migrate()
        let media = try manager(
            "Media", "3.0",
            adopting: .any(.splitFrom("Photos", before: "3.0"), .splitFrom("Library", before: "3.0")))
        closure(media, "1.5", "2.0", "2.0-1", "3.0")
        #expect(try media.migrate().launch == .upgrade(from: "2.0"))
        #expect(log.lines == ["Library 1.5", "Photos 2.0", "Library 2.0-1", "Media 3.0"])
    }

    @Test("a former name that only an older app calls runs nothing that has come to another manager")
    func formerNameCalledLate() throws {
        try manager("Library", "1.0").migrate()
        let pictures = try manager(
            "Pictures", "2.5",
            adopting: .any(.splitFrom("Photos", before: "2.5"), .splitFrom("Library", before: "2.0")))
        closure(pictures, "1.5", "2.0", "2.5")
        try pictures.migrate()
        #expect(try photos("2.0").migrate().launch == .downgrade(from: "2.5"))
        #expect(log.lines == ["Pictures 1.5", "Pictures 2.0", "Pictures 2.5"])
    }

    @Test("a former manager that is called for the first time, and later, begins as if it had no follower")
    func formerCalledLater() throws {
        try photos("2.0").migrate()
        #expect(try manager("Library", "2.0").migrate().launch == .freshInstall)
    }

    // MARK: Databases

    @Test("a database in an app group is another one than that at the same path in the app's own container")
    func containers() throws {
        let container = "Containers/Data/Application/\(UUID().uuidString)"
        let first = try manager("Library", "1.0")
        step(first, "1.0", in: try queue("\(container)/Library/app.sqlite"), rule: .run)
        try first.migrate()
        let group = try queue("Containers/Shared/AppGroup/\(UUID().uuidString)/Library/app.sqlite")
        let second = try manager("Library", "2.0")
        step(second, "2.0", in: group)
        #expect(try second.migrate().completed.map(\.version) == ["2.0"])
        #expect(log.lines == ["Library 1.0", "Library 2.0"])
    }

    @Test("is another one if it begins beside one of the same name, whose rows a step imports")
    func newPlaceOfDatabase() throws {
        let old = try queue("Documents/app.sqlite")
        let first = try manager("Library", "1.0")
        step(first, "1.0", in: old, rule: .run)
        try first.migrate()

        let new = try queue("Group/app.sqlite")
        let second = try manager("Library", "2.0")
        step(second, "2.0", in: new)
        #expect(try second.migrate().completed.versions == ["2.0"])
    }

    @Test("was made anew if another one was at its path, and its steps are not needed there")
    func madeAnew() throws {
        let first = try manager("Library", "1.0")
        step(first, "1.0", in: try queue("cache.sqlite"), rule: .run)
        try first.migrate()
        try FileManager.default.removeItem(at: app.folder.url.appendingPathComponent("cache.sqlite"))

        let second = try manager("Library", "2.0")
        step(second, "2.0", in: try queue("cache.sqlite"))
        #expect(try second.migrate().completed.isEmpty)
    }

    @Test("is known wherever it lies, so that one that begins at its former path is new")
    func movedDatabase() throws {
        let first = try manager("Library", "1.0")
        let old = try queue("app.sqlite")
        step(first, "1.0", in: old, rule: .run)
        try first.migrate()
        try old.close()
        let url = app.folder.url
        try FileManager.default.moveItem(
            at: url.appendingPathComponent("app.sqlite"), to: url.appendingPathComponent("moved.sqlite"))

        let second = try manager("Library", "2.0")
        step(second, "1.0", in: try queue("moved.sqlite"), rule: .run)
        step(second, "2.0", in: try queue("app.sqlite"))
        #expect(try second.migrate().completed.versions == ["2.0"])
        #expect(log.lines == ["Library 1.0", "Library 2.0"])
    }

    @Test("whose record belongs to another store is named in the report")
    func sharedDatabase() throws {
        let index = try queue("index.sqlite")
        func library(_ store: String, _ version: String) throws -> MigrationReport {
            let manager = try manager("Library", version, store: store)
            step(manager, version == "1.0" ? "1.0" : "2.0", in: index, rule: .run)
            return try manager.migrate()
        }
        #expect(try library("anna.json", "1.0").databasesOfOtherStores == [])
        // A store that was just made takes the record over.
        #expect(try library("ben.json", "1.0").databasesOfOtherStores == [])
        #expect(try library("anna.json", "2.0").databasesOfOtherStores == ["index.sqlite"])
        #expect(try library("ben.json", "2.0").databasesOfOtherStores == [])
    }

    @Test("belongs to a store that was made anew, and could not take it over at first")
    func laterTakenOver() throws {
        let index = try queue("index.sqlite")
        func library(_ version: String) throws -> MigrationManager {
            let manager = try manager("Library", version)
            step(manager, "1.0", in: index, rule: .run)
            return manager
        }
        try library("1.0").migrate()
        try FileManager.default.removeItem(at: app.folder.url.appendingPathComponent("store.json"))
        try index.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER one BEFORE UPDATE ON app_migrations BEGIN SELECT RAISE(ABORT, 'not now'); END;
                    CREATE TRIGGER two BEFORE INSERT ON app_migrations BEGIN SELECT RAISE(ABORT, 'not now'); END;
                    CREATE TRIGGER three BEFORE DELETE ON app_migrations BEGIN SELECT RAISE(ABORT, 'not now'); END;
                    """)
        }
        #expect(throws: MigrationError.self) { try library("1.0").migrate() }
        try index.write { try $0.execute(sql: "DROP TRIGGER one; DROP TRIGGER two; DROP TRIGGER three") }
        #expect(try library("1.0").migrate().databasesOfOtherStores == [])
        #expect(try library("1.0").migrate().databasesOfOtherStores == [])
    }

    // MARK: What the app says

    @Test("any counts exact answers before bounds")
    func exactBeforeBounds() throws {
        let archive = app.folder.url.appendingPathComponent("archive")
        try Data().write(to: archive)
        let library = try manager(
            "Library", "2.0", adopting: .any(.fileExists(archive, means: "1.0"), Adoption { "1.8" }))
        closure(library, "1.5", "1.9")
        #expect(try library.migrate().launch == .adoption(from: "1.8"))
        #expect(log.lines == ["Library 1.9"])
    }

    @Test("any counts the highest of several bounds")
    func highestBound() throws {
        let archive = app.folder.url.appendingPathComponent("archive")
        try Data().write(to: archive)
        let library = try manager(
            "Library", "2.0",
            adopting: .any(.fileExists(archive, means: "1.0"), .fileExists(archive, means: "1.5")))
        #expect(try library.migrate().launch == .adoption(from: "1.5"))
    }

    @Test("with tables tells the versions that it has seen to a manager that has no step there")
    func tablesWithoutSteps() throws {
        let database = try queue("library.sqlite")
        let library = try manager("Library", "3.0")
        step(library, "3.0", in: database, rule: .run)
        try library.migrate()
        let photos = try manager(
            "Photos", "3.1", adopting: .databaseHasTables(database, means: "1.0"), store: "photos.json")
        closure(photos, "2.0", "3.1")
        #expect(try photos.migrate().launch == .adoption(from: "3.0"))
        #expect(log.lines == ["Library 3.0", "Photos 3.1"])
    }

    @Test(
        "lets no manager decide for another: what one was answered says nothing of one whose database knows")
    func boundOfAnother() throws {
        let database = try queue("library.sqlite")
        let archive = app.folder.url.appendingPathComponent("archive")
        try Data().write(to: archive)
        func launch(_ version: String, inOrder names: [String]) throws {
            for name in names {
                let manager = try manager(
                    name, version, adopting: name == "B" ? .fileExists(archive, means: "1.0") : .newApp)
                if name == "A" {
                    step(manager, "1.0", in: database, rule: .run)
                    if version == "2.0" { closure(manager, "2.0") }
                }
                try manager.migrate()
            }
        }
        try launch("1.0", inOrder: ["A", "B"])
        try launch("2.0", inOrder: ["A", "B"])
        #expect(log.lines == ["A 1.0", "A 2.0"])
        try FileManager.default.removeItem(at: app.folder.url.appendingPathComponent("store.json"))
        try launch("2.0", inOrder: ["B", "A"])
        #expect(log.lines == ["A 1.0", "A 2.0"])
    }

    @Test("any counts the earliest of what several databases have seen", arguments: [false, true])
    func anyOfDatabases(isAdopted: Bool) throws {
        func account(_ name: String, _ versions: String...) throws -> DatabaseQueue {
            let database = try queue("\(name).sqlite")
            for version in versions {
                let account = try manager(
                    "Account", version, adopting: .databaseHasTables(database, means: "1.0"),
                    store: "\(name).json")
                step(account, "1.0", in: database, rule: .run)
                try account.migrate()
            }
            return database
        }
        if isAdopted { try queue("anna.sqlite").write { try $0.execute(sql: "CREATE TABLE book(title)") } }
        let accounts = [try account("anna", "1.5", "2.0"), try account("ben", "2.0")]
        let settings = try manager(
            "App", "3.0",
            adopting: .any(accounts.map { Adoption.databaseHasTables($0, means: "1.0") }), store: "app.json")
        closure(settings, "1.4", "1.8", "3.0")
        #expect(try settings.migrate().launch == .adoption(from: isAdopted ? "1.0" : "1.5"))
        #expect(
            log.lines.filter { $0.hasPrefix("App") }
                == (isAdopted ? ["App 1.4"] : []) + ["App 1.8", "App 3.0"])
    }

    @Test("are remembered where they were last, and not where they were first", arguments: [false, true])
    func lastPath(isErased: Bool) throws {
        let url = app.folder.url
        let first = try manager("Library", "1.0")
        let old = try queue("app.sqlite")
        step(first, "1.0", in: old, rule: .run)
        try first.migrate()
        try old.close()
        try FileManager.default.moveItem(
            at: url.appendingPathComponent("app.sqlite"), to: url.appendingPathComponent("moved.sqlite"))
        let moved = try queue("moved.sqlite")
        let second = try manager("Library", "2.0")
        step(second, "1.0", in: moved, rule: .run)
        try second.migrate()
        try moved.close()

        let third = try manager("Library", "3.0")
        if isErased {
            try FileManager.default.removeItem(at: url.appendingPathComponent("moved.sqlite"))
            step(third, "3.0", in: try queue("moved.sqlite"))
            #expect(try third.migrate().completed.isEmpty)
        } else {
            step(third, "3.0", in: try queue("app.sqlite"))
            #expect(try third.migrate().completed.versions == ["3.0"])
        }
    }

    @Test("what is to run again under the second name runs under the third", arguments: [false, true])
    func rerunUnderSecondName(isNewestFirst: Bool) throws {
        try manager("A", "1.0").migrate()
        let first = try manager("A", "1.9")
        closure(first, "1.5")
        try first.migrate()
        let second = try manager("B", "2.0", adopting: .splitFrom("A", before: "2.0"))
        closure(second, "1.5")
        try second.migrate()
        try second.rerun(try #require(second.work.first))
        let formers = [Adoption.splitFrom("A", before: "2.0"), .splitFrom("B", before: "3.0")]
        let third = try manager("C", "3.0", adopting: .any(isNewestFirst ? formers.reversed() : formers))
        closure(third, "1.5")
        try third.migrate()
        #expect(log.lines == ["A 1.5", "C 1.5"])
    }

    @Test("what was removed under the second name is new under the third", arguments: [false, true])
    func removedUnderSecondName(isNewestFirst: Bool) throws {
        try manager("A", "1.0").migrate()
        let first = try manager("A", "1.9")
        closure(first, "1.5")
        try first.migrate()
        let second = try manager("B", "2.0", adopting: .splitFrom("A", before: "2.0"))
        closure(second, "1.5", "2.0")
        try second.migrate()
        try second.removeRecord()
        let formers = [Adoption.splitFrom("A", before: "2.0"), .splitFrom("B", before: "3.0")]
        let third = try manager("C", "3.0", adopting: .any(isNewestFirst ? formers.reversed() : formers))
        closure(third, "1.5", "2.0", "3.0")
        #expect(try third.migrate().launch == .freshInstall)
        #expect(log.lines == ["A 1.5", "B 2.0"])
    }

    @Test("a manager that is split off in a pre-release imports into a new database")
    func splitInPrereleaseImports() throws {
        try manager("Library", "1.9").migrate()
        try manager("Library", "2.0-beta.1").migrate()
        let photos = try manager(
            "Photos", "2.0-beta.1", adopting: .splitFrom("Library", before: "2.0"))
        step(photos, "2.0", in: try queue("photos.sqlite"))
        let report = try photos.migrate()
        #expect(report.launch == .upgrade(from: "1.9"))
        #expect(report.completed.versions == ["2.0"])
    }

    @Test("a manager that is split off is new on a new install of a pre-release")
    func splitOnNewInstallOfPrerelease() throws {
        try manager("Library", "2.0-beta.1").migrate()
        let photos = try photos("2.0-beta.1")
        closure(photos, "2.0-1", rule: .run)
        let report = try photos.migrate()
        #expect(report.launch == .freshInstall)
        #expect(report.completed.versions == ["2.0-1"])
    }

    @Test(
        "whose store is lost under a pre-release have had the steps of its release",
        arguments: [false, true])
    func storeLostUnderPrerelease(isNewInstall: Bool) throws {
        let database = try queue("library.sqlite")
        func launch(_ version: String) throws -> MigrationReport {
            let library = try manager("Library", version)
            step(library, "1.0", in: database, rule: .run)
            if version != "1.0" { closure(library, "2.0") }
            if version == "2.0-beta.2" {
                closure(library, "2.0-1")
                let other = try manager("Other", version)
                try library.migrate()
                #expect(try other.migrate().launch != .downgrade(from: "2.0"))
            }
            return try library.migrate()
        }
        if !isNewInstall { _ = try launch("1.0") }
        _ = try launch("2.0-beta.1")
        try FileManager.default.removeItem(at: app.folder.url.appendingPathComponent("store.json"))
        #expect(try launch("2.0-beta.1").completed.isEmpty)
        #expect(log.lines == ["Library 1.0"] + (isNewInstall ? [] : ["Library 2.0"]))
        _ = try launch("2.0-beta.2")
        #expect(log.lines.last == "Library 2.0-1")
    }
}
