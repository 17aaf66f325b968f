import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("Calling a manager from its own step", .timed)
struct ReentranceTests {
    enum Call: String, CaseIterable {
        case migrate
        case migrateThrough
        case migrateRetrying
        case pendingVersions
        case pendingMoves
        case history
        case reset
        case forget
        case skip
        case replaceRecord

        func callAsFunction(_ manager: MigrationManager) throws {
            switch self {
            case .migrate: try manager.migrate()
            case .migrateThrough: try manager.migrate(through: "2.0")
            case .migrateRetrying: try manager.migrate(retrying: manager.work("2.0"))
            case .pendingVersions: _ = try manager.pendingVersions()
            case .pendingMoves: _ = try manager.pendingSchemaSteps()
            case .history: _ = try manager.history()
            case .reset: try manager.rerunAllSteps()
            case .forget: try manager.removeRecord()
            case .skip: try manager.skip("2.0")
            case .replaceRecord: try manager.replaceRecord(assuming: "1.0")
            }
        }
    }

    static let message = """
        Library: called while it is migrating, by one of its steps or by another task. Call the manager before \
        migrate(), or when migrate() has returned.
        """

    @Test("is an error for every call, and not a deadlock", arguments: Call.allCases)
    func inside(call: Call) throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        var refusal: MigrationError?
        manager.whenMigratingToVersion("2.0") { [unowned manager] in
            do { try call(manager) } catch { refusal = error as? MigrationError }
        }
        #expect(try manager.migrate().completed.versions == ["2.0"])
        #expect(refusal?.code == .misuse)
        #expect(refusal?.description == Self.message)
        #expect(try manager.pendingVersions() == [], "afterwards it may be called again")
    }

    @Test("is an error in a closure for a version change")
    func insideChange() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenVersionChanges { [unowned manager] _, _ in try manager.rerunAllSteps() }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect((error.underlyingError as? MigrationError)?.code == .misuse)
    }
}

@Suite("Two objects of the same manager", .timed)
struct TwoObjectsTests {
    @Test("run each step once if two threads migrate")
    func threads() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("migrations.json")
        for round in 1...10 {
            let version = "\(round + 1).0"
            let ran = Locked<[String]>([])
            try launch("\(round).0", store: .jsonFile(at: url))
            let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
                for _ in 1...2 {
                    group.addTask {
                        let manager = try MigrationManager(
                            name: "Library", currentVersion: version, adopting: .newApp,
                            store: .jsonFile(at: url),
                            options: MigrationOptions(lockTimeout: .seconds(600)))
                        for step in ["\(round).1", version] {
                            manager.whenMigratingToVersion(try AppVersion(parsing: step)) {
                                ran.withLock { $0.append(step) }
                            }
                        }
                        let migrate: () throws -> MigrationReport = { try manager.migrate() }
                        return try migrate()
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(ran.withLock { $0 } == ["\(round).1", version])
            #expect(reports.map(\.completed.count).sorted() == [0, 2])
        }
    }

    @Test("get an error, not a deadlock, if a step of one launches the other")
    func nested() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("2.0") {
            try launch(
                "2.0", steps: ["2.0"], store: store, options: MigrationOptions(lockTimeout: .milliseconds(20))
            )
        }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect((error.underlyingError as? MigrationError)?.code == .locked)
    }

    @Test("differ from two managers: a step can launch another manager of its store")
    func otherManager() throws {
        let folder = try TemporaryFolder()
        let store = try MigrationStore.jsonFile(at: folder.file("migrations.json"))
        try launch("1.0", name: "Library", store: store)
        try launch("1.0", name: "Settings", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        let log = Log()
        manager.whenMigratingToVersion("2.0") {
            try launch("2.0", steps: ["2.0"], name: "Settings", store: store, log: log)
        }
        #expect(try manager.migrate().completed.versions == ["2.0"])
        #expect(log.lines == ["2.0"])
    }
}
