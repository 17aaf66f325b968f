import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what a rebuild costs that no launch waits for: the app's writes beside it, all of it, and its space.
    static let rebuilds = [
        Benchmark(what: "rebuilding a table in use") { effort, scratch in
            guard effort == .full else { return try rebuild(rows: 2_000, times: 1, scratch) }
            return try rebuild(rows: 100_000, times: 3, scratch) + rebuild(rows: 1_000_000, times: 1, scratch)
        }
    ]

    private static func rebuild(rows: Int, times: Int, _ scratch: Scratch) throws -> [TableRow] {
        let template = scratch.new("photos.sqlite")
        try PhotoApp.fill(template, rows: rows)
        defer { try? FileManager.default.removeItem(at: template) }
        var (plain, longest, p99, median, alone, total, swap, sizes): Samples = (
            [], [], [], [], [], [], [], []
        )
        for _ in 0..<times {
            let copy = scratch.new("app.sqlite")
            try scratch.copy(template, to: copy)
            plain.append(try PhotoApp.rebuildPlainly(copy))
            // By itself.
            try scratch.copy(template, to: copy)
            total.append(try PhotoApp(copy).rebuild().total)
            // Beside an app that writes.
            try scratch.copy(template, to: copy)
            let app = try PhotoApp(copy)
            alone.append(try app.latencies(count: 200).median)
            let latencies = try app.latenciesWhileRebuilding()
            longest.append(latencies.quantile(1))
            p99.append(latencies.quantile(0.99))
            median.append(latencies.median)
            swap.append(app.swap)
            sizes.append(Double(app.largestSize) / Double(PhotoApp.size(template)))
            try? FileManager.default.removeItem(at: copy)
        }
        let (what, size) = ("rebuilding a table in use", "\(rows.grouped) rows of 600 bytes")
        return [
            TableRow(
                what: "\(what), longest write of the app", size: size, against: "the lock of a plain rebuild",
                goal: nil, ours: longest, other: plain),
            TableRow(
                what: "\(what), longest write of the app", size: size, against: "250 ms", goal: .within(1),
                ours: longest, other: longest.map { _ in 0.25 }),
            TableRow(
                what: "\(what), 99th percentile of writes", size: size, against: "two batches of 50 ms",
                goal: .within(1), ours: p99, other: p99.map { _ in 0.1 }),
            TableRow(
                what: "\(what), median of writes", size: size, against: "the app alone", goal: .within(2),
                ours: median, other: alone),
            TableRow(
                what: "\(what), the launch that swaps", size: size, against: "a plain rebuild", goal: nil,
                ours: swap, other: plain),
            TableRow(
                what: "\(what), in total, with its pauses", size: size, against: "a plain rebuild",
                goal: .within(5), ours: total, other: plain),
            TableRow(
                what: "\(what), largest size of its files", size: size, against: "before",
                ours: "\(Sample(sizes).median.short) times", other: "",
                ratio: "\(Sample(sizes).median.short) times",
                quartiles: "", repeated: sizes.count, goal: "", holds: nil),
        ]
    }

    private typealias Samples = (
        [Double], [Double], [Double], [Double], [Double], [Double], [Double], [Double]
    )
}

/// An app with a table of photos, which is to get a constraint and a collation.
private final class PhotoApp: @unchecked Sendable {
    private static let new = """
        CREATE TABLE photo(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL COLLATE NOCASE, tag TEXT, data BLOB);
        CREATE INDEX photo_title_2 ON photo(title);
        CREATE INDEX photo_tag_2 ON photo(tag);
        """

    private let file: URL
    private let database: DatabasePool
    private let store = InMemoryStore()
    /// How long the launch took that swapped the tables, in seconds.
    private(set) var swap = 0.0
    /// The size of the database and its log when it was largest, in bytes.
    private(set) var largestSize = 0

    init(_ file: URL) throws {
        self.file = file
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        database = try DatabasePool(path: file.path, configuration: configuration)
    }

