import Dispatch
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// How soon a running statement ends when it is cancelled, although all threads of Dispatch are busy.
    static let cancelling = [
        Benchmark(what: "cancel a running statement") { effort, scratch in
            let queue = try DatabaseQueue(path: scratch.new("endless.sqlite").path)
            let blocked = BlockedDispatch()
            defer { blocked.end() }
            let delays = try (0..<(effort == .full ? 200 : 2)).map { _ in try delay(queue) }
            let (median, slowest) = (Sample(delays).median, Sample(delays).quantile(0.99))
            let goal = Goal.within(1)
            return [
                TableRow(
                    what: "cancel a running statement, all threads of Dispatch blocked, 99th percentile",
                    size: "\(delays.count) times", against: "100 ms", ours: slowest.asTime, other: 0.1.asTime,
                    ratio: "\((slowest / 0.1).short) times", quartiles: "median \(median.asTime)",
                    repeated: delays.count, goal: goal.text, holds: goal.holds(ours: slowest, other: 0.1))
            ]
        }
    ]

    /// The time from the cancellation to the end of a migration that would never end.
    private static func delay(_ queue: DatabaseQueue) throws -> Double {
        let progress = Progress(totalUnitCount: 0)
        let started = DispatchSemaphore(value: 0)
        let migrator = try SchemaMigrator(migrations: [
            EndlessMigration(started: started)
        ])
        let cancelled = Instant()
        Thread.detachNewThread {
            started.wait()
            Thread.sleep(forTimeInterval: 0.002)
            cancelled.now()
            progress.cancel()
        }
        do {
            try migrator.migrate(queue, progress: progress)
        } catch is CancellationError {
            return (ContinuousClock.now - cancelled.value).inSeconds
        }
        throw CocoaError(.featureUnsupported)
    }
}

/// A statement that never ends.
private struct EndlessMigration: SchemaMigration {
    let version: SchemaVersion = 1
    let name = "endless"
    let started: DispatchSemaphore

    func migrate(_ db: Database) throws {
        started.signal()
        try db.execute(
            sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    }
}

/// A moment that one thread notes, and another reads once it is over.
private final class Instant: @unchecked Sendable {
    private let lock = NSLock()
    private var instant = ContinuousClock.now

    func now() { lock.withLock { instant = .now } }
    var value: ContinuousClock.Instant { lock.withLock { instant } }
}

/// All threads that Dispatch shares out, made to wait.
private struct BlockedDispatch {
    // More than Dispatch ever starts threads: 64 on Apple's systems, 255 on others.
    private static let count = 400
    private let isOver = DispatchSemaphore(value: 0)

    init() {
        for _ in 0..<Self.count { DispatchQueue.global().async { [isOver] in isOver.wait() } }
        // They start one after the other.
        Thread.sleep(forTimeInterval: 1)
    }

    func end() { for _ in 0..<Self.count { isOver.signal() } }
}
