public import AppMigrations
public import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A database file, and what it holds, for an app that finds its database in two places.
public struct FoundDatabase: Sendable {
    /// The file's path.
    public let path: String
    /// True if no table has a row, apart from those in which migrations are recorded; false if that cannot be told.
    public let isEmpty: Bool
    /// The highest schema version of its ledger, or the identifier of the last of GRDB's migrations; nil if it has neither.
    public let schemaVersion: String?
    /// The highest app version that has recorded anything in it; nil if none has.
    public let appVersion: AppVersion?
    /// The size of the file and of its write-ahead log, in bytes.
    public let size: Int64
    /// When the file or its write-ahead log was changed last; of ``DatabaseFile/foundBackups(in:)``, when it was made.
    public internal(set) var changed: Date
    /// The number of rows of each table that has any; only of ``DatabaseFile/foundBackups(in:)``.
    public private(set) var rowCounts: [String: Int] = [:]
    /// The reason for which the file cannot be read, as in `file is not a database (SQLite 26)`; nil if it can.
    public private(set) var problem: String?

    /// Looks at a file through a connection of its own.
    ///
    /// - Throws: an error that passes by itself, such as one of a database that is locked.
    init(at place: DatabasePlace, _ configuration: Configuration, waitingFor limit: Duration) throws {
        let url = place.url
        path = url.path
        // First: preparing the connection may change the file.
        let log = try? url.appending(end: "-wal").status()
        let status = try? url.status()
        size = Int64(status?.st_size ?? 0) + Int64(log?.st_size ?? 0)
        changed = max(status?.changed ?? .distantPast, log?.changed ?? .distantPast)
        do {
            let facts = try place.reading(configuration, waitingFor: limit) { db in
                (
                    isEmpty: try !Self.hasRows(db), schema: try Self.schemaVersion(db),
                    app: try SQLiteStore.seenVersions(db)["app"]?.map(\.version).max()
                )
            }
            (isEmpty, schemaVersion, appVersion) = (facts?.isEmpty ?? true, facts?.schema, facts?.app)
            problem = nil
        } catch let error where Obstacle(error) == nil {
            (isEmpty, schemaVersion, appVersion) = (false, nil, nil)
            problem = error.systemError?.reason ?? "\(error)"
        }
    }

    /// Counts the rows, too, which reads the whole file.
    mutating func countRows(
        at place: DatabasePlace, _ configuration: Configuration, waitingFor limit: Duration
    )
        throws
    {
        guard problem == nil else { return }
        do {
            let counts = try place.reading(configuration, waitingFor: limit) { db in
                try Self.tables(db).map { name, type in
                    (name.text, try Self.ask("SELECT count(*) FROM \(name.inMain)", ofA: type, db) ?? 0)
                }
            }
            rowCounts = Dictionary((counts ?? []).filter { $1 > 0 }, uniquingKeysWith: { $1 })
        } catch let error where Obstacle(error) == nil {
            problem = error.systemError?.reason ?? "\(error)"
        }
    }

    private static func schemaVersion(_ db: Database) throws -> String? {
        try Ledger.unlessForeign(db)?.currentVersion.map { "\($0)" } ?? GRDBHistory(db).identifiers.last
    }

    /// The app's tables, without those of migrators.
    private static func tables(_ db: Database) throws -> [(name: SQLName, type: String)] {
        let tables = try Row.fetchAll(
            db,
            sql: """
                SELECT name, type FROM pragma_table_list
                WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """)
        return tables.map { ($0["name"], $0["type"]) }.filter { name, _ in !OwnTables.isOfMigrator(name) }
    }

    /// Returns true if a table other than those of migrators has a row.
    private static func hasRows(_ db: Database) throws -> Bool {
        try tables(db).contains { name, type in
            try ask("SELECT EXISTS (SELECT 1 FROM \(name.inMain))", ofA: type, db) ?? true
        }
    }

    /// Returns a table's answer; nil if its module or its tokenizer is not here, so that its rows cannot be seen.
    private static func ask<Answer: DatabaseValueConvertible>(
        _ question: String, ofA type: String, _ db: Database
    ) throws -> Answer? {
        do {
            return try Answer.fetchOne(db, sql: question)
        } catch let error as DatabaseError where type == "virtual" && error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }
}

extension FoundDatabase: CustomStringConvertible {
    /// As in `/folder/library.sqlite (schema 20240601120000000, app 2.0, 120 kB, changed 2026-11-02T09:30:00Z)`.
    public var description: String {
        let facts = [
            schemaVersion.map { "schema \($0)" }, appVersion.map { "app \($0)" },
            ByteCountFormatter.string(fromByteCount: size, countStyle: .file),
            "changed \(changed.formatted(.iso8601))", isEmpty ? "no rows" : nil, problem,
        ]
        return "\(path) (\(facts.compactMap(\.self).joined(separator: ", ")))"
    }
}

extension stat {
    fileprivate var changed: Date {
        Date(timeIntervalSince1970: Double(modified.tv_sec) + Double(modified.tv_nsec) / 1e9)
    }
}
