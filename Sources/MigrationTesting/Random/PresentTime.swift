import Foundation
import MigrationTools
import SchemaMigrations

/// The time of a test, in the forms in which databases keep times.
enum PresentTime {
    private static let day = 86_400.0

    /// Returns whether a number is about now: seconds since 1970 and since 2001, milliseconds, and Julian days
    /// (lang_datefunc.html).
    static func isNamed(by number: Double, now: Date = Date()) -> Bool {
        let now = now.timeIntervalSince1970
        return abs(number - now) < 2 * day
            || abs(number + Date.timeIntervalBetween1970AndReferenceDate - now) < 2 * day
            || abs(number / 1_000 - now) < 2 * day || abs(number - 2_440_587.5 - now / day) < 2
    }

    /// Returns whether a text holds yesterday's, today's or tomorrow's date, or such a number.
    static func isNamed(by text: String, now: Date = Date()) -> Bool {
        let days = [-day, 0, day].map { now.addingTimeInterval($0).formatted(.iso8601.year().month().day()) }
        return days.contains { text.contains($0) } || Double(text).map { isNamed(by: $0, now: now) } == true
    }

    /// Returns whether an argument of a statement is about now.
    static func isArgument(of statement: TracedStatement, now: Date = Date()) -> Bool {
        guard statement.sql != statement.expanded else { return false }
        let own = Set(tokens(of: statement.sql))
        return tokens(of: statement.expanded).contains { token in
            guard !own.contains(token) else { return false }
            let isText = token.hasPrefix("'") || token.first?.isNumber == true
            return isText && isNamed(by: SQLName(token: token).text, now: now)
        }
    }

    private static func tokens(of sql: String) -> [String] {
        let bytes = Array(sql.utf8)
        // A number with a point is three tokens.
        return SQLLexer(bytes).map { String(decoding: bytes[$0.range], as: UTF8.self) }
    }
}
