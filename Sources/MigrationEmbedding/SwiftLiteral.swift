/// A Swift literal of a text, with exactly the same bytes.
package struct SwiftLiteral {
    package let text: String

    package init(_ value: String) {
        // Scalars, not characters: CR LF is one character, but both scalars count.
        let scalars = value.unicodeScalars
        let count = Self.hashCount(for: scalars)
        let escapesAll = count > Self.maximumHashCount
        let hashes = String(repeating: "#", count: escapesAll ? 1 : count)
        // The compiler accepts tabs only in literals of several lines.
        let isLong = scalars.contains { $0 == "\n" || $0 == "\t" }
        var body = ""
        for scalar in scalars {
            let isDelimiter = escapesAll && (scalar == "\"" || scalar == "\\")
            body += isDelimiter ? "\\\(hashes)\(scalar)" : Self.escaped(scalar, hashes)
        }
        text =
            isLong
            ? "\(hashes)\"\"\"\n\(body)\n\"\"\"\(hashes)" : "\(hashes)\"\(body)\"\(hashes)"
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
