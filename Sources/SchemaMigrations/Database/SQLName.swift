package import GRDB
import MigrationDiagnostics

/// The name of a table, a column or another object, as SQLite compares and quotes it.
///
/// SQLite ignores the case of ASCII letters in names, and compares everything else byte by byte. So `É` and
/// `é` are two names, and so are two texts that look alike, such as an `é` of one scalar and one of two.
///
/// Every name that becomes part of a statement passes through ``sql`` or ``inMain``.
package struct SQLName: Sendable {
    /// The name as its owner wrote it, without quotes.
    package let text: String

    /// Creates a name from its text, without quotes.
    package init(_ text: String) {
        self.text = text
    }

    /// Creates a name from a token of SQL, with or without quotes (lang_keywords.html).
    package init(token: String) {
        let scalars = token.unicodeScalars
        guard scalars.count > 1, let quote = scalars.first, "'\"`[".unicodeScalars.contains(quote) else {
            self.init(token)
            return
        }
        var text = String.UnicodeScalarView()
        var isSecondOfPair = false
        for scalar in scalars.dropFirst().dropLast() {
            // In the quotes, a doubled quote stands for one. Brackets end at the first closing one.
            isSecondOfPair = !isSecondOfPair && scalar == quote && quote != "["
            if !isSecondOfPair { text.append(scalar) }
        }
        self.init(String(text))
    }

    /// The name in double quotes.
    package var sql: String { text.quotedInSQL(by: "\"") }

    /// The name in double quotes, with the schema `main`, so that no temporary object is meant.
    @inline(never)
    package var inMain: String { "main.\(sql)" }

    /// The text with its ASCII letters in lower case.
    @inline(never)
    package var folded: String { String(decoding: foldedBytes, as: UTF8.self) }

    private var foldedBytes: some Collection<UInt8> {
        text.utf8.lazy.map(\.folded)
    }
}

extension UInt8 {
    /// The byte, in lower case if it is an ASCII letter.
    fileprivate var folded: UInt8 { self >= 0x41 && self <= 0x5a ? self | 0x20 : self }
}

extension SQLName: Hashable {
    @inline(never)
    package static func == (first: SQLName, second: SQLName) -> Bool {
        // Several times as fast as to compare the folded bytes one by one, wherever they are.
        var (first, second) = (first.text, second.text)
        guard first.utf8.count == second.utf8.count else { return false }
        return first.withUTF8 { first in
            second.withUTF8 { second in
                var index = 0
                while index < first.count, first[index].folded == second[index].folded { index += 1 }
                return index == first.count
            }
        }
    }

    @inline(never)
    package func hash(into hasher: inout Hasher) {
        // A hasher takes several times as long for each value that it gets.
        var (text, hash) = (text, FNV1a.start)
        text.withUTF8 { bytes in
            var index = 0
            while index < bytes.count {
                hash = FNV1a.hash(hash, bytes[index].folded)
                index += 1
            }
        }
        hasher.combine(hash)
    }
}

extension SQLName: Comparable {
    package static func < (first: SQLName, second: SQLName) -> Bool {
        first.foldedBytes.lexicographicallyPrecedes(second.foldedBytes)
    }
}

extension SQLName: CustomStringConvertible, ExpressibleByStringLiteral {
    package var description: String { text }

    package init(stringLiteral text: String) {
        self.init(text)
    }
}

extension SQLName: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { text.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> SQLName? {
        String.fromDatabaseValue(value).map { SQLName($0) }
    }
}

extension Sequence<SQLName> {
    /// The quoted names, with commas between them.
    package var sql: String {
        let names: [String] = map(\.sql)
        return names.joined(separator: ", ")
    }
}

extension String {
    /// Returns the text between quotation marks, with those in it doubled.
    ///
    /// By scalars, as SQLite reads it: with a combining mark after it, a quotation mark is another character.
    package func quotedInSQL(by mark: Unicode.Scalar) -> String {
        var quoted = UnicodeScalarView([mark])
        for scalar in unicodeScalars {
            if scalar == mark { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append(mark)
        return String(quoted)
    }
}
