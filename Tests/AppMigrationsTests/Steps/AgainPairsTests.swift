import AppMigrations
import Foundation
import TestSupport
import TestTraits
import Testing

/// What other calls and options do to a step that says when it is needed again, by what happens to its files.
@Suite("A closure that is needed again", .timed)
struct AgainPairsTests {
    /// The names of the files: those in the old form end with `.txt`.
    private let files = Log()
    private let store = MigrationStore.inMemory()

    private func isOld() -> Bool { files.lines.contains { $0.hasSuffix(".txt") } }

    private func manager(
        _ version: String = "2.0",
        adopting: Adoption = .newApp,
        options: MigrationOptions = MigrationOptions(ignoresStepsAboveCurrent: true),
        name: String = "Library", failure: (any Error)? = nil
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: name, currentVersion: version, adopting: adopting, store: store,
            options: options)
        manager.whenMigratingToVersion("2.0", again: isOld) { [files] in
            if let failure { throw failure }
            files.lines = files.lines.map { $0.replacing(".txt", with: ".md") }
        }
        return manager
    }

    /// Upgrades from 1.0, and lets a file in the old form arrive.
    private func arrive() throws {
        files.lines = ["one.txt"]
        try manager("1.0").migrate()
        try manager().migrate()
        #expect(files.lines == ["one.md"])
        files.lines.append("two.txt")
    }

    @Test("keeps a process that waits from the files, which stay as they are")
    func waits() throws {
        try arrive()
        let waiting = try manager(options: MigrationOptions(role: .waitsForApp))
        let error = #expect(throws: MigrationError.self) { try waiting.migrate() }
        #expect(error?.code == .notYetMigrated)
        #expect(files.lines == ["one.md", "two.txt"])
        try manager().migrate()
        try manager(options: MigrationOptions(role: .waitsForApp)).migrate()
        #expect(files.lines == ["one.md", "two.md"])
    }

    @Test("may ask about files that a new install has yet to make, but once it has run, they are missing")
    func missingFiles() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("old").path
        func launch() throws -> [AppVersion] {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
            let isOld = { try !FileManager.default.contentsOfDirectory(atPath: path).isEmpty }
            manager.whenMigratingToVersion("2.0", again: isOld) {
                for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                    try FileManager.default.removeItem(atPath: "\(path)/\(name)")
                }
            }
            return try manager.migrate().completed.map(\.version)
        }
        for _ in 1...2 { #expect(try launch() == []) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data().write(to: folder.file("old").appendingPathComponent("one.txt"))
        #expect(try launch() == ["2.0"])
        try FileManager.default.removeItem(atPath: path)
        let error = try #require(throws: MigrationError.self) { try launch() }
        #expect(error.code == .stepFailed)
    }

    @Test("may postpone itself, and runs at the next launch")
    func postponed() throws {
        try arrive()
        let error = #expect(throws: MigrationError.self) {
            try manager(failure: MigrationPostponed(reason: "the server is away")).migrate()
        }
        #expect(error?.code == .postponed)
        #expect(files.lines == ["one.md", "two.txt"])
        #expect(try manager().migrate().completed.map(\.version) == ["2.0"])
        #expect(files.lines == ["one.md", "two.md"])
    }

    @Test("is rerun once on request, although its condition does not hold")
    func rerun() throws {
        try arrive()
        try manager().migrate()
        let asked = try manager()
        try asked.rerun(try #require(asked.work.first))
        #expect(try asked.migrate().completed.map(\.version) == ["2.0"])
        #expect(try manager().migrate().completed.isEmpty)
        #expect(files.lines == ["one.md", "two.md"])
    }

    @Test("that has come from another manager is asked in the first launch of the new one")
    func split() throws {
        try arrive()
        let split = try manager("3.0", adopting: .splitFrom("Library", before: "3.0"), name: "Files")
        #expect(try split.migrate().completed.map(\.version) == ["2.0"])
        #expect(files.lines == ["one.md", "two.md"])
    }

    @Test("that the app has skipped under another manager is not asked in the new one")
    func splitAfterSkip() throws {
        files.lines = ["one.txt"]
        try manager("1.0").migrate()
        let skipping = try manager(failure: CocoaError(.fileNoSuchFile))
        #expect(throws: MigrationError.self) { try skipping.migrate() }
        try skipping.skip(try #require(skipping.work.first))
        try skipping.migrate()
        let split = try manager("3.0", adopting: .splitFrom("Library", before: "3.0"), name: "Files")
        #expect(try split.migrate().completed.isEmpty)
        #expect(files.lines == ["one.txt"])
    }
}
