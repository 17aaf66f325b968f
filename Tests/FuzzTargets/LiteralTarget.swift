import Foundation
import MigrationEmbedding

extension FuzzTarget {
    /// The code that embeds migrations: a reader of Swift's literals finds the very texts in it.
    static let literals = FuzzTarget(
        name: "literals",
        seeds: [
            "SELECT 1;\n", "'\"\"\"'\n###\"", "\"###\t\\#(x)", "\\#n\r\n\\##u{41}\\(x)", "ends with \\",
            "'\"" + String(repeating: "#", count: 300) + "\\\n\t",
            "\\" + String(repeating: "#", count: 256) + "(x)",
            String(
                String.UnicodeScalarView(
                    (0xFDD0...0xFDEF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init))),
            "\u{FEFF}\u{2028}\u{202E}\u{1}\u{7F}🙂 e\u{301}", "*/ /* #if\n#endif\n\"\"\"#",
        ]
    ) { bytes in
        let text = bytes.text
        let embedded = EmbeddedMigrations([
            .sql(version: 1, name: "a", sql: text, down: text),
            .code(
                version: 2, typeName: "B", file: URL(fileURLWithPath: "/" + text.replacing("\0", with: ""))),
        ])
        var reader = LiteralReader(SwiftSource(embedded).text)
        var path = URL(fileURLWithPath: "/" + text.replacing("\0", with: "")).path
        path.unicodeScalars.removeAll { $0 == "\0" }
        let expected = ["a", text, text, path].map { Array($0.utf8) }
        let found = try reader.literals().map { Array($0.utf8) }
        try expect(found == expected, "\(text.debugDescription) is embedded as \(found.map(\.text))")
    }
}

/// Reads the string literals of Swift code, as the language's reference describes them, knowing nothing of the code
/// that writes them.
struct LiteralReader {
    private let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ code: String) { scalars = Array(code.unicodeScalars) }

    /// The values of all literals, in order.
    mutating func literals() throws -> [String] {
        var values: [String] = []
        while position < scalars.count {
            if starts(with: "//") {
                while position < scalars.count, scalars[position] != "\n" { position += 1 }
                continue
            }
            var hashes = 0
            while position + hashes < scalars.count, scalars[position + hashes] == "#" { hashes += 1 }
            if position + hashes < scalars.count, scalars[position + hashes] == "\"" {
                try expect(hashes <= 255, "A literal has \(hashes) times #")
                position += hashes
                values.append(try literal(String(repeating: "#", count: hashes)))
            } else {
                position += max(1, hashes)
            }
        }
        return values
    }

    private mutating func literal(_ hashes: String) throws -> String {
        // `#""""#` holds two quotes: with hashes, a literal that ends in its first line has one.
        let firstLine = scalars.dropFirst(position + 2).prefix { $0 != "\n" && $0 != "\r" }
        let isLong =
            starts(with: "\"\"\"")
            && (hashes.isEmpty || !String(String.UnicodeScalarView(firstLine)).contains("\"" + hashes))
        let quotes = isLong ? "\"\"\"" : "\""
        position += quotes.count
        if isLong {
            try expect(take("\n"), "A literal of several lines begins in its first one")
        }
        var value = String.UnicodeScalarView()
        while !starts(with: quotes + hashes) {
            try expect(position < scalars.count, "A literal has no end")
            if take("\\" + hashes) {
                value.append(try escaped())
                continue
            }
            let scalar = scalars[position]
            // The compiler refuses other control characters, and makes CR LF and a lone CR a line feed.
            try expect(
                scalar.value >= 0x20 && scalar.value != 0x7F || isLong && (scalar == "\n" || scalar == "\t"),
                "U+\(String(scalar.value, radix: 16)) stands in a literal: \(String(String.UnicodeScalarView(scalars)))"
            )
            value.append(scalar)
            position += 1
        }
        position += quotes.count + hashes.count
        if isLong {
            try expect(value.last == "\n" || value.isEmpty, "A literal of several lines ends in its last one")
            if !value.isEmpty { value.removeLast() }
        }
        return String(value)
    }

    private mutating func escaped() throws -> Unicode.Scalar {
        for (letter, scalar) in [
            ("\\", "\\"), ("\"", "\""), ("n", "\n"), ("r", "\r"), ("t", "\t"), ("0", "\0"),
        ]
            as [(String, Unicode.Scalar)] where take(letter)
        {
            return scalar
        }
        try expect(take("u{"), "An escape is none")
        let start = position
        while position < scalars.count, scalars[position] != "}" { position += 1 }
        let digits = String(String.UnicodeScalarView(scalars[start..<position]))
        position += 1
        // The compiler refuses these noncharacters, and no others.
        guard digits.count <= 8, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value),
            !(0xFDD0...0xFDEF).contains(value)
        else {
            throw FuzzTarget.Broken(description: "\\u{\(digits)} is no character")
        }
        return scalar
    }

    private func starts(with text: String) -> Bool {
        scalars[min(position, scalars.count)...].starts(with: text.unicodeScalars)
    }

    private mutating func take(_ text: String) -> Bool {
        guard starts(with: text) else { return false }
        position += text.unicodeScalars.count
        return true
    }
}
