import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// Random SQL files leave a database as plain SQLite does, and the connection as it was.
public struct ScriptTest: StressTest {
    /// Selects it on the command line.
    public let name = "scripts"
    /// As Documentation/StressTests.md words it.
    public let promise = "SQL files leave a database as plain SQLite does, and the app's connection as it was"

    /// Makes the test.
    public init() {}

    /// Tries ten thousand sets of files, or eighty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 80, long: 10_000))
    }

    /// Tries a set of files for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        seeds.tryEach(unit: "sets of files") { seed in
            var random = RandomNumbers(seed: seed)
            guard let files = try? RandomScript.files(random: &random), deviation(files) != nil else {
                return nil
            }
            let shortest = files.shrunk(simpler: { file in
                file.indices.map { index in
                    var file = file
                    file.remove(at: index)
                    return file
                }
            }) { deviation($0) != nil }
            let text = shortest.map { $0.joined(separator: "; ") }.joined(separator: " || ")
            return "seed \(seed). Files: \(text). \(deviation(shortest) ?? "")"
        }
    }

    /// Returns how the files' outcome differs from plain SQLite's; nil if it does not.
    func deviation(_ files: [[String]]) -> String? {
        guard !files.isEmpty else { return nil }
        do {
            let folder = try TemporaryFolder()
            let plain = try PlainRun(files, folder.file("plain.sqlite").path)
            for commits in [SchemaOptions.Commits.grouped(after: .seconds(10)), .grouped(after: .zero)] {
                let ours = try OurRun(files, folder.file("\(commits).sqlite").path, commits)
                if let difference = ours.difference(from: plain) { return difference }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// The database that a set of files has made.
private struct ScriptState: Equatable {
    let contents: [String]
    let settings: [String]

    init(_ db: Database) throws {
        settings =
            try RandomScript.settings.map {
                "\($0.name) = \(try DatabaseValue.fetchOne(db, sql: "PRAGMA \($0.name)") ?? .null)"
            } + String.fetchAll(db, sql: "SELECT name FROM pragma_database_list WHERE name <> 'temp'")
        // A setting that is left over must not hide what is in the database.
        try db.execute(
            sql: "PRAGMA reverse_unordered_selects = 0; PRAGMA query_only = 0; PRAGMA writable_schema = 0")
        let objects = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master
                WHERE tbl_name NOT LIKE 'schema\\_migrations%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                ORDER BY type, CAST(name AS BLOB)
                """)
        var contents = objects.map(\.description)
        for object in objects where object["type"] == "table" {
            let name = SQLName(object["name"] as String).inMain
            do {
                contents += try Row.fetchAll(db, sql: "SELECT * FROM \(name)").map { "\(name): \($0)" }
                    .sorted()
            } catch let error as DatabaseError {
                contents.append("\(name): \(error.message ?? "")")
            }
        }
        for pragma in ["user_version", "application_id"] {
            contents.append("\(pragma): \(try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0)")
        }
        self.contents = contents
    }
}

/// The database that plain SQLite makes of the files, each in a transaction.
///
/// The database has a table like the ledger, whose index `REINDEX` finds as well.
private struct PlainRun {
    /// The state after each number of files.
    private(set) var states: [ScriptState] = []

    init(_ files: [[String]], _ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        states = try queue.writeWithoutTransaction { db in
            let defaults = try RandomScript.settings.map { setting in
                (setting.name, try DatabaseValue.fetchOne(db, sql: "PRAGMA \(setting.name)") ?? .null)
            }
            try db.execute(sql: "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL)")
            var states = [try ScriptState(db)]
            for file in files {
                let isApplied = try Self.apply(file, db)
                for (name, value) in defaults { try db.execute(sql: "PRAGMA \(name) = \(value)") }
                for schema in try String.fetchAll(db, sql: "SELECT name FROM pragma_database_list") {
                    if schema != "main", schema != "temp" {
                        try db.execute(sql: "DETACH \(SQLName(schema).sql)")
                    }
                }
                guard isApplied else { break }
                states.append(try ScriptState(db))
            }
            return states
        }
        try queue.close()
    }

    private static func apply(_ file: [String], _ db: Database) throws -> Bool {
        do {
            try db.execute(sql: "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
            for statement in file { try db.execute(sql: statement) }
            try db.execute(sql: "PRAGMA query_only = 0; COMMIT")
            return true
        } catch is DatabaseError {
            if db.isInsideTransaction { try db.execute(sql: "ROLLBACK") }
            return false
        }
    }
}

/// The database that a migrator makes of the files.
private struct OurRun {
    let state: ScriptState
    let applied: Int
    let error: MigrationError?

    init(_ files: [[String]], _ path: String, _ commits: SchemaOptions.Commits) throws {
        let migrations = files.enumerated().map { index, file in
            SQLMigration(
                version: SchemaVersion(index + 1), name: "file",
                sql: "-- migrations: foreign-keys=unchecked\n" + file.map { "\($0);\n" }.joined())
        }
        var options = SchemaOptions()
        options.commits = commits
        let schema = try SchemaMigrator(migrations: migrations, options: options)
        let queue = try DatabaseQueue(path: path)
        do {
            _ = try schema.migrate(queue)
            error = nil
        } catch let error as MigrationError {
            self.error = error
        }
        state = try queue.writeWithoutTransaction { try ScriptState($0) }
        applied = try queue.read { try AppliedMigration.fetchAll($0).count }
        try queue.close()
    }

    func difference(from plain: PlainRun) -> String? {
        // The check of views and triggers is ours: what it refuses is tried elsewhere.
        if let error, error.message.contains(" leaves ") {
            guard applied < plain.states.count else { return "Applied \(applied) files, more than SQLite" }
        } else if applied != plain.states.count - 1 {
            return
                "Applied \(applied) files, where SQLite applies \(plain.states.count - 1): \(error.map { "\($0)" } ?? "")"
        }
        let expected = plain.states[applied]
        if state.contents != expected.contents {
            let (ours, theirs) = (Set(state.contents), Set(expected.contents))
            return
                "Ours has \(ours.subtracting(theirs).sorted()), SQLite's \(theirs.subtracting(ours).sorted())"
        }
        guard state.settings != plain.states[0].settings else { return nil }
        return
            "The connection is left with \(Set(state.settings).subtracting(plain.states[0].settings).sorted())"
    }
}

extension Range<UInt64> {
    /// Tries each seed, as many at a time as there are processors.
    ///
    /// - Parameter failure: returns what went wrong with a seed, or nil if all went right.
    func tryEach(unit: String, _ failure: @Sendable (UInt64) -> String?) -> StressOutcome {
        let failures = Locked<[UInt64: String]>([:])
        let seeds = Array(self)
        DispatchQueue.concurrentPerform(iterations: seeds.count) { index in
            guard let text = failure(seeds[index]) else { return }
            failures.withLock { $0[seeds[index]] = text }
        }
        return StressOutcome(
            tried: seeds.count, unit: unit,
            failures: failures.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value))
    }
}
