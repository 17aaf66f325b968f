import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// An install of a diary, to which rows and files in the old form come after the steps for them have run.
///
/// 2.0 gives each entry a mood, in a step, and moves files, in a closure; 3.0 gives each entry a hash, in a deferred step. Each says
/// when it is needed again. Older releases come back and write, backups are restored, rows arrive in the form of another
/// release, and processes are killed. At last comes 4.0, whose step needs every hash.
struct LateInstall: RandomInstall {
    private let folder: URL
    private(set) var story: [String] = []

    private var random: RandomNumbers
    private let hasSQLiteStore: Bool
    private let newerDatabases: SchemaOptions.NewerDatabaseRule
    /// The numbers of the entries and files that there are.
    private var (entries, files): (Set<Int>, Set<Int>) = ([], [])
    private var backup: (entries: Set<Int>, files: Set<Int>)?
    private var next = 1
    /// The newest release whose launch has come to its end.
    private var newest = 0

    private static let releases: [AppVersion] = ["1.0", "2.0", "3.0", "4.0"]

    init(seed: UInt64, in folder: URL) throws {
        self.folder = folder
        random = RandomNumbers(seed: seed, subject: "late")
        hasSQLiteStore = .random(using: &random)
        newerDatabases = Bool.random(using: &random) ? .rollBack : .allow
        for name in ["data/old", "data/new"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
    }

    // MARK: Its life

    // Lives through some events, and through a launch of the last release that comes to its end.
    mutating func live() throws -> String? {
        try launch(Int.random(in: 0..<3, using: &random), isLast: true)
        for _ in 0..<Int.random(in: 2...9, using: &random) {
            switch random.next() % 8 {
            case 0: try keep()
            case 1: try restore()
            case 2: try write(as: Int.random(in: 0..<3, using: &random), "arrives")
            default:
                let release = Int.random(in: 0..<3, using: &random)
                if try launch(release, isLast: false) { try write(as: release, "writes") }
            }
        }
        try launch(2, isLast: true)
        return try problem() ?? dieTooOften() ?? finish()
    }

    /// Updates to the release that destroys what the deferred step reads, after an entry has come late.
    private mutating func finish() throws -> String? {
        try launch(2, isLast: true)
        try write(as: 0, "arrives")
        for _ in 0..<Int.random(in: 0...2, using: &random) { try launch(3, isLast: false) }
        try launch(3, isLast: true)
        return try problem()
    }

    /// Lets processes die in the deferred step that a late entry needs again, until its manager gives up.
    private mutating func dieTooOften() throws -> String? {
        try write(as: 0, "arrives")
        for attempt in 1...3 {
            let process = SimulatedProcess(dying: .step("3.0"))
            story.append("3.0, in another build, killed in the deferred step")
            do {
                try Environment.$current.withValue(environment(of: "loop", process)) {
                    let manager = try manager(of: 2, process, attempts: 2)
                    try manager.migrate()
                    _ = try manager.runDeferred()
                }
            } catch  where process.isDead {}
            if process.isDead, attempt == 3 { return "3.0 has begun again, after two deaths in it" }
            if !process.isDead, attempt < 3 { return "3.0 has not begun again for entry \(next - 1)" }
        }
        return nil
    }

    private func environment(of build: String, _ process: SimulatedProcess) -> Environment {
        .changed { ($0.observer, $0.build) = (process, build) }
    }

    private func problem() throws -> String? {
        try open("diary.sqlite").read { db in
            let found = try Set(Int.fetchAll(db, sql: "SELECT id FROM entry"))
            if found != entries {
                return "entries \(found.symmetricDifference(entries)) are lost, or too many"
            }
            for column in ["mood", "hash"] {
                let old = try Int.fetchAll(db, sql: "SELECT id FROM entry WHERE \(column) IS NULL")
                if !old.isEmpty { return "entries \(old) have no \(column)" }
            }
            // A column that was dropped has lost what it held.
            guard newerDatabases == .allow else { return nil }
            for count in ["moods", "hashes"] {
                let often = try Int.fetchAll(db, sql: "SELECT id FROM entry WHERE \(count) > 1")
                if !often.isEmpty { return "entries \(often) have had several \(count)" }
            }
            return nil
        } ?? (names("old").isEmpty ? nil : "files \(names("old")) were not moved")
            ?? (names("new") == files
                ? nil : "files \(names("new").symmetricDifference(files)) are lost, or too many")
    }

    private func names(_ name: String) -> Set<Int> {
        let path = folder.appendingPathComponent("data/\(name)").path
        return Set(
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).compactMap { Int($0) })
    }

    // MARK: What happens to it

    /// Writes an entry and a file in the form of a release, as far as the database has it.
    private mutating func write(as release: Int, _ verb: String) throws {
        story.append("an entry of \(Self.releases[release]) \(verb)")
        try open("diary.sqlite").write { db in
            let columns = try db.columns(in: "entry").map(\.name)
            let known = zip(["mood", "hash"], [1, 2]).filter { $1 <= release && columns.contains($0) }.map(
                \.0)
            let names = (["id"] + known).joined(separator: ", ")
            let values = (["\(next)"] + known.map { "'\($0)'" }).joined(separator: ", ")
            try db.execute(sql: "INSERT INTO entry(\(names)) VALUES (\(values))")
        }
        try Data().write(to: folder.appendingPathComponent("data/\(release == 0 ? "old" : "new")/\(next)"))
        entries.insert(next)
        files.insert(next)
        next += 1
    }

