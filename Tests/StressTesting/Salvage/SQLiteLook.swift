import Foundation
import GRDB

/// The files of a database: its own, and those of its journals by the ends of their names.
struct SalvageFiles: Sendable {
    static let journalEnds = ["-wal", "-journal"]

    var main: [UInt8]
    var journals: [String: [UInt8]] = [:]

    init(main: [UInt8], journals: [String: [UInt8]] = [:]) {
        (self.main, self.journals) = (main, journals)
    }

    /// Reads the files at a path.
    init(at file: URL) throws {
        main = [UInt8](try Data(contentsOf: file))
        for end in Self.journalEnds {
            if let journal = try? Data(contentsOf: URL(fileURLWithPath: file.path + end)) {
                journals[end] = [UInt8](journal)
            }
        }
    }

    func write(to file: URL) throws {
        try Data(main).write(to: file)
        for (end, bytes) in journals { try Data(bytes).write(to: URL(fileURLWithPath: file.path + end)) }
    }

    static func remove(_ file: URL) {
        for end in ["", "-shm"] + journalEnds { try? FileManager.default.removeItem(atPath: file.path + end) }
    }
}

extension SalvageFiles: Equatable {}

/// What SQLite makes of the files of a database, of which it gets a copy.
struct SQLiteLook: Sendable {
    /// True if `PRAGMA integrity_check` finds nothing, and SQLite can write the database.
    var isIntact = false
    /// True if it finds nothing but nulls in `NOT NULL` columns of the app, whose rows may be older than the constraint.
    var hasNullsOnly = false
    /// The rows of an intact database.
    var rows = SalvageSnapshot()
    /// The file of an intact database, once a journal is played back, or a log is in it.
    var image: [UInt8] = []
    /// The roots of the tables and indexes of an intact database, by name.
    var roots: [String: Int] = [:]
    /// The last keys that an intact database has given, by table.
    var sequences: [String: Int64] = [:]

    /// Opens a copy of the files.
    ///
    /// - Parameter scratch: a name for the copy.
    init(at files: SalvageFiles, _ tables: [SalvageTable], at version: Int, scratch: URL) throws {
        SalvageFiles.remove(scratch)
        defer { SalvageFiles.remove(scratch) }
        try files.write(to: scratch)
        try? look(at: scratch, tables, version)
    }

    private mutating func look(at file: URL, _ tables: [SalvageTable], _ version: Int) throws {
        let queue = try SalvageConnection.open(file)
        defer { try? queue.close() }
        try queue.inDatabase { db in
            let findings = try String.fetchAll(db, sql: "PRAGMA integrity_check(1000000)")
            let nulls = tables.compactMap { $0.name(at: version) }.map { "NULL value in \($0)." }
            hasNullsOnly = findings.allSatisfy { finding in nulls.contains(where: finding.hasPrefix) }
            guard findings == ["ok"] else { return }
            // A header may say that SQLite can read the file, but not write it: then this fails.
            try db.inTransaction {
                try db.execute(sql: "CREATE TABLE never(x)")
                return .rollback
            }
            isIntact = true
            rows = try SalvageSnapshot(db, tables, at: version)
            roots = try Self.roots(db)
            sequences = try SalvageSequences.read(db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        image = [UInt8](try Data(contentsOf: file))
    }

    private static func roots(_ db: Database) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0")
        return Dictionary(rows.map { ($0[0] as String, $0[1] as Int) }) { first, _ in first }
    }
}

/// The keys of tables that never give one again (autoinc.html).
enum SalvageSequences {
    /// Returns the last key that each table has given.
    static func read(_ db: Database) throws -> [String: Int64] {
        guard try db.tableExists("sqlite_sequence") else { return [:] }
        let rows = try Row.fetchAll(db, sql: "SELECT name, seq FROM sqlite_sequence")
        return Dictionary(rows.map { ($0[0] as String, $0[1] as Int64) }) { max($0, $1) }
    }
}
