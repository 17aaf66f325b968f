import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Collects the events of a database file.
final class EventLog: Sendable {
    private let entries = Locked<[DatabaseFile.Event]>([])
    var events: [DatabaseFile.Event] { entries.withLock { $0 } }
    func note(_ event: DatabaseFile.Event) { entries.withLock { $0.append(event) } }
}

extension TemporaryFolder {
    func path(_ name: String) -> String { file(name).path }
}

extension DatabaseReader {
    func strings(_ sql: String) throws -> [String] {
        try unsafeRead { db in try String.fetchAll(db, sql: sql) }
    }

    func integers(_ sql: String) throws -> [Int64] {
        try unsafeRead { db in try Int64.fetchAll(db, sql: sql) }
    }

    /// The names of the tables.
    func tables() throws -> [String] {
        try strings("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    }
}

extension DatabaseWriter {
    func execute(_ sql: String) throws {
        try writeWithoutTransaction { db in try db.execute(sql: sql) }
    }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
