import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// A table of the app: how its migrations make it, and how its rows are made.
///
/// A text in each row names the table, as in `note#17.`, by which a row is known wherever it turns up.
struct SalvageTable: Sendable {
    struct Column: Sendable {
        let name: String
        /// The schema version that has added it.
        var since = 1
        /// The value of rows from before that.
        var fallback = SalvageValue.null
        /// True for texts that are bound as blobs, because they are no texts in Swift.
        var isCast = false
    }

    /// The name in version 1, which marks the rows.
    let mark: String
    /// The statements of each schema version, the first of which is 1.
    let statements: [Int: String]
    let columns: [Column]
    /// The number of columns, from the first, that identify a row.
    var keyCount = 1
    /// True if the key is the row's id, and none of the columns.
    var hasHiddenKey = false
    /// True if the table has row ids: then the key is one.
    var hasRowid = true
    /// The later names, by the schema version that has given them.
    var names: [Int: String] = [:]
    /// A column with texts, in which no index and no key is.
    var text: String?
    /// The condition for rows that can be deleted.
    var deletable = "1"
    /// True if the rows are those of a full-text table.
    var isVirtual = false
    /// The columns and values of rows that a migration inserts, as ``SalvageSeeding`` does; nil if it inserts none.
    var seed: String?
    /// True if the ids of such rows may be the next ones, whatever they are.
    var takesNextIDs = true
    /// Changes such rows, of which the numbers are at most `?`.
    var seedChange: String?
    /// Returns the values of a new row, without a hidden key, or nil if there is no parent for it; itself nil for a table that a
    /// trigger fills.
    var values:
        (@Sendable (_ id: Int, _ writing: inout RowWriting) throws -> [(any DatabaseValueConvertible)?]?)?

    /// The name at a schema version; nil before there is the table.
    func name(at version: Int) -> String? {
        guard version >= 1 else { return nil }
        return names.filter { $0.key <= version }.max { $0.key < $1.key }?.value ?? mark
    }

    /// The columns at a schema version, as SQL, with the key first.
    func columns(at version: Int) -> [String] {
        (hasHiddenKey ? ["rowid"] : []) + columns.filter { $0.since <= version }.map(\.name)
    }

    /// The values in rows of a schema version of the columns that come later.
    func defaults(after version: Int) -> [SalvageValue] {
        columns.filter { $0.since > version }.map(\.fallback)
    }

    /// The index of a column in a row.
    func index(of column: String) -> Int? {
        columns.firstIndex { $0.name == column }.map { $0 + (hasHiddenKey ? 1 : 0) }
    }

    /// True if some texts are none in their encoding, or hold NULs.
    var hasOddTexts: Bool { columns.contains(where: \.isCast) }

    /// Inserts rows with the given numbers.
    func insert(_ ids: Range<Int>, at version: Int, _ writing: inout RowWriting) throws {
        guard let values, let name = name(at: version), !ids.isEmpty else { return }
        let present = columns.filter { $0.since <= version }
        let places = present.map { $0.isCast ? "CAST(? AS TEXT)" : "?" }.joined(separator: ", ")
        let statement = try writing.db.cachedStatement(
            sql: """
                INSERT INTO \(name)(\(present.map(\.name).joined(separator: ", "))) VALUES (\(places))
                """)
        for id in ids {
            guard let values = try values(id, &writing) else { continue }
            try statement.execute(arguments: StatementArguments(values.prefix(present.count)))
        }
    }
}

/// What the rows of a database are made with.
struct RowWriting {
    let db: Database
    let encoding: TextEncoding
    /// The size of a page: a long text needs several.
    let pageSize: Int
    var random: RandomNumbers

    /// Returns a text that names its table.
    func text(_ mark: String, _ id: Int) -> String { "\(mark)#\(id).\(id &* 2_654_435_761 % 1_000_003)" }

    /// Returns words, rarely for several pages.
    mutating func words(_ id: Int) -> String {
        String("word\(id) ".cycled(to: length(upTo: 120)))
    }

    /// Returns bytes that are different for each row, rarely for several pages.
    mutating func image(_ id: Int) -> Data { bytes(id, length(upTo: 70)) }

    private mutating func length(upTo usual: Int) -> Int {
        guard random.chance(4) else { return Int.random(in: 0...usual, using: &random) }
        return min(pageSize * 3, max(30_000, pageSize + 5_000))
    }

    /// Returns bytes that are different for each row.
    func bytes(_ id: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: id &+ $0) })
    }
}

extension String {
    /// The text, again and again, up to a number of characters.
    fileprivate func cycled(to length: Int) -> Substring {
        String(repeating: self, count: length / max(count, 1) + 1).prefix(length)
    }
}
