public import Foundation

/// The result of salvaging a database: which rows were saved, and which were not.
///
/// ```swift
/// let report = try DatabaseFile(path: url.path).salvage(into: schema)
/// print(report.description)
/// ```
public struct SalvageReport: Sendable, Equatable {
    /// The rows of a table, as it was in the damaged database.
    public struct Table: Sendable, Equatable {
        /// The name of the table.
        public let name: String
        /// The number of rows that were saved.
        ///
        /// Rows that migrations insert again where a page is lost do not count.
        public internal(set) var saved = 0
        /// The number of rows whose bytes are damaged.
        public internal(set) var unreadable = 0
        /// The number of rows that the schema refuses, or whose key another row has.
        public internal(set) var refused = 0
        /// The number of rows that refer to a row that could not be saved.
        public internal(set) var orphaned = 0
        /// The number of pages that are missing from the table; they may have had rows.
        public internal(set) var missingPages = 0
        /// The keys of the rows that the missing pages may have had; only of tables with row ids.
        public internal(set) var missingKeys: [ClosedRange<Int64>] = []

        /// The number of rows that were found.
        public var found: Int { saved + unreadable + refused + orphaned }
    }

    /// The tables that had rows, or have lost pages.
    ///
    /// Definitions that cannot be read count as rows of `sqlite_schema`, and last ids that were given, as those of
    /// `sqlite_sequence`.
    public internal(set) var tables: [Table] = []
    /// The number of rows that were left because it is unknown which table they belong to.
    public internal(set) var unassigned = 0
    /// True if the record of a manager was lost, or it is unknown whether there was one.
    ///
    /// The manager then continues from the version that its own store has completed, or else throws `damagedStore`, and
    /// `replaceRecord(assuming:)` continues.
    public internal(set) var hasLostRecord = false
    /// True if a journal beside the file was left out, because the database is less damaged without it, or the end of a journal,
    /// because something before it is damaged.
    ///
    /// The last changes may be missing then, unless it is a journal of another database, or an older one.
    public internal(set) var hasUnusedJournal = false
    /// The schema version that the damaged database had: of GRDB's migrations, the identifier of the last one.
    ///
    /// It is `none` for a database without a ledger, which the app's next launch adopts.
    public internal(set) var schemaVersion: String
    /// The damaged file, which is kept with its journals.
    public internal(set) var setAside: URL?

    /// The number of rows that were saved.
    public var saved: Int { tables.reduce(0) { $0 + $1.saved } }
    /// The number of rows that were found.
    public var found: Int { tables.reduce(unassigned) { $0 + $1.found } }
    /// True if every row of the database was saved, as far as that can be told.
    public var isComplete: Bool {
        saved == found && !hasLostRecord && !hasUnusedJournal && !tables.contains { $0.missingPages > 0 }
    }
}

extension SalvageReport: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result as a sentence for the person.
    ///
    /// As in `4,211 of 4,213 entries were saved (note: 4,161 of 4,163, folder: 50).`
    public var description: String {
        let details = tables.filter { $0.found > 0 }.map {
            "\($0.name): \(Self.words($0.saved, of: $0.found))"
        }
        let list = details.count > 1 ? " (\(details.joined(separator: ", ")))" : ""
        let more =
            tables.contains { $0.missingPages > 0 }
            ? " More may be missing, because a part of the file is lost." : ""
        let journal = hasUnusedJournal ? " The last changes may be missing." : ""
        let record =
            hasLostRecord ? " It is no longer known which version of the app updated this data last." : ""
        let entries = found == 1 ? "entry was" : "entries were"
        return "\(Self.words(saved, of: found)) \(entries) saved\(list).\(more)\(journal)\(record)"
    }

    private static func words(_ part: Int, of whole: Int) -> String {
        let locale = Locale(identifier: "en_US")
        let (part, whole) = (part.formatted(.number.locale(locale)), whole.formatted(.number.locale(locale)))
        return part == whole ? part : "\(part) of \(whole)"
    }

    /// The result for the developer: the counts of each table, and the keys that are missing.
    ///
    /// It holds names of tables and keys: for a log on the device, and not for a server.
    public var debugDescription: String {
        let lines = tables.map { table in
            var ranges = table.missingKeys.prefix(10).map { "\($0.lowerBound)...\($0.upperBound)" }
            if table.missingKeys.count > 10 { ranges.append("and \(table.missingKeys.count - 10) more") }
            let keys = ranges.joined(separator: ", ")
            return """
                \(table.name): \(table.saved) saved, \(table.unreadable) unreadable, \(table.refused) refused, \
                \(table.orphaned) without parent, \(table.missingPages) \(table.missingPages == 1 ? "page" : "pages") missing\(keys.isEmpty ? "" : " (keys \(keys))")
                """
        }
        let record =
            (hasLostRecord ? ", no record of managers" : "")
            + (hasUnusedJournal ? ", a journal or its end left out" : "")
        let rows = "\(unassigned) \(unassigned == 1 ? "row" : "rows") of unknown tables"
        return (["schema \(schemaVersion), \(rows)\(record)"] + lines).joined(separator: "\n")
    }

    /// The numbers for a crash reporter: no name of a table, no key, no path.
    public var summary: Summary {
        Summary(
            schemaVersion: schemaVersion, saved: saved, unreadable: tables.reduce(0) { $0 + $1.unreadable },
            refused: tables.reduce(0) { $0 + $1.refused }, orphaned: tables.reduce(0) { $0 + $1.orphaned },
            unassigned: unassigned, missingPages: tables.reduce(0) { $0 + $1.missingPages },
            hasLostRecord: hasLostRecord, hasUnusedJournal: hasUnusedJournal)
    }

    /// The numbers of a ``SalvageReport``, which may leave the device.
    public struct Summary: Codable, Sendable, Hashable {
        /// The schema version that the damaged database had: of GRDB's migrations, the identifier of the last one.
        public let schemaVersion: String
        /// The number of rows that were saved.
        public let saved: Int
        /// The number of rows whose bytes are damaged.
        public let unreadable: Int
        /// The number of rows that the schema refuses.
        public let refused: Int
        /// The number of rows that refer to a row that could not be saved.
        public let orphaned: Int
        /// The number of rows of unknown tables.
        public let unassigned: Int
        /// The number of missing pages.
        public let missingPages: Int
        /// True if the record of a manager was lost.
        public let hasLostRecord: Bool
        /// True if a journal, or the end of one, was left out.
        public let hasUnusedJournal: Bool
    }
}
