import AppMigrations
import GRDB

// GRDB's texts of these errors hold the row, or its key.

extension RowDecodingError: SystemError {
    var reason: String { words }

    var words: String {
        // As in `could not decode Int from database value 42 - column: …` and `column not found: "title" - row: …`.
        let text = "\(self)"
        if text.hasPrefix("could not decode "), let end = text.firstRange(of: " from database value ") {
            return "\(text[..<end.lowerBound]) from a value of a row"
        }
        if text.hasPrefix("column not found: "), let end = text.firstRange(of: " - row: ") {
            return String(text[..<end.lowerBound])
        }
        return "a row could not be decoded"
    }
}

extension RecordError: SystemError {
    var reason: String { words }

    var words: String {
        switch self {
        case .recordNotFound(let table, _): "table \(table) has no row with this key"
        }
    }
}
