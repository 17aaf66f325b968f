import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("Like MFMigrationManager", .timed)
struct ParityTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    @Test("a version has any number of parts", arguments: ["7", "1.1", "1.1.1", "2.0.3.9.6"])
    func numbers(version: String) throws {
        try launch("0.1", store: store)
        let step = try AppVersion(parsing: version)
        #expect(try launch("7.0", steps: [step], store: store).completed.versions == [step])
    }

    @Test("sub-migrations run after their version, -0 first")
    func subMigrations() throws {
        try launch("1.0", store: store)
        try launch("1.1", steps: ["1.1", "1.1-0", "1.1-1", "1.1-10"], store: store, log: log)
        #expect(log.lines == ["1.1", "1.1-0", "1.1-1", "1.1-10"])
    }

    @Test("a sub-migration added to the installed version runs")
    func laterSubMigration() throws {
        try launch("1.0", store: store)
        try launch("1.1", steps: ["1.1", "1.1-0"], store: store)
        try launch("1.1", steps: ["1.1", "1.1-0", "1.1-1"], store: store, log: log)
        #expect(log.lines == ["1.1-1"])
    }

    @Test("steps at or below the last version never run")
    func belowLast() throws {
        try launch("1.1", store: store)
        try launch("1.2", steps: ["1.0", "1.1", "1.2"], store: store, log: log)
        #expect(log.lines == ["1.2"])
    }

    @Test("a manager needs no name")
    func withoutName() throws {
        let first = try MigrationManager(currentVersion: "1.0", adopting: .newApp, store: store)
        try first.migrate()
        let manager = try MigrationManager(currentVersion: "1.1", adopting: .newApp, store: store)
        manager.register(["1.1"], log: log)
        try manager.migrate()
        #expect(manager.name == "default")
        #expect(log.lines == ["1.1"])
    }

    @Test("the current version defaults to the main bundle's, and a bundle without one is an error")
    func withoutCurrentVersion() throws {
        let bundled = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        if let bundled {
            #expect(
                try MigrationManager(name: "Library", adopting: .newApp, store: store).currentVersion
                    == AppVersion(parsing: bundled))
        } else {
            let error = try #require(throws: MigrationError.self) {
                try MigrationManager(name: "Library", adopting: .newApp, store: store)
            }
            #expect(error.code == .misuse)
        }
    }

    @Test("named managers are independent of each other and of the unnamed one")
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
            try MigrationManager(currentVersion: version, adopting: .newApp, store: store)
        }
        #expect(error.code == .misuse)
        #expect(throws: AppVersion.ParsingError.self) { try AppVersion(parsing: version) }
    }

    func mistakes(_ steps: [AppVersion], at version: String) throws -> [String] {
        let error = try #require(throws: MigrationError.self) {
            try launch(version, steps: steps, store: store, log: log)
        }
        #expect(error.code == .misuse)
        #expect(log.lines == [])
        return error.causes.map(\.remedy)
    }

    @Test("registering versions out of order is an error")
    func order() throws {
        #expect(try mistakes(["1.2", "1.1"], at: "2.0") == ["Register steps in ascending order."])
        #expect(try mistakes(["1.1-1", "1.1-0"], at: "2.0") == ["Register steps in ascending order."])
    }

    @Test("registering a version above the current one is an error")
    func above() throws {
        #expect(
            try mistakes(["1.2"], at: "1.1") == [
                "Raise the app's version, or register the step when it is reached."
            ])
    }

    @Test("a sub-migration of the current version is not above it")
    func subMigrationOfCurrent() throws {
        try launch("1.0", store: store)
        #expect(
            try launch("1.1", steps: ["1.1", "1.1-5"], store: store).completed.versions == ["1.1", "1.1-5"])
    }

    @Test("each step is reported before and after it runs")
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

    @Test("every step runs again after a reset")
    func reset() throws {
        try launch("1.0", store: store)
        try launch("1.1", steps: ["1.0", "1.1"], store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.1", adopting: .newApp, store: store)
        manager.register(["1.0", "1.1"], log: log)
        try manager.rerunAllSteps()
        try manager.migrate()
        #expect(log.lines == ["1.0", "1.1"])
    }

    @Test("a fresh install runs no step")
    func freshInstall() throws {
        try launch("1.1", steps: ["1.0", "1.1"], store: store, log: log)
        #expect(log.lines == [])
    }
}

@Suite("Unlike MFMigrationManager", .timed)
struct DepartureTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    @Test(
        "single numbers and numbers of three or more digits are accepted",
        arguments: ["1", "1.100", "2024.11.3"])
    func shapes(version: String) throws {
        try launch("0.1", store: store)
        let step = try AppVersion(parsing: version)
        #expect(try launch(version, steps: [step], store: store).completed.versions == [step])
    }

    @Test("1.1 equals 1.1.0, so no step runs between them")
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

    @Test("a step out of order runs instead of being skipped")
    func lateStep() throws {
        try launch("1.0", store: store)
        try launch("1.2", steps: ["1.2"], store: store)
        try launch("1.3", steps: ["1.1", "1.2"], store: store, log: log)
        #expect(log.lines == ["1.1"])
    }

    @Test("registering a step runs nothing, and migrate(through:) runs steps early")
    func deferred() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.2", adopting: .newApp, store: store)
        manager.register(["1.1"], log: log)
        #expect(log.lines == [])
        try manager.migrate(through: "1.1")
        log.lines.append("in between")
        manager.register(["1.2"], log: log)
        try manager.migrate()
        #expect(log.lines == ["1.1", "in between", "1.2"])
    }
}
