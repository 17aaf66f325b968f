import SchemaMigrations

/// The declaration of a type for the rows of a table.
struct TableSource {
    /// The length that no line exceeds where it can be broken.
    static let lineLength = 110

    /// The declaration, without indentation.
    let text: String

    private struct Property {
        let column: TypedTable.Column
        let name: String

        var declared: String { SwiftName.declared(name) }
        var type: String { column.coding.swiftType + (column.isOptional ? "?" : "") }
    }

    init(_ table: TypedTable, type: String, patterns: DatePatterns) {
        // The generated code uses it in the type.
        var names = UniqueNames(reserved: ["newRowID"])
        let properties = table.columns.map { column in
            let name = column.role == .rowID ? "rowID" : SwiftName.property(column.name.text)
            return Property(column: column, name: names.add(name, ifTaken: ""))
        }
        let identifier = Self.identifier(table, properties)
        var parts = [Self.head(table)]
        parts.append(properties.map(Self.declaration).joined(separator: "\n"))
        if let identifier, identifier.name != "id" {
            parts.append("var id: \(identifier.type) { \(identifier.declared) }")
        }
        parts.append(Self.columns(properties))
        parts.append(Self.decoding(properties, patterns))
        parts.append(Self.encoding(properties, patterns))
        let conformances = [
            table.isWritable ? "OldTable" : "OldView", identifier == nil ? nil : "Identifiable",
        ]
        let subject =
            switch table.kind {
            case .table: "Table"
            case .view: "View"
            case .virtualTable: "Virtual table"
            }
        let note = table.isWritable ? "" : ", for reading"
        text = """
            /// \(subject) `\(table.name.text.inComment)`\(note).
            struct \(type): \(conformances.compactMap(\.self).joined(separator: ", ")) {
            \(parts.filter { !$0.isEmpty }.joined(separator: "\n\n").indented(4))
            }
            """
    }

    /// Returns the property by which GRDB finds a row, if there is one and GRDB stores it as this code does.
    private static func identifier(_ table: TypedTable, _ properties: [Property]) -> Property? {
        guard table.isWritable, table.key.count == 1,
            let property = properties.first(where: { $0.column.name == table.key[0] }),
            case .plain = property.column.coding, !property.column.isOptional
        else { return nil }
        return property.name == "id" || !properties.contains { $0.name == "id" } ? property : nil
    }

    private static func head(_ table: TypedTable) -> String {
        var lines = ["static var databaseTableName: String { \(table.name.text.swiftLiteral) }"]
        if !table.key.isEmpty {
            let key = table.key.map(\.text.swiftLiteral).joined(separator: ", ")
            lines.append("static var databaseKey: [String] { [\(key)] }")
        }
        if table.columns.contains(where: { $0.role == .rowID }) {
            lines.append("static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }")
        }
        return lines.map(broken).joined(separator: "\n")
    }

    private static func declaration(_ property: Property) -> String {
        switch property.column.role {
        case .stored: "var \(property.declared): \(property.type)"
        case .generated:
            "private(set) var \(property.declared): \(property.type)"
                + (property.column.isOptional ? "" : " = .null")
        case .automaticKey, .rowID:
            property.column.coding == .plain("Int64")
                ? "var \(property.declared): Int64 = newRowID" : "var \(property.declared): \(property.type)"
        }
    }

    private static func columns(_ properties: [Property]) -> String {
        guard !properties.isEmpty else { return "" }
        let lines = properties.map { property in
            let column =
                property.column.role == .rowID
                ? ".rowID" : "Column(\(property.column.name.text.swiftLiteral))"
            return broken("static var \(property.declared): Column { \(column) }", depth: 16).indented(4)
        }
        return "enum Columns {\n\(lines.joined(separator: "\n"))\n}"
    }

    private static func decoding(_ properties: [Property], _ patterns: DatePatterns) -> String {
        let arguments = properties.map { property in
            // The one word of the language that is no label.
            "\(property.name == "inout" ? property.declared : property.name): \(read(property, patterns))"
        }
        let call =
            arguments.count == 1
            ? "try Self(\(arguments[0]))" : "try Self(\n\(arguments.joined(separator: ",\n").indented(4)))"
        return """
            static func decode(_ row: StoredRow) throws -> Self {
            \(call.indented(4))
            }
            """
    }

    private static func read(_ property: Property, _ patterns: DatePatterns) -> String {
        let function = property.column.isOptional ? "optional" : "value"
        let name = property.column.name.text.swiftLiteral
        let coding: String? =
            switch property.column.coding {
            case .plain, .any: nil
            case .date(.grdb): ".text"
            case .date(.pattern(let pattern)): patterns.name(of: pattern)
            case .date(.secondsSince1970): ".secondsSince1970"
            case .date(.millisecondsSince1970): ".millisecondsSince1970"
            case .date(.secondsSince2001): ".secondsSince2001"
            case .uuid(let isUppercase): isUppercase ? ".uppercase" : ".lowercase"
            case .rawValue: ".rawValue"
            case .json: ".json"
            }
        if property.column.coding == .any { return "row.stored(\(name))" }
        return "row.\(function)(\(name)\(coding.map { ", as: \($0)" } ?? ""))"
    }

    private static func encoding(_ properties: [Property], _ patterns: DatePatterns) -> String {
        let stored = properties.filter { $0.column.role != .generated }
        guard !stored.isEmpty else { return "func encode(to container: inout PersistenceContainer) {}" }
        var canThrow = false
        let lines = stored.map { property -> String in
            let value = write(property, patterns)
            if value.hasPrefix("try ") { canThrow = true }
            return "    container[\(property.column.name.text.swiftLiteral)] = \(value)"
        }
        return """
            func encode(to container: inout PersistenceContainer) \(canThrow ? "throws " : ""){
            \(lines.joined(separator: "\n"))
            }
            """
    }

    private static func write(_ property: Property, _ patterns: DatePatterns) -> String {
        // A property named `container` would mean the parameter.
        let name = property.name == "container" ? "self.container" : property.declared
        func coded(_ coding: String) -> String { "try \(coding).store(\(name))" }
        switch property.column.coding {
        case .plain("Int64") where [.automaticKey, .rowID].contains(property.column.role):
            return "\(name) == newRowID ? nil : \(name)"
        case .plain, .any, .date(.grdb): return name
        case .date(.pattern(let pattern)): return coded(patterns.name(of: pattern))
        case .date(.secondsSince1970): return coded("Coding.secondsSince1970")
        case .date(.millisecondsSince1970): return coded("Coding.millisecondsSince1970")
        case .date(.secondsSince2001): return coded("Coding.secondsSince2001")
        case .uuid(let isUppercase): return coded(isUppercase ? "Coding.uppercase" : "Coding.lowercase")
        case .rawValue: return property.column.isOptional ? "\(name)?.rawValue" : "\(name).rawValue"
        case .json: return coded("Coding.json")
        }
    }

    /// Returns a computed property, on three lines if it is too long for one.
    private static func broken(_ line: String) -> String { broken(line, depth: 12) }

    private static func broken(_ line: String, depth: Int) -> String {
        guard line.count + depth > lineLength, let brace = line.firstIndex(of: "{"), line.hasSuffix(" }")
        else {
            return line
        }
        let body = line[line.index(after: brace)...].dropLast(2).drop { $0 == " " }
        return "\(line[...brace])\n    \(body)\n}"
    }
}
