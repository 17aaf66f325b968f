import Foundation
import GRDB
import SchemaMigrations

/// The note in a database that it was moved to where it is.
///
/// It moves along with the database, in the file. So a file that an older version of the app creates afterwards, where
/// it has always had the database, cannot be taken for the database.
struct MoveMark: Equatable {
    static let table = OwnTables.moves

    /// The identity of the file that was copied; nil if the file itself was moved.
    let source: FileIdentity?
    /// The place to which it was moved; nil if an earlier version of the package has noted none.
    private let destination: String?
    /// The place where it was before; nil if it was not moved, or an earlier version of the package has noted none.
    private let origin: String?

    /// Reads the note; nil if there is none.
    init?(_ db: Database) throws {
        guard try db.hasTable(Self.table) else { return nil }
        let row = try Row.fetchOne(
            db, sql: "SELECT * FROM \(Self.table.inMain) ORDER BY rowid DESC LIMIT 1")
        guard let row else { return nil }
        source = (row["source"] as DatabaseValue?).flatMap(String.fromDatabaseValue).map(
            FileIdentity.init(text:))
        destination = (row["destination"] as DatabaseValue?).flatMap(String.fromDatabaseValue)
        origin = (row["origin"] as DatabaseValue?).flatMap(String.fromDatabaseValue)
    }

    /// Returns true if the file stands where the move was to bring it: then the move is complete.
    func isComplete(at url: URL) -> Bool { destination == Self.stablePath(of: url) }

    /// Returns true if the file was moved from a place.
    func came(from url: URL) -> Bool { origin == Self.stablePath(of: url) }

    /// The path without what changes when an app is installed again, or its container is moved.
    private static func stablePath(of url: URL) -> String {
        url.pathComponents.filter { UUID(uuidString: $0) == nil }.joined(separator: "/")
    }

    /// Writes the note, inside a transaction, unless there is one.
    static func writeIfMissing(movedTo url: URL, _ db: Database) throws {
        if try MoveMark(db) == nil { try write(movedTo: url, db) }
    }

    /// Writes the note, inside a transaction.
    ///
    /// - Parameters:
    ///   - old: where it was before; nil if it was not moved.
    ///   - source: the identity of the file that was copied; nil if the file itself is moved.
    static func write(movedTo url: URL, from old: URL? = nil, source: FileIdentity? = nil, _ db: Database)
        throws
    {
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS \(table.inMain);
                CREATE TABLE \(table.inMain)(
                    date TEXT NOT NULL, source TEXT, destination TEXT NOT NULL, origin TEXT)
                """)
        try db.execute(
            sql: "INSERT INTO \(table.inMain) VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?)",
            arguments: [source?.text, stablePath(of: url), old.map(stablePath)])
    }
}
