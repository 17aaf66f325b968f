import Foundation
import GRDB
import SchemaMigrations

/// The type of a property, and how its column stores it.
enum ColumnCoding: Hashable, Sendable {
    /// A type that stores itself: `Int64`, `String`, `Double`, `Bool`, `Data` or `UUID`.
    case plain(String)
    /// Whatever the column holds.
    case any
    /// A date, as a text or a number.
    case date(DateStorage)
    /// A UUID as a text.
    case uuid(isUppercase: Bool)
    /// An enumeration or another type of the app's, by its raw value.
    case rawValue(type: String)
    /// A type of the app's, as JSON.
    case json(type: String)

    /// How a column stores dates.
    enum DateStorage: Hashable, Sendable {
        /// As GRDB does: a text with milliseconds.
        case grdb
        /// A text in a pattern of `DateFormatter`, in UTC.
        case pattern(String)
        case secondsSince1970
        case millisecondsSince1970
        /// As `Date` and Core Data count.
        case secondsSince2001
    }

    /// The name of the Swift type.
    var swiftType: String {
        switch self {
        case .plain(let type), .rawValue(let type), .json(let type): type
        case .any: "DatabaseValue"
        case .date: "Date"
        case .uuid: "UUID"
        }
    }

    /// True if the type needs Foundation.
    var needsFoundation: Bool {
        switch self {
        case .plain(let type): ["Data", "UUID"].contains(type)
        case .any, .rawValue: false
        case .date, .uuid, .json: true
        }
    }

    /// Determines the type of a column from its declaration, as GRDB's users declare it.
    ///
    /// What neither GRDB nor SQLite knows, such as `STRING`, may hold anything.
    init(declared type: String, isStrict: Bool) {
        let type = type.uppercasedASCII
        let word = type.prefix { $0 != "(" && $0 != " " }
        self =
            switch word {
            case "BOOL", "BOOLEAN": .plain("Bool")
            case "DATE", "DATETIME", "TIMESTAMP": .date(.grdb)
            case "JSON": .plain("String")
            case "NUMERIC", "DECIMAL", "NUMBER": .plain("Double")
            default:
                switch Affinity(type: type, isStrict: isStrict) {
                case .integer: .plain("Int64")
                case .text: .plain("String")
                case .real: .plain("Double")
                case .blob: word.isEmpty || word == "ANY" ? .any : .plain("Data")
                case .numeric: .any
                }
            }
    }

    /// Reads what a rule says, such as `Date(yyyy-MM-dd)`, `json([String])` or `Mood`.
    ///
    /// - Returns: nil, if it is not understood.
    init?(rule: String) {
        func argument(of name: String) -> String? {
            guard rule.hasPrefix("\(name)("), rule.hasSuffix(")") else { return nil }
            let argument = rule.dropFirst(name.count + 1).dropLast().trimmingCharacters(in: .whitespaces)
            return argument.isEmpty ? nil : argument
        }
        if let format = argument(of: "Date") {
            switch format {
            case "secondsSince1970": self = .date(.secondsSince1970)
            case "millisecondsSince1970": self = .date(.millisecondsSince1970)
            case "secondsSince2001": self = .date(.secondsSince2001)
            default: self = .date(.pattern(format))
            }
        } else if let type = argument(of: "json") {
            guard Self.isType(type, brackets: true) else { return nil }
            self = .json(type: type)
        } else if let format = argument(of: "UUID") {
            guard ["uppercase", "lowercase"].contains(format) else { return nil }
            self = .uuid(isUppercase: format == "uppercase")
        } else {
            switch rule {
            case "Int64", "String", "Double", "Bool", "Data", "UUID": self = .plain(rule)
            case "Date": self = .date(.grdb)
            case "DatabaseValue": self = .any
            default:
                guard Self.isType(rule, brackets: false) else { return nil }
                self = .rawValue(type: rule)
            }
        }
    }

    /// Returns whether a text can be the name of a type, so that nothing else gets into the code.
    private static func isType(_ text: String, brackets: Bool) -> Bool {
        guard let first = text.unicodeScalars.first else { return false }
        let marks = brackets ? ".[]:? " : "."
        return text.unicodeScalars.allSatisfy {
            $0.properties.isXIDContinue || marks.unicodeScalars.contains($0)
        }
            && (first.properties.isXIDStart || first == "_" || brackets && first == "[")
    }
}
