import AppMigrations
import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

@testable import DatabaseFiles

@Suite("Work alongside a body", .timed)
struct AlongsideTests {
    private struct Failure: Error, Equatable {
        let place: String
    }

    @Test("runs on another thread while the body runs")
    func together() throws {
        let (workBegan, bodyBegan) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let value = try alongside {
            workBegan.signal()
            #expect(bodyBegan.wait(timeout: .now() + 60) == .success)
        } _: {
            bodyBegan.signal()
            #expect(workBegan.wait(timeout: .now() + 60) == .success)
            return 7
        }
        #expect(value == 7)
    }

    @Test("is over when the body's value is returned")
    func awaited() throws {
        for _ in 1...100 {
            let isOver = Locked(false)
            try alongside {
                Thread.sleep(forTimeInterval: 0.001)
                isOver.withLock { $0 = true }
            } _: {
            }
            #expect(isOver.withLock { $0 })
        }
    }

    @Test("fails for the caller", arguments: [0, 0.01])
    func failure(bodyLasting seconds: TimeInterval) {
        #expect(throws: Failure(place: "work")) {
            try alongside {
                throw Failure(place: "work")
            } _: {
                Thread.sleep(forTimeInterval: seconds)
            }
        }
    }

    @Test("gives way to the body's error, and is over then, or was never begun")
    func bodyFailure() {
        for _ in 1...100 {
            let running = Locked(0)
            #expect(throws: Failure(place: "body")) {
                try alongside {
                    running.withLock { $0 += 1 }
                    defer { running.withLock { $0 -= 1 } }
                    Thread.sleep(forTimeInterval: 0.001)
                    throw Failure(place: "work")
                } _: {
                    throw Failure(place: "body")
                }
            }
            #expect(running.withLock { $0 } == 0)
        }
    }
}

@Suite("A connection that waits while another process salvages", .timed)
struct WaitingConnectionTests {
    @Test("opens the new file, and writes no log of the damaged one beside it")
    func replaced() throws {
        let folder = try TemporaryFolder()
        let (path, new) = (folder.path("app.sqlite"), folder.path("new.sqlite"))
        for (path, count) in [(path, 50), (new, 3)] {
            let pool = try DatabasePool(path: path)
            try pool.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                        INSERT INTO note SELECT i, 'note ' || i FROM n
                        """)
            }
            try pool.close()
        }
        var file: DamagedFile? = try .locked(at: URL(fileURLWithPath: path))
        let isWaiting = DispatchSemaphore(value: 0)
        var configuration = Configuration()
        configuration.busyMode = .callback { _ in
            isWaiting.signal()
            usleep(1_000)
            return true
        }
        let opened = Locked<Result<Int, any Error>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [configuration] in
            let count = Result {
                let pool = try DatabaseFile(path: path, configuration: configuration).openPool()
                defer { try? pool.close() }
                return try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") ?? 0 }
            }
            opened.withLock { $0 = count }
            isDone.signal()
        }
        isWaiting.wait()
        try #require(rename(new, path) == 0)
        withExtendedLifetime(file) {}
        file = nil
        isDone.wait()
        #expect(try opened.withLock { $0 }?.get() == 3)
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.strings("SELECT text FROM note") == ["note 1", "note 2", "note 3"])
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
    }
}
