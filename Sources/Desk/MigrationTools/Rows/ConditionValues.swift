import Foundation
import GRDB
import SchemaMigrations

/// The values that may decide the conditions of a migration, by the names beside which they stand.
package struct ConditionValues: Equatable, Sendable {
    /// Values for some columns of one row.
    typealias Assignment = [(column: Int, value: DatabaseValue)]

    /// The texts and the numbers that the conditions name, those nearest to the name first.
    private var literals: [SQLName: [DatabaseValue]] = [:]

    /// False for the values of constraints: a key with one is too rare.
    private let includesKeys: Bool

    /// The literals that statements write: rows that have one already would become like those that get it.
    private var written: Set<DatabaseValue> = []

    /// Reads conditions.
    ///
    /// - Parameters:
    ///   - tokens: those of all statements that change rows.
    ///   - includesKeys: whether columns with unique values get some, too.
    init(
        _ conditions: [[SQLScript.Token]] = [], among tokens: [SQLScript.Token] = [],
        includingKeys includesKeys: Bool = true
    ) {
        self.includesKeys = includesKeys
        written = Set(tokens.compactMap(\.literal)).subtracting(conditions.joined().compactMap(\.literal))
        for condition in conditions {
            // A name's first place takes the whole condition, so that later ones, which may be hundreds, add nothing.
            var seen: Set<SQLName> = []
            for (position, token) in condition.enumerated()
            where token.literal == nil && token.isName && seen.insert(token.name).inserted {
                var known = literals[token.name] ?? []
                for value in [condition[position...], condition[..<position]].joined().lazy.compactMap(
                    \.literal)
                where !known.contains(value)
                    && known.count(where: { $0.isText == value.isText }) < Self.mostLiterals
                {
                    known.append(value)
                }
                literals[token.name] = known
            }
        }
    }

    var isEmpty: Bool { literals.isEmpty }

    /// Returns what some rows of a table should have: one value that matters to a condition, or one in each column.
    ///
    /// - Parameter columns: the columns that take any value, with their kind, and whether they take each value once.
    func assignments(
        to columns: [(position: Int, name: SQLName, kind: GeneratedValue, isUnique: Bool)]
    ) -> [Assignment] {
        let named = columns.filter { includesKeys || !$0.isUnique }.compactMap { column in
            literals[column.name].map { named in
                let values = column.kind.values(near: named, column.isUnique)
                return (column.position, values.filter { !written.contains($0) })
            }
        }.filter { !$0.1.isEmpty }
        let singles = singles(named)
        guard named.count > 1 else { return singles }
        // Of two columns, every pair of their first values.
        let joint = (0..<Self.jointValues * Self.jointValues).map { number in
            named.enumerated().map { place, column in
                let turn = [number, number / Self.jointValues, number + number / Self.jointValues][place % 3]
                return (column: column.0, value: column.1[turn % min(column.1.count, Self.jointValues)])
            }
        }
        return singles + joint
    }

    /// Returns each value of some columns, for a row of its own.
    ///
    /// The first of each column, then the second of each: no column has so many that another gets none.
    func singles(_ columns: [(Int, [DatabaseValue])]) -> [Assignment] {
        let longest = columns.map(\.1.count).max() ?? 0
        let all = (0..<longest).flatMap { rank in
            columns.filter { rank < $0.1.count }.map { [(column: $0.0, value: $0.1[rank])] }
        }
        return Array(all.prefix(Self.mostSingles))
    }

    /// Returns the values that a condition names beside a column, and their neighbours.
    func values(of column: SQLName, _ kind: GeneratedValue) -> [DatabaseValue] {
        literals[column].map { kind.values(near: $0, true) } ?? []
    }

    /// The number of texts, and of numbers, beside a name: a few decide as much as all.
    private static let mostLiterals = 40
    private static let mostSingles = 24
    private static let jointValues = 4
}

extension SQLScript.Token {
    /// The text or the integer that the token is; nil if it is something else.
    fileprivate var literal: DatabaseValue? {
        guard isWord else { return keyword.hasPrefix("'") ? name.text.databaseValue : nil }
        return Int64(keyword)?.databaseValue
    }

    /// True for a name, in quotes or bare, and for a keyword.
    var isName: Bool {
        isWord || ["\"", "`", "["].contains { keyword.hasPrefix($0) }
    }
}

extension GeneratedValue {
    /// Returns the values of this kind that may decide a condition which names some literals.
    ///
    /// - Parameter isUnique: whether the column is a key, for which only what the condition names is tried.
    fileprivate func values(near literals: [DatabaseValue], _ isUnique: Bool) -> [DatabaseValue] {
        var found: [DatabaseValue] = []
        for literal in literals {
            let near = [literal] + literal.neighbours
            found += self == .json ? documents(with: literal, literals) : near.filter(holds)
        }
        if !isUnique { found += extremes }
        return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Values at both ends of what a column of this kind holds.
    private var extremes: [DatabaseValue] {
        switch self {
        // The last is in the year 2100, in seconds.
        case .integer, .real: [0, 1, -1, 4_102_444_800].map { (number: Int64) in number.databaseValue }
        case .boolean: [1, 0].map(\.databaseValue)
        case .text: ["", String(repeating: "x", count: 5_000)].map(\.databaseValue)
        case .day: ["1970-01-01", "2100-01-01"].map(\.databaseValue)
        case .moment: ["1970-01-01 00:00:00.000", "2100-01-01 00:00:00.000"].map(\.databaseValue)
        case .identifier, .json: []
        case .blob: [Data(), Data(count: 5_000)].map(\.databaseValue)
        }
    }

    /// Returns JSON that is a literal, or holds it under each name that a path gives.
    private func documents(with literal: DatabaseValue, _ all: [DatabaseValue]) -> [DatabaseValue] {
        if holds(literal) { return [literal] }
        let names = Set(
            all.compactMap(String.fromDatabaseValue).filter { $0.hasPrefix("$") }.flatMap(\.jsonKeys))
        guard !names.isEmpty, let value = literal.json else { return [] }
        return ["{\(names.sorted().map { "\"\($0)\":\(value)" }.joined(separator: ","))}".databaseValue]
    }
}

extension DatabaseValue {
    /// The values on both sides of a number, and texts of that length; a later text, and those that match a pattern.
    fileprivate var neighbours: [DatabaseValue] {
        switch storage {
        case .int64(let number):
            let lengths = [number, number &+ 1].filter { (1...5_000).contains($0) }
            return [number &+ 1, number &- 1, 0 &- number].map(\.databaseValue)
                + lengths.map { String(repeating: "a", count: Int($0)).databaseValue }
        case .string(let text):
            return [text + "x", CheckConstraint.matching(like: text), CheckConstraint.matching(glob: text)]
                .map(\.databaseValue)
        default: return []
        }
    }

    /// The value as JSON.
    fileprivate var json: String? {
        guard case .string(let text) = storage else { return Int64.fromDatabaseValue(self).map { "\($0)" } }
        return (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension DatabaseValue {
    fileprivate var isText: Bool { if case .string = storage { true } else { false } }
}
