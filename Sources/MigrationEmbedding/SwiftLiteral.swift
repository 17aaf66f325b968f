/// A text as a literal of Swift, which gives back the very same bytes.
package struct SwiftLiteral {
    package let text: String

    package init(_ value: String) {
        // Scalars, not characters: CR LF is one character, and each of both counts.
        let scalars = value.unicodeScalars
        let hashes = String(repeating: "#", count: Self.hashCount(for: scalars))
        // The compiler takes tabs in literals of several lines only.
        let isLong = scalars.contains { $0 == "\n" || $0 == "\t" }
        var body = ""
        for scalar in scalars { body += Self.escaped(scalar, hashes) }
        text =
            isLong
            ? "\(hashes)\"\"\"\n\(body)\n\"\"\"\(hashes)" : "\(hashes)\"\(body)\"\(hashes)"
    }

    /// A literal of one line and without `#`, which is all that `#sourceLocation` takes.
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

    /// As many as no quote and no backslash in the text is followed by, and one more.
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

    /// A scalar as it is, but for those that the compiler changes or refuses, or that an editor does not
    /// show.
    private static func escaped(_ scalar: Unicode.Scalar, _ hashes: String) -> String {
        switch scalar.properties.generalCategory {
        case .control where scalar == "\n" || scalar == "\t": String(scalar)
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
            "\\\(hashes)u{\(String(scalar.value, radix: 16))}"
        default: String(scalar)
        }
    }
}
