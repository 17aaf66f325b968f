package import Foundation

extension Int {
    /// The number with a noun, such as `1 migration` or `2 migrations`.
    package func counting(_ noun: String, _ plural: String? = nil) -> String {
        self == 1 ? "1 \(noun)" : "\(self) \(plural ?? noun + "s")"
    }
}

extension Double {
    /// A number of seconds, as people read it.
    package var asDuration: String {
        self < 1 ? String(format: "%.1f ms", self * 1_000) : String(format: "%.2f s", self)
    }
}

extension Int64 {
    /// A number of bytes, as people read it.
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

extension Sequence<String> {
    /// The texts as a list in a sentence, such as `1, 2 and 3`.
    var asList: String {
        let all = Array(self)
        guard all.count > 1, let last = all.last else { return all.first ?? "" }
        return all.dropLast().joined(separator: ", ") + " and " + last
    }
}
