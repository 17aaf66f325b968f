import AppMigrations
import Foundation
import TestTraits
import Testing

@Suite("A step that fails again", .timed)
struct RepeatedFailureTests {
    private let store = MigrationStore.inMemory()

    init() throws { try launch("1.0", store: store) }

    /// Launches a build of version 2.0 whose step does something, in a new object as in a new process.
    private func failure(
        build: String = "1", _ step: @escaping (MigrationContext) throws -> Void
    ) throws -> MigrationError {
        try Environment.$current.withValue(Environment.changed { $0.build = build }) {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
            manager.whenMigratingToVersion("2.0", run: step)
            return try #require(throws: MigrationError.self) { try manager.migrate() }
        }
    }

    @Test("in the same way in one build is for the developer, and the summary says so")
    func equal() throws {
        let first = try failure { _ in throw POSIXError(.ENOENT) }
        #expect(first.advice == .retry)
        #expect(first.remedy == "Earlier steps are complete. The next launch retries this one.")
        for _ in 2...5 {
            let error = try failure { _ in throw POSIXError(.ENOENT) }
            #expect(error.advice == .contactDeveloper)
            #expect(error.recoverySuggestion == "Contact the developer.")
            #expect(error.facts.advice == .contactDeveloper)
            #expect(
                error.remedy == """
                    It has failed in the same way before in this build, so retrying alone will not help: fix the cause, or \
                    settle the step with skip(_:).
                    """)
        }
    }

    @Test("in another way is retried")
    func different() throws {
        _ = try failure { _ in throw POSIXError(.ENOENT) }
        #expect(try failure { _ in throw POSIXError(.EIO) }.advice == .retry)
        #expect(try failure { _ in throw StepError(description: "") }.advice == .retry)
        #expect(try failure { _ in throw StepError(description: "again") }.advice == .contactDeveloper)
    }

    @Test("in another build is retried")
    func newBuild() throws {
        _ = try failure { _ in throw POSIXError(.ENOENT) }
        #expect(try failure(build: "2") { _ in throw POSIXError(.ENOENT) }.advice == .retry)
        #expect(try failure(build: "2") { _ in throw POSIXError(.ENOENT) }.advice == .contactDeveloper)
    }

    @Test("is retried if it has got further")
    func checkpoint() throws {
        for number in 1...3 {
            let error = try failure { context in
                try context.checkpoint(number)
                throw POSIXError(.ENOENT)
            }
            #expect(error.advice == .retry)
        }
        for number in 1...3 {
            let error = try failure { context in
                if number == 2 { try context.checkpoint() }
                throw POSIXError(.ENOENT)
            }
            #expect(error.advice == (number == 2 ? .retry : .contactDeveloper))
        }
    }

    @Test("continues at its last checkpoint, and at none once it is to run again", arguments: [false, true])
    func continued(isRerun: Bool) throws {
        var (last, isNeeded): ([Int], Bool) = ([], true)
        func launch(failing: Bool) throws {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
            let condition = { isNeeded }
            manager.whenMigratingToVersion("2.0", again: condition) { context in
                last.append(try context.lastCheckpoint(as: Int.self) ?? 0)
                try context.checkpoint(last.count)
                if failing { throw StepError(description: "") }
                isNeeded = false
            }
            if isRerun, last.count == 2 { try manager.rerun(try #require(manager.work.first)) }
            try manager.migrate()
        }
        for _ in 1...2 { #expect(throws: MigrationError.self) { try launch(failing: true) } }
        try launch(failing: false)
        #expect(last == [0, 1, isRerun ? 0 : 2])
        isNeeded = true
        try launch(failing: false)
        #expect(last.last == 0)
    }

    @Test("is not blamed for what it has not looked at again since its last checkpoint")
    func continuedAndNeeded() throws {
        var (starts, isNeeded): ([Int], Bool) = ([], true)
        func launch(failing: Bool) throws {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
            let condition = { isNeeded }
            manager.whenMigratingToVersion("2.0", again: condition) { context in
                let start = try context.lastCheckpoint(as: Int.self) ?? 0
                starts.append(start)
                try context.checkpoint(1)
                if failing { throw StepError(description: "") }
                if start == 0 { isNeeded = false }
            }
            try manager.migrate()
        }
        #expect(throws: MigrationError.self) { try launch(failing: true) }
        try launch(failing: false)
        #expect(starts == [0, 1, 0])
    }

    @Test("because of the device is not the developer's")
    func obstacle() throws {
        for _ in 1...3 {
            #expect(try failure { _ in throw POSIXError(.ENOSPC) }.advice == .freeSpace)
            #expect(try failure { _ in throw MigrationPostponed(reason: "later") }.advice == .wait)
        }
    }
}
