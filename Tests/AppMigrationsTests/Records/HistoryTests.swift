import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("History", .timed)
struct HistoryTests {
    let folder: TemporaryFolder
    let store: MigrationStore

    init() throws {
        folder = try TemporaryFolder()
        store = try MigrationStore.jsonFile(at: folder.file("migrations.json"))
    }

    func history() throws -> [SettledStep] { try manager("1.0").history() }

    func manager(_ version: AppVersion) throws -> MigrationManager {
        try MigrationManager(name: "Library", currentVersion: version, adopting: .newApp, store: store)
    }

    /// The steps as text.
    func steps() throws -> [String] {
        try history().map { "\($0.version) \($0.outcome) by \($0.appVersion)" }
    }

    @Test("lists how each step was settled, and by which version of the app")
    func outcomes() throws {
        let begin = Date()
        try launch("1.0", steps: ["0.9", "1.0"], store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["0.9", "1.0", "1.1", "1.2", "2.0"], log: Log())
        try manager.skip("1.1")
        try manager.migrate()
        #expect(
            try steps() == [
                "0.9 notNeeded by 1.0", "1.0 notNeeded by 1.0", "1.1 skipped by 2.0", "1.2 ran by 2.0",
                "2.0 ran by 2.0",
            ])
        let history = try history()
        #expect(history.map { $0.duration != nil } == [false, false, false, true, true])
        #expect(history.allSatisfy { ($0.duration ?? .zero) >= .zero })
        let span = begin.addingTimeInterval(-1)...Date().addingTimeInterval(1)
        #expect(history.allSatisfy { span.contains($0.date) })
        let seen = try manager.seenVersions()
        #expect(seen.map(\.version) == ["1.0", "2.0"])
        #expect(seen.allSatisfy { span.contains($0.date) })
    }

    @Test("lists this manager's steps only, but all versions of the app")
    func otherManagers() throws {
        try launch("1.0", steps: ["1.0"], name: "Settings", store: store)
        try launch("5.0", name: "Plugin", store: store, options: MigrationOptions(line: "Plugin"))
        #expect(try steps() == [])
        #expect(try manager("1.0").seenVersions().map(\.version) == ["1.0"])
    }

    @Test("lists a step twice if it ran again after a reset")
    func reset() throws {
        try launch("1.0", store: store)
        try launch("2.0", steps: ["2.0"], store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["2.0"], log: Log())
        try manager.rerunAllSteps()
        try manager.migrate()
        #expect(try steps() == ["2.0 ran by 2.0", "2.0 ran by 2.0"])
    }

    @Test("does not list a failed step")
    func failure() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.1"], log: Log())
        manager.whenMigratingToVersion("2.0") { throw StepError(description: "not today") }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(try steps() == ["1.1 ran by 2.0"])
    }

    @Test("is not written by a relaunch, nor by reading it")
    func relaunch() throws {
        try launch("1.0", steps: ["1.0"], store: store)
        let before = try folder.contents
        try launch("1.0", steps: ["1.0"], store: store)
        _ = try history()
        #expect(try folder.contents == before)
    }

    @Test("survives a line that a crash truncated")
    func tornLine() throws {
        try launch("1.0", steps: ["1.0"], store: store)
        let file = folder.file("migrations.json.history")
        let whole = try Data(contentsOf: file)
        try (whole + whole.dropLast(9)).write(to: file)
        #expect(try steps() == ["1.0 notNeeded by 1.0"])
        try launch("2.0", steps: ["1.0", "2.0"], store: store)
        try launch("3.0", steps: ["1.0", "2.0", "3.0"], store: store)
        #expect(try steps() == ["1.0 notNeeded by 1.0", "2.0 ran by 2.0", "3.0 ran by 3.0"])
        #expect(try Data(contentsOf: file).starts(with: whole))
    }

    @Test("is separate from the record, so a launch continues without it")
    func removed() throws {
        try launch("1.0", steps: ["1.0"], store: store)
        try FileManager.default.removeItem(at: folder.file("migrations.json.history"))
        #expect(try launch("2.0", steps: ["1.0", "2.0"], store: store).completed.versions == ["2.0"])
        #expect(try steps() == ["2.0 ran by 2.0"])
    }

    @Test("has no steps in a store in memory")
    func memory() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", steps: ["1.0"], store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.0", adopting: .newApp, store: store)
        #expect(try manager.history() == [])
        #expect(try manager.seenVersions().map(\.version) == ["1.0"])
    }

    @Test("ignores lines written by a newer version of the package")
    func unknownOutcome() throws {
        try launch("1.0", steps: ["1.0"], store: store)
        let file = folder.file("migrations.json.history")
        let line = try String(contentsOf: file, encoding: .utf8)
        try Data((line + line.replacing("notNeeded", with: "dreamt")).utf8).write(to: file)
        #expect(try steps() == ["1.0 notNeeded by 1.0"])
    }

    @Test("lists a step without its duration if that is too long to be true", arguments: ["1e30", "-1e300"])
    func hugeDuration(seconds: String) throws {
        try launch("1.0", steps: ["1.0"], store: store)
        let file = folder.file("migrations.json.history")
        let line = try String(contentsOf: file, encoding: .utf8)
        try Data(line.replacing("{", with: "{\"seconds\":\(seconds),").utf8).write(to: file)
        let step = try #require(try history().first)
        #expect(step.version == "1.0")
        #expect(step.duration == nil)
    }

    @Test("is empty in an unused store")
    func unused() throws {
        #expect(try history() == [])
        #expect(try manager("1.0").seenVersions().isEmpty)
    }
}
