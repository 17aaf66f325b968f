import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what work after the launch costs: by itself, for the app beside it, and for a launch that leaves it out.
    static let deferredSteps = [
        Benchmark(what: "a deferred step over all rows") { effort, scratch in
            let big = try BigDatabase(rows: effort == .full ? 1_000_000 : 2_000, scratch)
            let ours = big.onCopy(scratch, { try DeferringApp(DatabaseQueue(url: $0)) }) { try $0.run() }
            // Tells how large the batches are.
            try ours.prepare?()
            try ours.run()
            return try Contest(
                what: "a deferred step over all rows", size: "\(big.rows.grouped) rows", ours: ours,
                others: [
                    .init(
                        name: "a raw transaction for each batch, with the same pauses", goal: .within(1.3),
                        work: big.onCopy(scratch, RawSQLite.init) { raw in
                            try raw.execute("PRAGMA synchronous = EXTRA")
                            for rows in DeferringApp.batches { try raw.update(rows) }
                        })
                ]
            ).rows(effort, seconds: 16)
        },
        Benchmark(what: "an app's writes beside a deferred step") { effort, scratch in
            let big = try BigDatabase(rows: effort == .full ? 1_000_000 : 2_000, scratch)
            var (alone, beside): ([Sample], [Sample]) = ([], [])
            for _ in 0..<(effort == .full ? 3 : 1) {
                let copy = scratch.new("app.sqlite")
                try scratch.copy(big.template, to: copy)
                let app = try DeferringApp(DatabasePool(path: copy.path))
                alone.append(try app.latencies(count: effort == .full ? 600 : 2))
                beside.append(try app.latenciesWhileRunning())
            }
            let (what, size) = (
                "an app that writes a row every 5 ms beside a deferred step", "\(big.rows.grouped) rows"
            )
            return [
                TableRow(
                    what: "\(what), median", size: size, against: "the app alone", goal: .within(2),
                    ours: beside.map(\.median), other: alone.map(\.median)),
                TableRow(
                    what: "\(what), 99th percentile", size: size, against: "two batches of 50 ms",
                    goal: .within(1), ours: beside.map { $0.quantile(0.99) },
                    other: beside.map { _ in 0.1 }),
            ]
        },
        Benchmark(what: "nothing pending but deferred steps") { effort, scratch in
            let ours = try launch(deferring: 10, scratch)
            let complete = try launch(deferring: 10, complete: true, scratch)
            let without = try launch(deferring: 0, scratch)
            // A store that was written just now is read with more care than one of a launch before.
            Thread.sleep(forTimeInterval: 2.1)
            return try Contest(
                what: "nothing pending but deferred steps", size: "10 deferred, 20 others", ours: ours,
                others: [
                    .init(name: "the same, all ten complete", goal: .within(1.1), work: complete),
                    .init(name: "the same, without these ten", goal: nil, work: without),
                ]
            ).rows(effort)
        },
    ]

    /// A launch on which all steps are complete but the deferred ones.
    private static func launch(
        deferring count: Int, complete: Bool = false, _ scratch: Scratch
    ) throws -> Contest.Work {
        let store = try MigrationStore.jsonFile(at: scratch.new("store.json"))
        let queue = try DatabaseQueue(url: scratch.new("launch.sqlite"))
        var manager: MigrationManager?
        let work = Contest.Work(
            preparing: {
                let new = try MigrationManager(
                    name: "Library", currentVersion: "2.1", adopting: Adoption { "1.0" }, store: store)
                for number in 1...20 {
                    new.whenMigratingToVersion(try AppVersion(parsing: "1.\(number)"), in: queue) { _ in }
                }
                for number in 0..<count {
                    new.afterMigratingToVersion(
                        try AppVersion(parsing: "2.1-\(number)"), in: queue, overRowsOf: "track"
                    ) { _, _ in }
                }
                manager = new
            }, { try manager?.migrate() })
        try queue.write { try $0.execute(sql: "CREATE TABLE track(id INTEGER PRIMARY KEY)") }
        try work.prepare?()
        try work.run()
        if complete { _ = try manager?.runDeferred() }
        return work
    }
}

/// An app with a big database, whose rows a deferred step changes while the app writes.
private final class DeferringApp: @unchecked Sendable {
    private let database: any DatabaseWriter
    private let manager: MigrationManager

    /// The batches of the app that ran last.
    static var batches: [ClosedRange<Int64>] { log.withLock { $0 } }
    private static let log = Batches()

    /// Launches the app, and leaves the deferred step to be run.
    init(_ database: any DatabaseWriter) throws {
        self.database = database
        manager = try MigrationManager(
            name: "Library", currentVersion: "2.1", adopting: Adoption { "2.0" }, store: .inMemory())
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "track") { db, rows in
            try db.execute(literal: "UPDATE track SET title = upper(title) WHERE \(rows.condition)")
            // The ids have no gaps.
            Self.log.withLock { batches in
                let first = (batches.last?.upperBound ?? 0) + 1
                batches.append(first...(first + Int64(db.changesCount) - 1))
            }
        }
        try manager.migrate()
    }

    func run() throws {
        Self.log.withLock { $0 = [] }
        try manager.runDeferred()
    }

    /// How long writes take, of which one begins every 5 ms if the one before has ended.
    func latencies(count: Int = .max, until isOver: () -> Bool = { false }) throws -> Sample {
        var latencies: [Double] = []
        while latencies.count < count, !isOver() {
            let start = ContinuousClock.now
            try database.write { try $0.execute(sql: "INSERT INTO journal(title) VALUES ('New')") }
            let latency = (ContinuousClock.now - start).inSeconds
            latencies.append(latency)
            Thread.sleep(forTimeInterval: max(0, 0.005 - latency))
        }
        return Sample(latencies)
    }

    /// The same, as long as the deferred step runs.
    func latenciesWhileRunning() throws -> Sample {
        let end = DispatchGroup()
        let failure = Batches.Outcome()
        end.enter()
        Thread {
            failure.result = Result { try self.run() }
            end.leave()
        }.start()
        let sample = try latencies { end.wait(timeout: .now()) == .success }
        try failure.result?.get()
        return sample
    }
}

private func update(_ rows: ClosedRange<Int64>) -> String {
    "UPDATE track SET title = upper(title) WHERE id BETWEEN \(rows.lowerBound) AND \(rows.upperBound)"
}

/// The batches that have run, on whatever thread.
private final class Batches: @unchecked Sendable {
    /// How a run has ended, read once that is known.
    final class Outcome: @unchecked Sendable {
        var result: Result<Void, any Error>?
    }

    private let lock = NSLock()
    private var batches: [ClosedRange<Int64>] = []

    func withLock<Value>(_ body: (inout [ClosedRange<Int64>]) -> Value) -> Value {
        lock.withLock { body(&batches) }
    }
}

extension RawSQLite {
    /// Updates rows in a transaction, and leaves the database to others for as long as that took.
    fileprivate func update(_ rows: ClosedRange<Int64>) throws {
        let start = ContinuousClock.now
        try execute("BEGIN IMMEDIATE")
        try execute(bench.update(rows))
        try execute("COMMIT")
        Thread.sleep(forTimeInterval: (ContinuousClock.now - start).inSeconds)
    }
}
