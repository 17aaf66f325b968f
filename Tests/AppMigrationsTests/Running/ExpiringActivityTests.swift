import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("The time before the process is suspended", .timed)
struct ExpiringActivityTests {
    private let system = FakeSystem()

    private func activity(patience: DispatchTimeInterval = .never) -> ExpiringActivity {
        ExpiringActivity(requestingTime: system.request, patience: patience)
    }

    @Test("is asked for once for all runs, with a reason that is never empty, and given back after the last")
    func shared() async throws {
        let activity = activity()
        let ends = [activity.begin("", stop: {}), activity.begin("B", stop: {})]
        #expect(system.reasons == ["AppMigrations: "])
        ends[0]()
        #expect(system.returned == [])
        ends[1]()
        try await waitUntil("the time is given back") { system.returned == [false] }

        let end = activity.begin("C", stop: {})
        #expect(system.reasons == ["AppMigrations: ", "AppMigrations: C"])
        end()
        // Called twice, it does no harm.
        end()
        try await waitUntil("the time is given back") { system.returned == [false, false] }
    }

    @Test("stops the runs when it expires, and lets the process be suspended once they have ended")
    func expired() async throws {
        let activity = activity()
        let stopped = Locked<[String]>([])
        let ends = ["A", "B"].map { name in
            activity.begin(
                name, stop: { stopped.withLock { $0.append(name) } },
                abandon: { Issue.record("\(name) was abandoned") })
        }
        system.expire()
        try await waitUntil("the runs are stopped") { stopped.withLock { $0.sorted() } == ["A", "B"] }
        ends[0]()
        #expect(system.returned == [])
        // What begins now needs time of its own.
        let end = activity.begin("C", stop: {})
        #expect(system.reasons.count == 2)
        ends[1]()
        try await waitUntil("both calls have returned") { system.returned.sorted { $1 } == [false, true] }
        end()
    }

    @Test("abandons a run that does not stop")
    func abandoned() async throws {
        let abandoned = Locked(false)
        let end = activity(patience: .milliseconds(10)).begin(
            "A", stop: {}, abandon: { abandoned.withLock { $0 = true } })
        system.expire()
        try await waitUntil("the process may be suspended") { system.returned == [true] }
        #expect(abandoned.withLock { $0 })
        end()
    }

    @Test("leaves the lock of a run that does not stop as if the process had died in it")
    func abandonedLock() throws {
        let folder = try TemporaryFolder()
        let store = try MigrationStore.jsonFile(at: folder.file("migrations.json"))
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: store)
        var wasReleased: Bool?
        manager.whenMigratingToVersion("2.0") { [system] in
            system.expire()
            while wasReleased == nil {
                Thread.sleep(forTimeInterval: 0.001)
                guard case .acquired(let known, let release) = try store.lock("Library") else { continue }
                wasReleased = known
                release()
            }
        }
        ExpiringActivity.$current.withValue(activity(patience: .milliseconds(10))) {
            _ = try? manager.migrate()
        }
        #expect(wasReleased == false)
    }

    @Test("needs nothing to be asked where no process is suspended")
    func elsewhere() {
        ExpiringActivity(requestingTime: nil).begin("A", stop: { Issue.record("it was stopped") })()
    }

    @Test("ends a launch with the error `suspended`, and its lock is free before the process is suspended")
    @MainActor
    func launch() throws {
        let store = MigrationStore.inMemory()
        try AppMigrationsTests.launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        let log = Log()
        manager.whenMigratingToVersion("1.1") { [system] context in
            log.lines.append("1.1")
            system.expire()
            while !context.progress.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
        }
        manager.register(["2.0"], log: log)
        ExpiringActivity.$current.withValue(activity()) {
            let error = #expect(throws: MigrationError.self) { try manager.migrate() }
            #expect(error?.code == .suspended)
        }
        #expect(log.lines == ["1.1"])
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock is still held")
            return
        }
        release()
        try manager.migrate()
        #expect(log.lines == ["1.1", "2.0"])
    }
}
