/// A Swift literal of a text, with exactly the same bytes.
package struct SwiftLiteral {
    package let text: String

    package init(_ value: String) {
        self.init(value, hashCount: Self.hashCount(for: value.unicodeScalars), isLong: false, indentation: "")
    }

    /// Creates a literal as a person would write it: without `#` unless it needs one.
    ///
    /// - Parameter lines: the indentation of the lines of a literal of several lines; nil for one line if that can be.
    package init(readable value: String, indentingLinesBy lines: String?) {
        let needsHash = value.contains("\\") || value.contains(lines == nil ? "\"" : "\"\"\"")
        self.init(
            value, hashCount: needsHash ? Self.hashCount(for: value.unicodeScalars) : 0, isLong: lines != nil,
            indentation: lines ?? "")
    }

    private init(_ value: String, hashCount count: Int, isLong: Bool, indentation: String) {
        // Scalars, not characters: CR LF is one character, but both scalars count.
        let scalars = value.unicodeScalars
        let escapesAll = count > Self.maximumHashCount
        let hashes = String(repeating: "#", count: escapesAll ? 1 : count)
        // The compiler accepts tabs only in literals of several lines.
        let isLong = isLong || scalars.contains { $0 == "\n" || $0 == "\t" }
        var body = isLong ? indentation : ""
        for scalar in scalars {
            let isDelimiter = escapesAll && (scalar == "\"" || scalar == "\\")
            body += isDelimiter ? "\\\(hashes)\(scalar)" : Self.escaped(scalar, hashes)
            if scalar == "\n" { body += indentation }
        }
        text =
            isLong
            ? "\(hashes)\"\"\"\n\(body)\n\(indentation)\"\"\"\(hashes)"
            : "\(hashes)\"\(body)\"\(hashes)"
    }

    /// Creates a literal of one line and without `#`, the only kind that `#sourceLocation` accepts.
    init(plain value: String) {
        let body = value.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\n", "\t": "\\u{\(String(scalar.value, radix: 16))}"
            default: Self.escaped(scalar, "")
            }
        }
        text = "\"\(body.joined())\""
    }

    /// The most `#` that the compiler accepts before an escape.
    private static let maximumHashCount = 255

    /// Returns one more than the longest run of `#` that follows a quote or a backslash in the text.
    private static func hashCount(for scalars: String.UnicodeScalarView) -> Int {
        var longest = 0
        var current: Int?
        for scalar in scalars {
            switch scalar {
            case "\"", "\\": current = 0
            case "#": current = current.map { $0 + 1 }
            default: current = nil
            }
            longest = max(longest, current ?? 0)
        }
        return longest + 1
    }

    /// Returns a scalar, escaped if the compiler would change or refuse it, or an editor would not show it.
    private static func escaped(_ scalar: Unicode.Scalar, _ hashes: String) -> String {
        switch scalar.properties.generalCategory {
        case .control where scalar == "\n" || scalar == "\t": String(scalar)
        // The compiler accepts these noncharacters as they are, and no escape of them.
        case .unassigned where (0xfdd0...0xfdef).contains(scalar.value): String(scalar)
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
            "\\\(hashes)u{\(String(scalar.value, radix: 16))}"
        default: String(scalar)
        }
    }
}
