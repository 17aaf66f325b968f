import Foundation

/// Makes names of Swift's from names of SQL's, as the API design guidelines want them.
///
/// `book_author` becomes `BookAuthor` as a type and `bookAuthor` as a property; `userID` stays as it is.
package enum SwiftName {
    /// Returns the name of a type.
    package static func type(_ name: String, unnamed: String = "Table") -> String {
        let words = words(of: name)
        guard !words.isEmpty else { return unnamed }
        let joined = words.map(\.capitalizedFirst).joined()
        return joined.startsWithDigit ? "\(unnamed)\(joined)" : joined
    }

    /// Returns the name of a property.
    package static func property(_ name: String, unnamed: String = "column") -> String {
        let words = words(of: name)
        guard let first = words.first else { return unnamed }
        let joined = first.lowercasedFirst + words.dropFirst().map(\.capitalizedFirst).joined()
        if joined.startsWithDigit { return "\(unnamed)\(joined)" }
        // These mean something else after a dot, even in backticks.
        return ["self", "init"].contains(joined) ? "\(joined)Column" : joined
    }

    /// Returns a name as a declaration writes it: in backticks if it is a word of the language.
    package static func declared(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The parts of a name between the characters that no identifier may have.
    private static func words(of name: String) -> [String] {
        let isShouted = !name.contains(where: \.isLowercase)
        return name.split { character in
            character == "_" || !character.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
        }
        .map { isShouted ? $0.lowercased() : String($0) }
    }

    private static let keywords: Set<String> = [
        "actor", "any", "as", "associatedtype", "async", "await", "break", "case", "catch", "class",
        "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate",
        "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "operator",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static",
        "struct",
        "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while",
    ]
}

extension String {
    fileprivate var startsWithDigit: Bool {
        unicodeScalars.first.map { !$0.properties.isXIDStart } ?? false
    }

    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// The text with its first word in lower case: `Title` becomes `title`, and `URLString` becomes `urlString`.
    fileprivate var lowercasedFirst: String {
        let capitals = prefix { $0.isUppercase }
        guard capitals.count > 1, capitals.count < count else {
            return capitals.lowercased() + dropFirst(capitals.count)
        }
        let next = self[capitals.endIndex]
        // The last capital begins the next word, unless digits follow.
        let run = next.isLowercase ? capitals.dropLast() : capitals
        return run.lowercased() + dropFirst(run.count)
    }
}

/// Names that are given once each, in the order in which they are asked for.
struct UniqueNames {
    private var taken: Set<String>

    /// Creates names, some of which mean something else.
    init(reserved: Set<String> = []) { taken = reserved }

    /// Returns a name; with a suffix if it is reserved or means something already.
    mutating func add(_ name: String, ifTaken suffix: String) -> String {
        var candidate = name
        var number = 2
        while taken.contains(Self.key(candidate)) {
            candidate = suffix.isEmpty || candidate != name ? "\(name)\(suffix)\(number)" : "\(name)\(suffix)"
            if candidate != "\(name)\(suffix)" { number += 1 }
        }
        taken.insert(Self.key(candidate))
        return candidate
    }

    /// Texts that look alike are one name to a reader, though not to the compiler.
    private static func key(_ name: String) -> String { name.precomposedStringWithCanonicalMapping }
}
