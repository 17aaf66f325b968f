import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// No summary, and no sentence for a person, holds a text of the app's or of a person's.
public struct SummaryTest: StressTest {
    /// Selects it on the command line.
    public let name = "summaries"
    /// As Documentation/StressTests.md words it.
    public let promise = "Summaries and the sentences for people hold no path, name, statement or value"

    /// Makes the test.
    public init() {}

    /// Tries a hundred thousand launches, or a hundred and fifty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 150, long: 100_000))
    }

    /// Tries a launch for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let codes = Locked<[String: Int]>([:])
        var outcome = seeds.tryEach(unit: "launches") { seed in
            do {
                let told = try MarkedLaunch(seed: seed).run()
                codes.withLock { $0[told.outcome, default: 0] += 1 }
                guard let leak = told.texts.first(where: { $0.lowercased().contains(MarkedLaunch.mark) })
                else {
                    return nil
                }
                return "seed \(seed): \(leak)"
            } catch {
                return "seed \(seed): error: \(error)"
            }
        }
        let counts = codes.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        outcome.notes.append("the launches ended in: \(counts.joined(separator: ", "))")
        return outcome
    }
}

/// A launch in which every name, path, statement and value has a mark, and which fails in a random way, or not at all.
private struct MarkedLaunch {
    static let mark = "geheim"

    private var random: RandomNumbers

    init(seed: UInt64) {
        random = RandomNumbers(seed: seed)
    }

    private enum Mistake: CaseIterable {
        case none, orphan, syntax, missingTable, duplicate, missingValue, check, thrown, wrapped, postponed,
            newer, ledger, unmanaged, record, recordIsFolder, textIsNoDatabase, missingFolder
    }

    /// An error of the app's, which says everything.
    private struct Told: LocalizedError, CustomStringConvertible {
        let description: String
        var errorDescription: String? { description }
        var failureReason: String? { description }
        var recoverySuggestion: String? { description }
    }

    /// Returns a text with the mark, in letters of either case, between characters of any kind.
    private mutating func text() -> String {
        let around = ["", " ", "/", "'", "\"", "é", "\n", "%1$@", "\\", "🙂", "-1"]
        let word = Self.mark.map { random.chance(20) ? $0.uppercased() : "\($0)" }.joined()
        return random.pick(around) + word + random.pick(around)
            + "\(Int.random(in: 0..<1_000, using: &random))"
    }

    private mutating func name() -> SQLName { SQLName(text()) }

    /// Launches the app.
    ///
    /// - Returns: how the launch ended, and every text that may leave the device or that a person reads.
    func run() throws -> (outcome: String, texts: [String]) {
        var copy = self
        return try copy.play()
    }

    private mutating func play() throws -> (outcome: String, texts: [String]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "\(Self.mark)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let mistake = random.pick(Mistake.allCases)
        do {
            let report = try launch(mistake, in: folder)
            return ("success", [try json(report.summary)])
        } catch let error as MigrationError {
            let (told, report) = (error.facts, error as NSError)
            let inner = error.underlyingError as? MigrationError
            let texts = [
                try json(told), error.localizedDescription, error.errorDescription, error.failureReason,
                error.recoverySuggestion, error.advice.localizedDescription, "\(error.errorUserInfo)",
                "\(report.domain) \(report.code) \(report.userInfo)", inner?.errorDescription,
                try inner.map { try json($0.summary) },
            ]
            return (told.code, texts.compactMap(\.self))
        }
    }

    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    private mutating func launch(_ mistake: Mistake, in folder: URL) throws -> MigrationReport {
        let (table, column, manager, title) = (name(), name(), text(), text())
        let value = text().quotedInSQL(by: "'")
        let file = folder.appendingPathComponent("\(Self.mark).sqlite")
        let record = folder.appendingPathComponent("\(Self.mark).json")
        try damage(mistake, file, record, table)
        let store = try MigrationStore.jsonFile(
            at: mistake == .missingFolder ? record.appendingPathComponent("a/b") : record)
        let database = try DatabaseFile(path: file.path).openQueue()
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: Self.mark,
                sql: """
                    CREATE TABLE \(table.sql)(id INTEGER PRIMARY KEY, \(column.sql) TEXT NOT NULL UNIQUE
                        CHECK (length(\(column.sql)) < 100), other REFERENCES \(table.sql));
                    INSERT INTO \(table.sql) VALUES (1, \(value), NULL);
                    """),
            SQLMigration(version: 2, name: Self.mark, sql: statement(mistake, table, value)),
        ])
        let migrations = try MigrationManager(
            name: manager.replacingOccurrences(of: "\0", with: ""), currentVersion: "2.0",
            adopting: Adoption { "1.0" }, store: store)
        migrations.whenMigratingToVersion("1.5") {
            switch mistake {
            case .thrown: throw Told(description: title)
            case .wrapped:
                throw MigrationError(
                    .stepFailed, title, remedy: title, underlyingError: Told(description: title))
            case .postponed: throw MigrationPostponed(reason: title)
            default: break
            }
        }
        migrations.whenMigratingToVersion("2.0", migrate: schema, in: database)
        return try migrations.migrate()
    }

    private func statement(_ mistake: Mistake, _ table: SQLName, _ value: String) -> String {
        switch mistake {
        case .syntax: "SELEC \(value) FROM \(table.sql)"
        case .missingTable: "DELETE FROM \(SQLName("no " + table.text).sql)"
        case .duplicate: "INSERT INTO \(table.sql) VALUES (2, \(value), NULL)"
        case .missingValue: "INSERT INTO \(table.sql) VALUES (2, NULL, NULL)"
        case .check: "INSERT INTO \(table.sql) VALUES (2, printf('%200s', \(value)), NULL)"
        case .orphan: "INSERT INTO \(table.sql) VALUES (2, 'b', \(value))"
        default: "INSERT INTO \(table.sql) VALUES (2, 'b', NULL)"
        }
    }

    /// Leaves files that the launch cannot use.
    private func damage(_ mistake: Mistake, _ file: URL, _ record: URL, _ table: SQLName) throws {
        func write(_ sql: String) throws {
            let database = try DatabaseQueue(path: file.path)
            try database.write { try $0.execute(sql: sql) }
            try database.close()
        }
        switch mistake {
        case .newer:
            try write(
                "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL); INSERT INTO schema_migrations VALUES (1), (9)"
            )
        case .ledger: try write("CREATE TABLE schema_migrations(\(table.sql)); CREATE TABLE a(b)")
        case .unmanaged: try write("CREATE TABLE \(table.sql)(a)")
        case .record: try Data("{ \"\(Self.mark)\": ".utf8).write(to: record)
        case .recordIsFolder:
            try FileManager.default.createDirectory(at: record, withIntermediateDirectories: true)
        case .textIsNoDatabase: try Data(String(repeating: Self.mark, count: 200).utf8).write(to: file)
        default: break
        }
    }
}
