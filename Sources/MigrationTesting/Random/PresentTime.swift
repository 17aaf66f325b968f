import Foundation
import MigrationTools
import SchemaMigrations

/// The time of a test, in the forms in which databases keep times.
enum PresentTime {
    private static let day = 86_400.0
    private static let minute = 60.0

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

    /// Returns whether an argument may be the time of a test: a text with a date, or a number about now.
    ///
    /// The answer about a text does not depend on the day.
    static func mayBeArgument(_ literal: String, now: Date) -> Bool {
        let text = SQLName(token: literal).text
        return text.contains(/\d{4}-\d\d-\d\d/) || Double(text).map { isNamed(by: $0, now: now) } == true
    }

    /// Returns whether a statement has the time at which it ran, as an argument or in its text.
    static func isWritten(by statement: TracedStatement) -> Bool {
        isArgument(of: statement)
            || NormalSQL(statement.sql).tokens.contains { $0.isLiteral && isMoment($0.text, since: Date()) }
    }

    /// Returns whether an argument of a statement is about now.
    private static func isArgument(of statement: TracedStatement) -> Bool {
        guard statement.sql != statement.expanded else { return false }
        let own = Set(tokens(of: statement.sql))
        return tokens(of: statement.expanded).contains { token in
            guard !own.contains(token) else { return false }
            let isText = token.hasPrefix("'") || token.first?.isNumber == true
            return isText && isNamed(by: SQLName(token: token).text)
        }
    }

    /// Returns whether a literal in SQL is the moment at which a test runs, which a migration has written there.
    ///
    /// A day alone may as well stand in the code, and does not count.
    static func isMoment(_ literal: String, since start: Date) -> Bool {
        let text = SQLName(token: literal).text
        let (first, last) = (start.addingTimeInterval(-minute), Date().addingTimeInterval(minute))
        if let number = Double(text) {
            let seconds = [
                number, number / 1_000, number + Date.timeIntervalBetween1970AndReferenceDate,
            ]
            return seconds.contains {
                (first.timeIntervalSince1970...last.timeIntervalSince1970).contains($0)
            }
        }
        return stride(from: first, through: last, by: minute).contains { date in
            let day = date.formatted(.iso8601.year().month().day())
            let time = date.formatted(.iso8601.time(includingFractionalSeconds: false)).prefix(5)
            return text.contains("\(day) \(time)") || text.contains("\(day)T\(time)")
        }
    }

    private static func tokens(of sql: String) -> [String] {
        let bytes = Array(sql.utf8)
        // A number with a point is three tokens.
        return SQLLexer(bytes).map { String(decoding: bytes[$0.range], as: UTF8.self) }
    }
}
