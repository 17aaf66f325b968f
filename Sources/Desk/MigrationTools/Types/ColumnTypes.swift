import AppMigrations
package import MigrationDiagnostics
import SchemaMigrations
import TextOutput

/// The columns whose types the app chooses: an enumeration by its raw value, JSON, a date format of its own.
package struct ColumnTypes: Sendable {
    private struct Rule: Sendable {
        /// The table; nil for every table.
        let table: SQLName?
        let column: SQLName
        let coding: ColumnCoding
        let text: String
        let place: Diagnostic.Place?
    }

    private var rules: [Rule] = []

    /// Creates a mapping without a rule.
    package init() {}

    /// Creates a mapping from columns, such as `entry.mood`, and types.
    ///
    /// - Throws: `MigrationError`, if one is not understood.
    package init(_ types: [String: String]) throws {
        for (column, type) in types.sorted(by: { $0.key < $1.key }) { try add(column, type) }
    }

    /// Adds a rule.
    ///
    /// - Parameters:
    ///   - subject: the column, such as `entry.mood`, or `*.mood` for those of all tables.
    ///   - type: the type, such as `Mood`, `json([String])` or `Date(yyyy-MM-dd)`.
    package mutating func add(_ subject: String, _ type: String, at place: Diagnostic.Place? = nil) throws {
        let parts = Self.parts(of: subject)
        guard parts.count == 2, let table = parts.first, let column = parts.last, !column.isEmpty,
            !table.isEmpty
        else {
            throw Self.error(
                place, "\(subject.quoted) names no column",
                remedy: "Write it as table.column, or as *.column for the columns of all tables.")
        }
        guard let coding = ColumnCoding(rule: type) else {
            throw Self.error(
                place, "\(type.quoted) is not a type for column \(subject.quoted)",
                remedy: """
                    Write Int64, String, Double, Bool, Data, DatabaseValue, Date, Date(yyyy-MM-dd), \
                    Date(secondsSince1970), Date(millisecondsSince1970), Date(secondsSince2001), UUID, \
                    UUID(uppercase), UUID(lowercase), json(Type), or the name of a type with a raw value.
                    """)
        }
        rules.append(
            Rule(
                table: table == "*" ? nil : SQLName(token: table), column: SQLName(token: column),
                coding: coding,
                text: subject, place: place))
    }

    /// The rule for a table itself wins over one for all tables.
    func coding(of column: SQLName, in table: SQLName) -> ColumnCoding? {
        let found = rules.filter { $0.column == column && ($0.table == nil || $0.table == table) }
        return (found.last { $0.table != nil } ?? found.last)?.coding
    }

    /// The names of the app's types, which no generated type may have.
    var typeNames: Set<String> {
        Set(
            rules.flatMap { rule in
                rule.coding.swiftType.split { !$0.unicodeScalars.allSatisfy(\.properties.isXIDContinue) }.map(
                    String.init)
            })
    }

    /// Throws an error if a rule is for a column that no schema has.
    func check(against schemas: [TypedSchema]) throws {
        for rule in rules {
            let isKnown = schemas.contains { schema in
                schema.tables.contains { table in
                    (rule.table == nil || rule.table == table.name)
                        && table.columns.contains { $0.name == rule.column && $0.role != .rowID }
                }
            }
            guard isKnown else {
                throw Self.error(
                    rule.place, "no table has column \(rule.text.quoted) at the versions that have types",
                    remedy: "Correct its name, or remove the line.")
            }
        }
    }

    /// Splits a subject at the dot between its names, which may be in quotes.
    private static func parts(of subject: String) -> [String] {
        var parts = [""]
        var quote: Character?
        for character in subject {
            if let open = quote {
                if character == open { quote = nil }
            } else if "\"`".contains(character) {
                quote = character
            } else if character == "." {
                parts.append("")
                continue
            }
            parts[parts.count - 1].append(character)
        }
        return parts
    }

    private static func error(_ place: Diagnostic.Place?, _ problem: String, remedy: String)
        -> MigrationError
    {
        MigrationError(.misuse, Diagnostic(at: place, problem, remedy: remedy))
    }
}
