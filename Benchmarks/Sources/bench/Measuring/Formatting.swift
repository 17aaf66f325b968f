import Foundation

extension Double {
    /// Three digits that count.
    var short: String {
        let digits = self >= 100 ? 0 : self >= 10 ? 1 : 2
        let text = String(format: "%.\(digits)f", self)
        return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
    }

    /// A number of seconds, in the unit that suits it.
    var asTime: String {
        switch self {
        case 1...: "\(short) s"
        case 1e-3...: "\((self * 1e3).short) ms"
        case 1e-6...: "\((self * 1e6).short) µs"
        default: "\((self * 1e9).short) ns"
        }
    }
}

extension Int {
    /// As people write large numbers.
    var grouped: String {
        formatted(.number.locale(Locale(identifier: "en_US")).grouping(.automatic))
    }
}
