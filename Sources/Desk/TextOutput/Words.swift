package import Foundation

extension Int {
    /// Returns the number with a noun, such as `1 migration` or `2 migrations`.
    package func counting(_ noun: String, _ plural: String? = nil) -> String {
        self == 1 ? "1 \(noun)" : "\(self) \(plural ?? noun + "s")"
    }
}

extension Duration {
    /// The duration in milliseconds or seconds.
    package var asText: String {
        self < .seconds(1)
            ? String(format: "%.1f ms", self / .milliseconds(1))
            : String(format: "%.2f s", self / .seconds(1))
    }
}

extension Int64 {
    /// The number of bytes, in a suitable unit.
    package var asSize: String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(self)
        var unit = 0
        while value >= 1_024, unit < units.count - 1 {
            value /= 1_024
            unit += 1
        }
        return unit == 0 ? "\(self) B" : String(format: "%.1f \(units[unit])", value)
    }
}

extension Date {
    /// The date and the time, in UTC.
    package var asText: String { formatted(.iso8601) }
}

extension String {
    /// The name in backticks, as sentences show it.
    package var quoted: String { "`\(self)`" }

    /// The text as one word of a shell's command.
    package var shellWord: String {
        // A quote with a combining mark is one character, but two of the shell's.
        let isPlain = wholeMatch(of: /[A-Za-z0-9_.=\/:@-]+/) != nil
        return isPlain ? self : "'\(unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined())'"
    }

    /// The text without line breaks.
    package var inOneLine: String { split(whereSeparator: \.isNewline).joined(separator: " ") }

    /// The text with a single space for each run of white space.
    package var withSingleSpaces: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    /// Returns the text, or its beginning if it is longer than so many characters.
    package func shortened(to limit: Int) -> String {
        count > limit ? prefix(limit) + "…" : self
    }

    /// Returns the text, padded with spaces on the right.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension Sequence<String> {
    /// The texts as a list in a sentence, such as `1, 2 and 3`.
    package var asList: String {
        let all = Array(self)
        guard all.count > 1, let last = all.last else { return all.first ?? "" }
        return all.dropLast().joined(separator: ", ") + " and " + last
    }
}
