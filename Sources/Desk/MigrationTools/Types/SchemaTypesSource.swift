import SchemaMigrations

/// A Swift file that declares the tables of several versions of a schema.
///
/// ```
/// enum Schema {
///     enum v20240601 {
///         struct Book: OldTable, Identifiable { … }
///     }
///     enum v20250110 {
///         typealias Book = v20240601.Book
///     }
/// }
/// ```
package struct SchemaTypesSource {
    /// The text of the file.
    package let text: String

    /// Writes types for schemas.
    ///
    /// - Parameters:
    ///   - schemas: the schemas, oldest first.
    ///   - all: every version of the migrations, oldest first.
    ///   - name: the name of the enumeration around all.
    ///   - mapping: the types that the app chooses.
    package init(_ schemas: [TypedSchema], all: [String], name: String, mapping: ColumnTypes) {
        let versions = VersionNames(all)
        let patterns = DatePatterns(schemas)
        let reserved = Self.reserved.union(mapping.typeNames).union([name])
        var declared: [String: String] = [:]
        var bodies: [String] = []
        for schema in schemas {
            let version = versions.name(of: schema.version)
            var names = UniqueNames(reserved: reserved)
            var aliases: [String] = []
            var structures: [String] = []
            for table in schema.tables {
                let suffix = table.kind == .view ? "View" : "Table"
                let type = names.add(SwiftName.type(table.name.text), ifTaken: suffix)
                let body = TableSource(table, type: type, patterns: patterns).text
                if let first = declared[body] {
                    aliases.append(Self.alias(type, of: "\(first).\(type)"))
                } else {
                    declared[body] = version
                    structures.append(body)
                }
            }
            let title = schema.migration.isEmpty ? schema.version : "\(schema.version) \(schema.migration)"
            let parts = (aliases.isEmpty ? [] : [aliases.joined(separator: "\n")]) + structures
            bodies.append(
                """
                    /// The tables after the migration \(title.inComment).
                    enum \(version) {\(parts.isEmpty ? "" : "\n")\(parts.joined(separator: "\n\n").indented(8))\
                \(parts.isEmpty ? "}" : "\n    }")
                """)
        }
        text =
            SchemaTypesHeader(versions: schemas.map(\.version), name: name).text + """

                import Foundation
                import GRDB

                /// The tables at earlier versions of the schema, for steps of migrations.
                nonisolated enum \(name) {
                \((patterns.declarations + bodies).joined(separator: "\n\n"))
                }

                """ + SchemaTypesRuntime(schemas, name: name).text
    }

    private static func alias(_ type: String, of other: String) -> String {
        let line = "typealias \(type) = \(other)"
        return line.count + 8 <= TableSource.lineLength ? line : "typealias \(type) =\n    \(other)"
    }

    /// The names of types that the generated code uses, and those that Swift keeps to itself.
    private static let reserved: Set<String> = [
        "Any", "AnyObject", "Array", "Bool", "Codable", "CodableValue", "Coding", "Column", "Columns", "Data",
        "Database",
        "DatabaseValue", "DatabaseValueConvertible", "Date", "DateFormatter", "Decodable", "Decoder",
        "Dictionary", "Double",
        "Encodable", "EncodableRecord", "Encoder", "Error", "FetchableRecord", "Identifiable", "Int", "Int64",
        "JSONDecoder",
        "JSONEncoder", "Never", "OldTable", "OldView", "Optional", "PersistableRecord",
        "PersistenceContainer", "Protocol",
        "Result", "Row", "Self", "Sendable", "SQLSelectable", "StoredRow", "String", "TableRecord",
        "TimeZone", "Type",
        "UnreadableValue", "UUID", "Void",
    ]
}

extension String {
    /// The text as part of a comment of one line.
    var inComment: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        )
        .split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// The text as a literal in Swift.
    var swiftLiteral: String {
        var literal = "\""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case _ where scalar == "\"" || scalar == "\\": literal += "\\\(scalar)"
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// The text with spaces before each line that is not empty.
    func indented(_ count: Int) -> String {
        let spaces = String(repeating: " ", count: count)
        return split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : spaces + $0 }.joined(separator: "\n")
    }
}
