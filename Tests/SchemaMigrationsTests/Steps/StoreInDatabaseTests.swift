import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@testable import AppMigrations

/// A version can have a closure outside databases, and one in each database: also in that of the store.
@Suite("A store in the database of steps", .timed)
struct StoreInDatabaseTests {
    let app: App

    init() throws {
        app = try App()
        try launch("1.0", [])
    }

    private enum Step { case outside, inside, deferredOutside }

    private struct Failure: Error {}

    /// Launches an app with steps of 2.0.
    @discardableResult
    private func launch(
        _ version: String, _ steps: [Step], failing: Step? = nil, by obstacle: (any Error)? = nil
    ) throws -> MigrationReport {
        let database = try app.open()
        let manager = try app.manager(version, adopting: Adoption { "1.0" }, store: .database(database))
        for step in steps {
            switch step {
            case .outside:
                manager.whenMigratingToVersion("2.0") { [log = app.log] in
                    if failing == step { throw Failure() }
                    log.add("outside")
                }
            case .inside:
                manager.whenMigratingToVersion("2.0", in: database) { [log = app.log] _ in
                    if failing == step { throw obstacle ?? Failure() }
                    log.add("inside")
                }
            case .deferredOutside:
                manager.afterMigratingToVersion("2.0") { [log = app.log] _ in log.add("deferred") }
            }
        }
        return try manager.migrate()
    }

    private func record() throws -> MigrationRecord {
        try #require(try MigrationStore.database(app.open()).read("Library").record(of: "Library"))
    }

    @Test("keeps where a closure has saved its last checkpoint")
    func checkpoint() throws {
        var last: [Int] = []
        for isFailing in [true, false] {
            let manager = try app.manager("2.0", adopting: Adoption { "1.0" }, store: .database(app.open()))
            manager.whenMigratingToVersion("2.0") { context in
                last.append(try context.lastCheckpoint(as: Int.self) ?? 0)
                try context.checkpoint(7)
                if isFailing { throw Failure() }
            }
            if isFailing {
                #expect(throws: MigrationError.self) { try manager.migrate() }
            } else {
                try manager.migrate()
            }
        }
        #expect(last == [0, 7])
    }

    @Test("runs a closure and a step of one version, each once")
    func both() throws {
        let report = try launch("2.0", [.outside, .inside])
        #expect(
            report.completed.map(\.description) == [
                "Library: step 2.0", "Library: step 2.0 in library.sqlite",
            ])
        #expect(report.completed.map(\.kind) == [.step, .step])
        #expect(try launch("2.0", [.outside, .inside]).completed == [])
        #expect(app.log.lines == ["outside", "inside"])
        #expect(try record().work == [WorkID("2.0"): .done, WorkID("2.0", .closure): .done])
    }

    @Test("goes on with the one of two steps that has failed")
    func failure() throws {
        #expect(throws: MigrationError.self) {
            try launch("2.0", [.outside, .inside], failing: .inside)
        }
        #expect(try launch("2.0", [.outside, .inside]).completed.map(\.database) == ["library.sqlite"])
        #expect(app.log.lines == ["outside", "inside"])
    }

    @Test("runs the second step of a version also if a later build brings it")
    func later() throws {
        try launch("2.0", [.inside])
        #expect(try launch("2.0", [.outside, .inside]).completed.map(\.database) == [nil])
        #expect(app.log.lines == ["inside", "outside"])
    }

    @Test(
        "takes a step that the app moves into the database, or out of it, to have run",
        arguments: [true, false])
    func moved(isInside: Bool) throws {
        let (first, second): (Step, Step) = isInside ? (.outside, .inside) : (.inside, .outside)
        try launch("2.0", [first])
        #expect(try launch("2.1", [second]).completed == [])
        #expect(try launch("2.1", [second]).completed == [])
        #expect(app.log.lines == [isInside ? "outside" : "inside"])
    }

    @Test("leaves to a newer release which of two steps has run")
    func downgrade() throws {
        #expect(throws: MigrationError.self) {
            try launch("2.1", [.outside, .inside], failing: .inside)
        }
        try launch("2.0", [.inside])
        try launch("2.1", [.outside, .inside])
        #expect(app.log.lines == ["outside", "inside"])
    }

    @Test(
        "does not take a step that an obstacle has held up for its closure, which the app leaves out later",
        arguments: ["2.0", "2.1"])
    func obstacle(next version: String) throws {
        #expect(throws: MigrationError.self) {
            try launch(
                "2.0", [.outside, .inside], failing: .inside,
                by: MigrationPostponed(reason: "the keychain is locked"))
        }
        try launch(version, [.inside])
        #expect(app.log.lines == ["outside", "inside"])
    }

    @Test("knows the closures of a record that calls them steps")
    func olderRecord() throws {
        let store = try MigrationStore.database(app.open())
        try store.storage.change("Library", waitingUpTo: .zero) { state in
            try state.changeRecord(of: "Library") { record in
                record?.settle(WorkID("2.0"))
                record?.completed = "2.0"
            }
        }
        #expect(try launch("2.0", [.outside]).completed == [])
        #expect(try record().work == [WorkID("2.0", .closure): .done])
        // From then on, the record tells the two apart.
        #expect(try launch("2.1", [.outside, .inside]).completed.map(\.database) == ["library.sqlite"])
        #expect(app.log.lines == ["inside"])
    }

    @Test("leaves a step alone that goes to another database, and not its closure")
    func movedAway() throws {
        try launch("2.0", [.outside, .inside])
        let manager = try app.manager("2.1", store: .database(app.open()))
        let other = try DatabaseQueue(path: app.folder.path("other.sqlite"))
        manager.whenMigratingToVersion("2.0") { [log = app.log] in log.add("outside") }
        manager.whenMigratingToVersion("2.0", in: other) { [log = app.log] _ in log.add("inside") }
        #expect(try manager.migrate().completed == [])
        #expect(app.log.lines == ["outside", "inside"])
    }

    @Test("refuses two closures of one version outside its database")
    func twice() throws {
        let error = #expect(throws: MigrationError.self) { try launch("2.0", [.outside, .deferredOutside]) }
        #expect(error?.code == .misuse)
        #expect(error?.message.contains("deferred step 2.0 is registered twice, first at ") == true)
    }

    @Test("owes a new install a step that the app moves before it has run", arguments: [false, true])
    func owedAndMoved(goesInside: Bool) throws {
        let database = try DatabaseQueue(path: app.folder.path("new.sqlite"))
        func launch(_ version: String, isInside: Bool, isReady: Bool) throws -> MigrationReport {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp, store: .database(database))
            let body: @Sendable () throws -> Void = {
                if !isReady { throw MigrationPostponed(reason: "no network") }
            }
            if isInside {
                manager.whenMigratingToVersion("1.5", in: database, onFreshInstall: .run) { _ in try body() }
            } else {
                manager.whenMigratingToVersion("1.5", onFreshInstall: .run) { try body() }
            }
            return try manager.migrate()
        }
        #expect(throws: MigrationError.self) {
            try launch("2.0", isInside: !goesInside, isReady: false)
        }
        #expect(try launch("2.1", isInside: goesInside, isReady: true).completed.versions == ["1.5"])
    }
}