    static func size(_ file: URL) -> Int {
        ["", "-wal"].reduce(0) { sum, end in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path + end)
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }

    static func fill(_ file: URL, rows: Int) throws {
        let raw = try RawSQLite(file)
        try raw.execute("PRAGMA journal_mode = WAL")
        try raw.execute(
            """
            CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT, tag TEXT, data BLOB);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO photo SELECT i, 'title ' || (i * 7919 % \(rows)), 'tag' || (i % 100), randomblob(560) FROM n;
            CREATE INDEX photo_title ON photo(title);
            CREATE INDEX photo_tag ON photo(tag);
            PRAGMA wal_checkpoint(TRUNCATE);
            """)
    }

    /// Rebuilds the table in one transaction, as a migration does.
    ///
    /// - Returns: how long it held the lock, in seconds.
    static func rebuildPlainly(_ file: URL) throws -> Double {
        let raw = try RawSQLite(file)
        let start = ContinuousClock.now
        try raw.migrate([
            """
            CREATE TABLE new(id INTEGER PRIMARY KEY, title TEXT NOT NULL COLLATE NOCASE, tag TEXT, data BLOB);
            INSERT INTO new SELECT id, coalesce(title, ''), tag, data FROM photo;
            DROP TABLE photo;
            ALTER TABLE new RENAME TO photo;
            CREATE INDEX photo_title ON photo(title);
            CREATE INDEX photo_tag ON photo(tag);
            """
        ])
        return (ContinuousClock.now - start).inSeconds
    }

    private func manager() throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Photos", currentVersion: "2.1", adopting: Adoption { "2.0" }, store: store)
        manager.whenMigratingToVersion(
            "2.1", rebuilding: "photo", deferredIn: database, as: Self.new,
            copying: ["title": "coalesce(title, '')"])
        return manager
    }

    /// Launches and runs what is deferred, until the table is rebuilt.
    @discardableResult
    func rebuild() throws -> (total: Double, launches: Int) {
        let start = ContinuousClock.now
        for launch in 1...20 {
            let manager = try manager()
            let begin = ContinuousClock.now
            let isReady = try manager.pendingDeferred().contains(where: \.awaitsLaunch)
            try manager.migrate()
            if isReady { swap = (ContinuousClock.now - begin).inSeconds }
            let report = try manager.runDeferred()
            largestSize = max(largestSize, Self.size(file))
            if let failure = report.failures.first { throw failure }
            if report.pending.isEmpty { return ((ContinuousClock.now - start).inSeconds, launch) }
        }
        throw CocoaError(.featureUnsupported)
    }

    /// How long writes take, of which one begins every 5 ms if the one before has ended.
    func latencies(count: Int = .max, until isOver: () -> Bool = { false }) throws -> Sample {
        var latencies: [Double] = []
        while latencies.count < count, !isOver() {
            let start = ContinuousClock.now
            try database.write { db in
                try db.execute(
                    sql: "UPDATE photo SET tag = 'tag' || (abs(random()) % 100) WHERE id = ?",
                    arguments: [1 + latencies.count * 37 % 2_000])
            }
            let latency = (ContinuousClock.now - start).inSeconds
            latencies.append(latency)
            Thread.sleep(forTimeInterval: max(0, 0.005 - latency))
        }
        return Sample(latencies)
    }

    /// The same, as long as the table is being rebuilt.
    func latenciesWhileRebuilding() throws -> Sample {
        let end = DispatchGroup()
        let failure = Failure()
        end.enter()
        Thread {
            failure.result = Result { try self.rebuild() }.map { _ in }
            end.leave()
        }.start()
        let sample = try latencies { end.wait(timeout: .now()) == .success }
        try failure.result?.get()
        return sample
    }

    /// How the rebuild has ended, read once that is known.
    private final class Failure: @unchecked Sendable {
        var result: Result<Void, any Error>?
    }
}
