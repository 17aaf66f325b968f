/// A date, a time, or both, in a form of ISO 8601.
struct NoiseDate {
    private let text: String
    private let hasDate: Bool
    private let separator: String
    private let hasTime: Bool
    private let hasSeconds: Bool
    private let fraction: String?
    private let zone: String?

    /// Reads a text; nil if it is not a date.
    init?(_ text: String) {
        guard text.utf8.count <= 64, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let form =
            #/([0-9]{4}-[0-9]{2}-[0-9]{2})?([T ]?)([0-9]{2}:[0-9]{2})?(:[0-9]{2})?([.,][0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?/#
            .matchingSemantics(.unicodeScalar)
        guard let parts = text.wholeMatch(of: form)?.output, parts.1 != nil || parts.3 != nil,
            parts.2.isEmpty == (parts.1 == nil || parts.3 == nil), parts.3 != nil || parts.4 == nil
        else { return nil }
        self.text = text
        hasDate = parts.1 != nil
        separator = String(parts.2)
        hasTime = parts.3 != nil
        hasSeconds = parts.4 != nil
        fraction = parts.5.map(String.init)
        zone = parts.6.map(String.init)
    }

    /// Returns a valid date in the same form, with another year, other digits and another time zone.
    func noise(using random: inout some RandomNumberGenerator) -> String {
        var date = candidate(using: &random)
        // The day, the `T` and the hour are a run as well; a time without seconds has none.
        for _ in 0..<100 where date == text || sharesRun(date) { date = candidate(using: &random) }
        return date
    }

    private func candidate(using random: inout some RandomNumberGenerator) -> String {
        func two(_ range: ClosedRange<Int>) -> String {
            let number = Int.random(in: range, using: &random)
            return number < 10 ? "0\(number)" : "\(number)"
        }
        /// Tries until no four digits in a row are in the text.
        func other(_ make: () -> String) -> String {
            var found = make()
            for _ in 0..<100 where sharesRun(found) { found = make() }
            return found
        }
        var date = ""
        if hasDate {
            date += other { "\(Int.random(in: 1_970...2_069, using: &random))" } + "-"
            date += two(1...12) + "-" + two(1...28)
        }
        date += separator
        if hasTime { date += two(0...23) + ":" + two(0...59) }
        if hasSeconds { date += ":" + two(0...59) }
        if let fraction {
            date += fraction.prefix(1)
            date += other {
                String(fraction.dropFirst().map { _ in "0123456789".randomElement(using: &random) ?? "0" })
            }
        }
        guard let zone, zone != "Z" else { return date + (zone ?? "") }
        return date + zone.prefix(1)
            + other {
                two(0...12) + (zone.contains(":") ? ":" : "") + (Bool.random(using: &random) ? "00" : "30")
            }
    }

    private func sharesRun(_ digits: String) -> Bool {
        let bytes = Array(digits.utf8)
        let all = Array(text.utf8)
        guard bytes.count >= 4, all.count >= 4 else { return digits == text }
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & 0xdf)
        }
        return (0...bytes.count - 4).contains { start in
            bytes[start..<start + 4].allSatisfy(isLetterOrDigit)
                && (0...all.count - 4).contains { all[$0..<$0 + 4] == bytes[start..<start + 4] }
        }
    }
}