    private mutating func keep() throws {
        story.append("a backup is made")
        let copy = folder.appendingPathComponent("backup")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: folder.appendingPathComponent("data"), to: copy)
        backup = (entries, files)
    }

    private mutating func restore() throws {
        guard let backup else { return }
        story.append("the backup is restored")
        let data = folder.appendingPathComponent("data")
        try FileManager.default.removeItem(at: data)
        try FileManager.default.copyItem(at: folder.appendingPathComponent("backup"), to: data)
        (entries, files) = backup
        newest = 0
    }

    /// Launches a release, and runs what it has deferred.
    ///
    /// - Returns: true if the process was not killed.
    @discardableResult
    private mutating func launch(_ release: Int, isLast: Bool) throws -> Bool {
        let moment = isLast || random.next() % 2 > 0 ? nil : Int.random(in: 1...25, using: &random)
        let process = SimulatedProcess(dying: moment.map { .moment($0) } ?? .never)
        story.append("\(Self.releases[release])\(moment.map { ", killed at \($0)" } ?? "")")
        let old = try oldEntries()
        do {
            try Environment.$current.withValue(environment(of: "\(release)", process)) {
                let manager = try manager(of: release, process)
                try manager.migrate()
                let report = try manager.runDeferred()
                if let failure = report.failures.first { throw failure }
            }
        } catch  where process.isDead {}
        if release < newest, newerDatabases == .allow, try oldEntries() != old {
            throw Problem(
                description: "\(Self.releases[release]) has changed entries after \(Self.releases[newest])")
        }
        if !process.isDead { newest = max(newest, release) }
        return !process.isDead
    }

    /// The entries without a mood; nil before there is one.
    private func oldEntries() throws -> [Int]? {
        try open("diary.sqlite").read { db in
            guard try db.tableExists("entry"),
                try db.columns(in: "entry").contains(where: { $0.name == "mood" })
            else { return nil }
            return try Int.fetchAll(db, sql: "SELECT id FROM entry WHERE mood IS NULL")
        }
    }

    private struct Problem: Error, CustomStringConvertible { let description: String }

    private func open(_ name: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: folder.appendingPathComponent("data/\(name)").path)
    }

    // MARK: The app

    private func manager(
        of release: Int, _ process: SimulatedProcess, attempts: Int = 100
    ) throws -> MigrationManager {
        let database = try open("diary.sqlite")
        let file = folder.appendingPathComponent("data/store.json")
        let manager = try MigrationManager(
            name: "Diary", currentVersion: Self.releases[release], adopting: .newApp,
            store: hasSQLiteStore ? .database(database) : .jsonFile(at: file),
            options: MigrationOptions(maximumAttempts: attempts))
        manager.whenMigratingToVersion("1.0", migrate: try schema(release), in: database)
        guard release > 0 else { return manager }
        let hasOldEntries: @Sendable (Database) throws -> Bool = { try $0.hasOld("mood") }
        manager.whenMigratingToVersion("2.0", in: database, again: hasOldEntries) { db in
            try db.execute(sql: "UPDATE entry SET mood = 'fine', moods = moods + 1 WHERE mood IS NULL")
        }
        let hasOldFiles = { [self] in !names("old").isEmpty }
        manager.whenMigratingToVersion("2.0-1", again: hasOldFiles) { [self] in
            for name in names("old").sorted() {
                try process.moment()
                try FileManager.default.moveItem(
                    at: folder.appendingPathComponent("data/old/\(name)"),
                    to: folder.appendingPathComponent("data/new/\(name)"))
            }
            try process.moment()
        }
        guard release > 1 else { return manager }
        manager.afterMigratingToVersion("3.0", in: database, overRowsOf: "entry", again: "hash IS NULL") {
            db, rows in
            try db.execute(
                literal: "UPDATE entry SET hash = hex(id), hashes = hashes + 1 WHERE \(rows.condition)")
        }
        guard release > 2 else { return manager }
        manager.whenMigratingToVersion("4.0", finishing: ["3.0"], in: database) { db in
            let hasOld = try db.hasOld("hash")
            if hasOld { throw Problem(description: "4.0 has run before every entry had a hash") }
        }
        return manager
    }

    private func schema(_ release: Int) throws -> SchemaMigrator {
        let migrations = [
            SQLMigration(
                version: 1, name: "entry",
                sql:
                    "CREATE TABLE entry(id INTEGER PRIMARY KEY, moods INTEGER NOT NULL DEFAULT 0, hashes INTEGER NOT NULL DEFAULT 0)"
            ),
            SQLMigration(
                version: 2, name: "mood", sql: "ALTER TABLE entry ADD COLUMN mood TEXT",
                down: "ALTER TABLE entry DROP COLUMN mood"),
            SQLMigration(
                version: 3, name: "hash", sql: "ALTER TABLE entry ADD COLUMN hash TEXT",
                down: "ALTER TABLE entry DROP COLUMN hash"),
        ]
        return try SchemaMigrator(
            migrations: Array(migrations.prefix(release + 1)),
            options: SchemaOptions(newerDatabases: newerDatabases))
    }
}

extension Database {
    /// Returns true if an entry has no value in a column.
    fileprivate func hasOld(_ column: String) throws -> Bool {
        try Bool.fetchOne(self, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE \(column) IS NULL)") ?? false
    }
}
