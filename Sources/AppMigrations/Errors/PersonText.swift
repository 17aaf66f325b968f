import Foundation

/// The sentences that people read, which an app can translate or replace.
///
/// Copy `AppMigrations.strings` from the package's sources into your app, and translate it: the package looks a sentence up
/// in the table `AppMigrations` of the main bundle first.
package enum PersonText {
    /// Returns the sentence for a key, as in `error.diskFull`.
    static func text(_ key: String) -> String {
        // The answer is the key, or nothing, where there is no such table.
        let own = Bundle.main.localizedString(forKey: key, value: key, table: "AppMigrations")
        return own == key || own.isEmpty ? english[key] ?? key : own
    }

    /// Returns the sentence for the code of an error.
    static func text(for code: MigrationError.Code) -> String {
        let key = "error.\(code)"
        return text(english[key] == nil ? "error.other" : key)
    }

    /// Returns the sentence for a key, with its subject and two numbers put in.
    package static func text(_ key: String, _ first: Int, _ second: Int, subject: String? = nil) -> String {
        let values = [subject, first.formatted(), second.formatted()].compactMap(\.self)
        return values.enumerated().reduce(text(key)) { text, value in
            text.replacingOccurrences(of: "%\(value.offset + 1)$@", with: value.element)
        }
    }

    /// The package's own sentences, by their keys.
    package static let english: [String: String] = {
        let file = String(decoding: PackageResources.AppMigrations_strings, as: UTF8.self)
        var texts: [String: String] = [:]
        for line in file.split(separator: "\n") where line.hasPrefix("\"") {
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            if parts.count == 5 { texts[String(parts[1])] = String(parts[3]) }
        }
        return texts
    }()
}
