import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("History")
struct HistoryTests {
    let folder: TemporaryFolder
    let store: JSONStore

    init() throws {
        folder = try TemporaryFolder()
        store = try JSONStore(at: folder.file("migrations.json"))
    }

    func history() throws -> MigrationHistory {
        try MigrationManager(name: "Library", currentVersion: "1.0", store: store).history()
    }

    /// The steps in words.
    func steps() throws -> [String] {
        try history().steps.map { "\($0.version) \($0.outcome) by \($0.appVersion)" }
    }

    @Test("it tells of each step how it was settled, and by which version of the app")
    func outcomes() throws {
        let begin = Date()
        try launch("1.0", steps: ["0.9", "1.0"], store: store)
        let manager = try MigrationManager(name: "Library", currentVersion: "2.0", store: store)
        manager.register(["0.9", "1.0", "1.1", "1.2", "2.0"], log: Log())
        try manager.skip("1.1")
        try manager.migrate()
        #expect(
            try steps() == [
                "0.9 notNeeded by 1.0", "1.0 notNeeded by 1.0", "1.1 skipped by 2.0", "1.2 ran by 2.0",
                "2.0 ran by 2.0",
            ])
        let history = try history()
        #expect(history.steps.map { $0.duration != nil } == [false, false, false, true, true])
        #expect(history.steps.allSatisfy { ($0.duration ?? .zero) >= .zero })
        let span = begin.addingTimeInterval(-1)...Date().addingTimeInterval(1)
        #expect(history.steps.allSatisfy { span.contains($0.date) })
        #expect(history.versions == ["1.0", "2.0"])
        for version in history.versions {
            #expect(span.contains(try #require(history.firstSeen(version))))
        }
        #expect(history.firstSeen("3.0") == nil)
    }

    @Test("it tells of this manager's steps, and of all versions of its line")
    func otherManagers() throws {
        try launch("1.0", steps: ["1.0"], name: "Settings", store: store)
        try launch("5.0", name: "Plugin", store: store, options: MigrationOptions(line: "Plugin"))
        #expect(try steps() == [])
        #expect(try history().versions == ["1.0"])
    }

    @Test("a step that runs again after a reset is there twice")
    func reset() throws {
        try launch("1.0", store: store)
        try launch("2.0", steps: ["2.0"], store: store)
        let manager = try MigrationManager(name: "Library", currentVersion: "2.0", store: store)
        manager.register(["2.0"], log: Log())
        try manager.reset()
        try manager.migrate()
        #expect(try steps() == ["2.0 ran by 2.0", "2.0 ran by 2.0"])
    }

    @Test("a step that failed is not there")
    func failure() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(name: "Library", currentVersion: "2.0", store: store)
        manager.register(["1.1"], log: Log())
        manager.whenMigratingToVersion("2.0") { throw StepError(description: "not today") }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(try steps() == ["1.1 ran by 2.0"])
    }

    @Test("a relaunch writes nothing, nor does asking")
    func relaunch() throws {
        try launch("1.0", steps: ["1.0"], store: store)
        let before = try folder.contents
        try launch("1.0", steps: ["1.0"], store: store)
        _ = try history()
        #expect(try folder.contents == before)
    }

    @Test("a line that a crash has cut off spoils no other")
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

    @Test("it is kept apart from the record: without it everything goes on")
    func removed() throws {
        try launch("1.0", steps: ["1.0"], store: store)
        try FileManager.default.removeItem(at: folder.file("migrations.json.history"))
        #expect(try launch("2.0", steps: ["1.0", "2.0"], store: store).completed == ["2.0"])
        #expect(try steps() == ["2.0 ran by 2.0"])
    }

    @Test("a store that keeps none, as in memory, has none")
    func memory() throws {
        let store = InMemoryStore()
        try launch("1.0", steps: ["1.0"], store: store)
        let history = try MigrationManager(name: "Library", currentVersion: "1.0", store: store).history()
        #expect(history.steps == [])
        #expect(history.versions == ["1.0"])
    }

    @Test("what a newer version of the package has written is passed over")
    func unknownOutcome() throws {
        try launch("1.0", steps: ["1.0"], store: store)
        let file = folder.file("migrations.json.history")
        let line = try String(contentsOf: file, encoding: .utf8)
        try Data((line + line.replacing("notNeeded", with: "dreamt")).utf8).write(to: file)
        #expect(try steps() == ["1.0 notNeeded by 1.0"])
    }

    @Test("a store that was never used has none")
    func unused() throws {
        #expect(try history().steps == [])
        #expect(try history().versions == [])
    }
}
