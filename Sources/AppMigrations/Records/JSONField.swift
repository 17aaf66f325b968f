import Foundation

/// A value in a store's document, and its path for messages: `managers.Library.floor`.
struct JSONField {
    let value: JSONValue?
    private let parent: String
    private let key: String?

    init(value: JSONValue?, path: String) {
        self.init(value, in: path, key: nil)
    }

    private init(_ value: JSONValue?, in parent: String, key: String?) {
        self.value = value
        self.parent = parent
        self.key = key
    }

    // Computed for messages alone: every launch reads a dozen fields of every record.
    private var path: String { key.map { "\(parent).\($0)" } ?? parent }

    /// The field, or nil when the document does not have it.
    ///
    /// A `null` is not absent: it is damage.
    var ifPresent: JSONField? { value == nil ? nil : self }

    /// A field of this field, which must be an object.
    func field(_ key: String) throws -> JSONField {
        JSONField(try object()[key], in: path, key: key)
    }

    func object() throws -> [String: JSONValue] {
        guard case .object(let fields) = value else { throw unexpected("an object") }
        return fields
    }

    func list() throws -> [JSONField] {
        guard case .array(let values) = value else { throw unexpected("a list") }
        return values.map { JSONField(value: $0, path: path) }
    }

    func text() throws -> String {
        guard case .string(let text) = value else { throw unexpected("a text") }
        return text
    }

    func version() throws -> AppVersion {
        try version(value)
    }

    func versions() throws -> SortedSet<AppVersion> {
        guard case .array(let values) = value else { throw unexpected("a list") }
        return SortedSet(try values.map(version))
    }

    private func version(_ value: JSONValue?) throws -> AppVersion {
        guard case .string(let text) = value else { throw unexpected("a version") }
        do {
            return try AppVersion(parsing: text)
        } catch {
            throw damage("\(error)")
        }
    }

    /// A whole number from 0 up to a limit.
    func count(upTo limit: Int) throws -> Int {
        let count: Int? =
            switch value {
            case .integer(let number): Int(exactly: number)
            case .number(let number): Int(exactly: number)
            default: nil
            }
        guard let count else { throw unexpected("a whole number") }
        guard (0...limit).contains(count) else { throw damage("\(count) is out of range") }
        return count
    }

    /// The fields of an object whose keys are versions.
    func byVersion<Value>(_ value: (JSONField) throws -> Value) throws -> [AppVersion: Value] {
        try object().reduce(into: [:]) { values, field in
            let version = try JSONField(value: .string(field.key), path: path).version()
            values[version] = try value(self.field(field.key))
        }
    }

    func date() throws -> Date {
        let text = try text()
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw damage("\"\(text)\" is not a date")
        }
        return date
    }

    private func unexpected(_ expected: String) -> MigrationError { damage("expected \(expected)") }

    private func damage(_ problem: String) -> MigrationError {
        .damagedStore("damaged at \(path): \(problem)")
    }
}

extension Date {
    /// The date, or one that can be read back if a clock is off by thousands of years.
    var recordable: Date { min(max(self, .distantPast), .distantFuture) }

    /// The date as records have it.
    var recordText: String { recordable.formatted(.iso8601) }
}

extension MigrationError {
    /// Creates the error for contents that this package did not write.
    ///
    /// The caller that knows the store adds its name; see ``StoreAccess``.
    static func damagedStore(_ problem: String, underlyingError: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .damagedStore, problem,
            remedy: "Nothing was changed. Restore it from a backup, or call replaceRecord(assuming:).",
            underlyingError: underlyingError)
    }
}
