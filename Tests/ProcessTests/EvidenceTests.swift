import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Several managers without a record", .timed)
struct EvidenceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Launches managers that share a store, in a process of their own.
    ///
    /// - Returns: the lines that the process prints.
    private func launch(
        _ version: String, _ managers: [String], in place: Place = .json,
        adopting evidence: String = "tables",
        _ steps: [String], left: [String] = []
    ) async throws -> [String] {
        let options =
            managers.flatMap { ["--managers", $0] } + left.flatMap { ["--left", $0] } + [
                "--adopting", evidence,
            ]
        let result = try await Install(in: folder, place).launch(version, steps, options)
        return result.output.split(separator: "\n").map(String.init)
    }

    /// Makes the database of an install from before the managers.
    private func makeOldDatabase() throws {
        try DatabaseQueue(path: folder.file("library.sqlite").path)
            .write { try $0.execute(sql: "CREATE TABLE book(title TEXT)") }
    }

    private var effects: [String] { folder.lines("effects").filter { !$0.contains("attempt") } }

    static let groups = [["A", "B"], ["A", "B", "C", "D", "E"]]

    @Test(
        "are all fresh on a fresh install, although the first one makes tables", arguments: groups,
        [
            Place.json, .sqlite,
        ])
    func fresh(managers: [String], place: Place) async throws {
        let lines = try await launch("2.0", managers, in: place, ["1.1", "2.0"])
        #expect(lines == managers.map { "\($0): freshInstall" })
        #expect(effects == [])
        // One that joins later, without an answer of its own.
        let joined = try await launch("2.1", managers + ["Late"], in: place, adopting: "nothing", ["2.1"])
        #expect(joined == managers.map { "\($0): upgrade(from: 2.0)" } + ["Late: adoption(from: 2.0)"])
        #expect(effects == (managers + ["Late"]).map { "\($0) 2.1" })
    }

    @Test(
        "are all adopted on an old install, whichever comes first", arguments: groups, [Place.json, .sqlite])
    func old(managers: [String], place: Place) async throws {
        for managers in [managers, managers.reversed()] {
            let folder = try TemporaryFolder()
            let test = EvidenceTests(folder)
            try test.makeOldDatabase()
            let lines = try await test.launch("2.0", managers, in: place, ["1.0", "1.1"])
            #expect(lines == managers.map { "\($0): adoption(from: 1.0)" })
            #expect(test.effects == managers.map { "\($0) 1.1" })
        }
    }

    private init(_ folder: TemporaryFolder) { self.folder = folder }

    @Test("are each at the version that MFMigrationManager has left for them")
    func defaults() async throws {
        let lines = try await launch(
            "2.0", ["A", "B", "C"], adopting: "defaults", ["1.1", "1.6", "2.0"], left: ["A=1.0", "B=1.5"])
        // C has left nothing: it begins at the earliest version that is known.
        #expect(
            lines == ["A: adoption(from: 1.0)", "B: adoption(from: 1.5)", "C: adoption(from: 1.0)"])
        #expect(effects == ["A 1.1", "A 1.6", "A 2.0", "B 1.6", "B 2.0", "C 1.1", "C 1.6", "C 2.0"])
    }

    @Test("are undecided if a migrator can adopt the tables and no manager can")
    func undecided() async throws {
        try makeOldDatabase()
        let lines = try await launch("2.0", ["A"], adopting: "nothing", ["1.1"])
        #expect(
            lines == [
                """
                undecided: A: library.sqlite has tables, but no record or `adopting` says which app version created \
                them. Pass an `adopting` that does: for example .databaseHasTables(dbQueue, means: "1.0"), or a \
                closure that returns the current version if the app has just created them. Nothing was changed.
                """
            ])
        #expect(effects == [])
        #expect(try await launch("2.0", ["A"], ["1.1"]) == ["A: adoption(from: 1.0)"])
    }

    @Test("take the version from the database if the JSON record is deleted")
    func deletedRecord() async throws {
        let install = Install(in: folder, .json)
        try install.createEffects()
        let first = try await launch("1.0", ["Library"], [])
        #expect(first == ["Library: adoption(from: 1.0)"])
        #expect(try await install.launch("2.0", ["1.5", "2.0:in"]).output.contains("completed [1.5, 2.0]"))
        try FileManager.default.removeItem(at: folder.file("migrations.json"))
        let result = try await install.launch("2.1", ["1.5", "2.0:in", "2.1"])
        #expect(result.output == "launch adoption(from: 2.0)\ncompleted [2.1]\n")
        #expect(try install.rows() == ["2.0"])
    }
}
