import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import Testing

@Suite("Eight at once, on one new database,", .serialized)
struct SimultaneousTests {
    let folder: TemporaryFolder
    let migrations: URL

    /// As many as a test has time for; more when the environment asks for them.
    private static let rounds =
        ProcessInfo.processInfo.environment["SCHEMA_STORM_ROUNDS"].flatMap { Int($0) } ?? 3

    init() throws {
        folder = try TemporaryFolder()
        var files = ["1_log.sql": "CREATE TABLE log(version INTEGER)"]
        for version in 2...12 {
            // Groups end where foreign keys change: others get in between.
            let header = version.isMultiple(of: 3) ? "-- migrations: foreign-keys=on\n" : ""
            files["\(version)_x.sql"] =
                "\(header)CREATE TABLE t\(version)(x); INSERT INTO log VALUES (\(version));"
        }
        files["13_analyze.sql"] = "-- migrations: transaction=none\nANALYZE;"
        migrations = try folder.folder(files)
    }

    private func expectWhole(_ path: String, applied: [SchemaVersion]) throws {
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.ledger() == Array(1...13))
        #expect(try queue.integers("SELECT version FROM log ORDER BY rowid") == Array(2...12))
        #expect(try queue.integer("SELECT count(*) FROM schema_migrations_details") == 13)
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        // Two may run a file without a transaction, and both say so.
        #expect(Set(applied) == Set(1...13))
        #expect(applied.filter { $0 != 13 }.count == 12)
    }

    @Test(
        "connections of one process all succeed, and each migration runs once", arguments: ["queue", "pool"])
    func threads(kind: String) throws {
        let schema = try SchemaMigrator(
            directory: migrations, options: SchemaOptions(busyTimeout: .seconds(600)))
        for round in 0..<Self.rounds {
            let path = folder.path("\(kind)\(round).sqlite")
            let applied = Locked<[SchemaVersion]>([])
            let failures = Locked<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                do {
                    let database: any DatabaseWriter =
                        kind == "pool"
                        ? try DatabasePool.opening(path: path, waitingFor: .seconds(600))
                        : try DatabaseQueue.opening(path: path, waitingFor: .seconds(600))
                    let report = try schema.migrate(database)
                    applied.withLock { $0 += report.applied }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
            try expectWhole(path, applied: applied.withLock { $0 })
        }
    }

    @Test("threads with one connection all succeed, and each migration runs once")
    func oneConnection() throws {
        let schema = try SchemaMigrator(directory: migrations)
        let pool = try folder.pool()
        let applied = Locked<[SchemaVersion]>([])
        let failures = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
                let report = try schema.migrate(pool)
                applied.withLock { $0 += report.applied }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try expectWhole(pool.path, applied: applied.withLock { $0 })
    }

    @Test("processes all succeed, and each migration runs once", arguments: ["queue", "pool"])
    func processes(kind: String) throws {
        for round in 0..<Self.rounds {
            let path = folder.path("\(kind)\(round).sqlite")
            let start = folder.url.appendingPathComponent("\(kind)\(round).start")
            let runs = try (0..<8).map { _ in try LaunchedSchema([migrations.path, path, kind, start.path]) }
            try wait(for: 8, filesLike: start)
            try Data().write(to: start)
            var applied: [SchemaVersion] = []
            for run in runs {
                let output = try run.output()
                let versions = output.split { !$0.isNumber }.compactMap { SchemaVersion($0) }
                #expect(output == "\(versions)\n")
                applied += versions
            }
            try expectWhole(path, applied: applied)
        }
    }

    /// Waits until each process has said that it is ready.
    private func wait(for count: Int, filesLike start: URL) throws {
        while true {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            if names.filter({ $0.hasPrefix("\(start.lastPathComponent).") }).count == count { return }
            usleep(1_000)
        }
    }
}

/// A run of `SchemaLauncher`, in a process of its own.
private final class LaunchedSchema {
    private let process = Process()
    private let pipe = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = try Self.executable()
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
    }

    /// All that it has printed, once it has ended.
    func output() throws -> String {
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// It stands beside the test bundle, among the other products of the build.
    private static func executable() throws -> URL {
        let bundles = [Bundle(for: LaunchedSchema.self).bundleURL, Bundle.main.bundleURL]
        let places = bundles + bundles.map { $0.deletingLastPathComponent() }
        let candidates = places.map { $0.appendingPathComponent("SchemaLauncher") }
        return try #require(
            candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) },
            "No executable at any of \(candidates.map(\.path))")
    }
}
