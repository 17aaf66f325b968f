import AppMigrations
import Foundation
import Testing

@Suite("As MFMigrationManager")
struct ParityTests {
    let store = InMemoryStore()
    let log = Log()

    @Test("a version may have any number of numbers", arguments: ["7", "1.1", "1.1.1", "2.0.3.9.6"])
    func numbers(version: String) throws {
        try launch("0.1", store: store)
        let step = try AppVersion(parsing: version)
        #expect(try launch("7.0", steps: [step], store: store).completed == [step])
    }

    @Test("sub-migrations run after the version that they belong to, -0 first")
    func subMigrations() throws {
        try launch("1.0", store: store)
        try launch("1.1", steps: ["1.1", "1.1-0", "1.1-1", "1.1-10"], store: store, log: log)
        #expect(log.lines == ["1.1", "1.1-0", "1.1-1", "1.1-10"])
    }

    @Test("a sub-migration that is added to the version in use runs")
    func laterSubMigration() throws {
        try launch("1.0", store: store)
        try launch("1.1", steps: ["1.1", "1.1-0"], store: store)
        try launch("1.1", steps: ["1.1", "1.1-0", "1.1-1"], store: store, log: log)
        #expect(log.lines == ["1.1-1"])
    }

    @Test("what is at or below the last version never runs")
    func belowLast() throws {
        try launch("1.1", store: store)
        try launch("1.2", steps: ["1.0", "1.1", "1.2"], store: store, log: log)
        #expect(log.lines == ["1.2"])
    }

    @Test("a manager may have no name")
    func withoutName() throws {
        let first = try MigrationManager(currentVersion: "1.0", store: store)
        try first.migrate()
        let manager = try MigrationManager(currentVersion: "1.1", store: store)
        manager.register(["1.1"], log: log)
        try manager.migrate()
        #expect(manager.name == "default")
        #expect(log.lines == ["1.1"])
    }

    @Test("without a current version the main bundle's counts; where it has none, that is an error")
    func withoutCurrentVersion() throws {
        let bundled = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        if let bundled {
            #expect(
                try MigrationManager(name: "Library", store: store).currentVersion
                    == AppVersion(parsing: bundled))
        } else {
            let error = try #require(throws: MigrationError.self) {
                try MigrationManager(name: "Library", store: store)
            }
            #expect(error.code == .invalidConfiguration)
        }
    }

    @Test("managers with names are independent of each other and of the one without")
    func independentManagers() throws {
        for name in ["default", "Library", "Settings"] { try launch("1.0", name: name, store: store) }
        try launch("1.1", steps: ["1.1"], name: "Library", store: store, log: log)
        try launch("1.1", steps: ["1.1"], name: "Settings", store: store, log: log)
        try launch("1.1", steps: ["1.1"], name: "default", store: store, log: log)
        #expect(log.lines.count == 3)
    }

    @Test("a malformed version is an error", arguments: ["", "v1", "1..2", "1.", "1.1-", "one", "1 1"])
    func malformed(version: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(currentVersion: version, store: store)
        }
        #expect(error.code == .invalidConfiguration)
        #expect(throws: AppVersion.ParsingError.self) { try AppVersion(parsing: version) }
    }

    func mistakes(_ steps: [AppVersion], at version: String) throws -> [String] {
        let error = try #require(throws: MigrationError.self) {
            try launch(version, steps: steps, store: store, log: log)
        }
        #expect(error.code == .invalidRegistration)
        #expect(log.lines == [])
        return error.causes.map(\.remedy)
    }

    @Test("versions out of order are an error")
    func order() throws {
        #expect(try mistakes(["1.2", "1.1"], at: "2.0") == ["Register steps in ascending order."])
        #expect(try mistakes(["1.1-1", "1.1-0"], at: "2.0") == ["Register steps in ascending order."])
    }

    @Test("a version above the current one is an error")
    func above() throws {
        #expect(
            try mistakes(["1.2"], at: "1.1") == [
                "Raise the app's version, or register the step when it is reached."
            ])
    }

    @Test("the number of a sub-migration does not count when comparing with the current version")
    func subMigrationOfCurrent() throws {
        try launch("1.0", store: store)
        #expect(try launch("1.1", steps: ["1.1", "1.1-5"], store: store).completed == ["1.1", "1.1-5"])
    }

    @Test("each step is told of, as to the delegate")
    func delegate() throws {
        try launch("1.0", store: store)
        let options = MigrationOptions(onEvent: { [log] event in
            switch event.kind {
            case .willRun(let step): log.lines.append("will run \(step.version)")
            case .didRun(let step, _): log.lines.append("did run \(step.version)")
            default: break
            }
        })
        try launch("1.2", steps: ["1.1", "1.2"], store: store, options: options)
        #expect(log.lines == ["will run 1.1", "did run 1.1", "will run 1.2", "did run 1.2"])
    }

    @Test("after a reset everything runs again")
    func reset() throws {
        try launch("1.0", store: store)
        try launch("1.1", steps: ["1.0", "1.1"], store: store)
        let manager = try MigrationManager(name: "Library", currentVersion: "1.1", store: store)
        manager.register(["1.0", "1.1"], log: log)
        try manager.reset()
        try manager.migrate()
        #expect(log.lines == ["1.0", "1.1"])
    }

    @Test("a fresh install runs nothing")
    func freshInstall() throws {
        try launch("1.1", steps: ["1.0", "1.1"], store: store, log: log)
        #expect(log.lines == [])
    }
}

@Suite("Unlike MFMigrationManager")
struct DepartureTests {
    let store = InMemoryStore()
    let log = Log()

    @Test(
        "a single number, and numbers of three digits and more, are accepted",
        arguments: ["1", "1.100", "2024.11.3"])
    func shapes(version: String) throws {
        try launch("0.1", store: store)
        let step = try AppVersion(parsing: version)
        #expect(try launch(version, steps: [step], store: store).completed == [step])
    }

    @Test("1.1 equals 1.1.0: nothing runs between them")
    func trailingZeros() throws {
        try launch("1.1", store: store)
        #expect(try launch("1.1.0", steps: ["1.1.0"], store: store, log: log).launch == .relaunch)
        #expect(log.lines == [])
    }

    @Test("a fresh install does not run the sub-migrations of its version either")
    func freshInstall() throws {
        try launch("1.1", steps: ["1.1", "1.1-1"], store: store, log: log)
        #expect(log.lines == [])
    }

    @Test("a step that is added late runs, instead of being skipped")
    func lateStep() throws {
        try launch("1.0", store: store)
        try launch("1.2", steps: ["1.2"], store: store)
        try launch("1.3", steps: ["1.1", "1.2"], store: store, log: log)
        #expect(log.lines == ["1.1"])
    }

    @Test("registering runs nothing; migrate(through:) runs what code in between needs")
    func deferred() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(name: "Library", currentVersion: "1.2", store: store)
        manager.register(["1.1"], log: log)
        #expect(log.lines == [])
        try manager.migrate(through: "1.1")
        log.lines.append("in between")
        manager.register(["1.2"], log: log)
        try manager.migrate()
        #expect(log.lines == ["1.1", "in between", "1.2"])
    }
}
