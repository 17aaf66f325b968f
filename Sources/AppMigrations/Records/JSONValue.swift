import Foundation

/// A JSON value of any shape, so that keys written by a newer version survive being read and written back.
enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A whole number above those of `Int64`.
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

// By `JSONSerialization`, several times as fast as `JSONDecoder` for values of any shape.
extension JSONValue {
    /// Parses JSON text in UTF-8.
    ///
    /// - Throws: `JSONSerialization`'s error when the text is not JSON.
    init(parsing data: Data) throws {
        self.init(try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed))
    }

    private init(_ object: Any) {
        switch object {
        case let text as String: self = .string(text)
        // Before numbers: to ask whether a container is an `NSNumber` bridges everything in it.
        case let object as [String: Any]: self = .object(object.mapValues(JSONValue.init))
        case let list as [Any]: self = .array(list.map(JSONValue.init))
        case let number as NSNumber: self.init(number)
        default: self = .null
        }
    }

    private init(_ number: NSNumber) {
        // NSNumber knows by its type alone whether it came from `true` or from `1`.
        switch number.objCType.pointee {
        case CChar(UInt8(ascii: "c")), CChar(UInt8(ascii: "B")): self = .bool(number.boolValue)
        case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): self = .number(number.doubleValue)
        default:
            self =
                Int64(exactly: number).map(JSONValue.integer)
                ?? UInt64(exactly: number).map(JSONValue.unsigned) ?? .number(number.doubleValue)
        }
    }

    /// The value as JSON text in UTF-8, its keys in a stable order.
    func text(_ options: JSONSerialization.WritingOptions = []) throws -> Data {
        try JSONSerialization.data(
            withJSONObject: object,
            options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed, options])
    }

    private var object: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .integer(let value): value
        case .unsigned(let value): value
        case .number(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.object)
        case .object(let values): values.mapValues(\.object)
        }
    }
}

/// A value in a store's document, and its path for messages: `managers.Library.floor`.
struct JSONField {
    let value: JSONValue?
    private let parent: String
    private let key: String?

    init(value: JSONValue?, path parent: String, key: String? = nil) {
        self.value = value
        self.parent = parent
        self.key = key
    }

    // Computed for messages alone: every launch reads a dozen fields of every record.
    private var path: String { if let key { "\(parent).\(key)" } else { parent } }

    /// A field of this field, which must be an object.
    @inline(never)
    func field(_ key: String) throws -> JSONField {
        JSONField(value: try object()[key], path: path, key: key)
    }

    /// A field of this field, which must be an object; nil when the document does not have it.
    ///
    /// A `null` is not absent: it is damage.
    func fieldIfPresent(_ key: String) throws -> JSONField? {
        try object()[key].map { JSONField(value: $0, path: path, key: key) }
    }

    @inline(never)
    func textIfPresent(_ key: String) throws -> String? { try fieldIfPresent(key)?.text() }

    @inline(never)
    func versionIfPresent(_ key: String) throws -> AppVersion? { try fieldIfPresent(key)?.version() }

    @inline(never)
    func countIfPresent(_ key: String, upTo limit: Int) throws -> Int? {
        try fieldIfPresent(key)?.count(upTo: limit)
    }

    /// Returns whether a field of this field is there, and `true`.
    func isTrue(_ key: String) throws -> Bool {
        if case .bool(true) = try object()[key] { true } else { false }
    }

    @inline(never)
    func object() throws -> [String: JSONValue] {
        guard case .object(let fields) = value else { throw unexpected("an object") }
        return fields
    }

    func list() throws -> [JSONField] {
        guard case .array(let values) = value else { throw unexpected("a list") }
        return values.map { JSONField(value: $0, path: path) }
    }

    func texts() throws -> [String] {
        guard case .array(let values) = value else { throw unexpected("a list") }
        return try values.map { value in
            guard case .string(let text) = value else { throw unexpected("a text") }
            return text
        }
    }

    @inline(never)
    func text() throws -> String {
        guard case .string(let text) = value else { throw unexpected("a text") }
        return text
    }

    func version() throws -> AppVersion {
        guard case .string(let text) = value else { throw unexpected("a version") }
        return try version(in: text)
    }

    /// Parses the version in a part of the field's text, or of one of its keys.
    @inline(never)
    func version(in text: String) throws -> AppVersion {
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
        guard count >= 0, count <= limit else { throw damage("\(count) is out of range") }
        return count
    }

    func date() throws -> Date {
        let text = try text()
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw damage("\"\(text)\" is not a date")
        }
        return date
    }

    // Not inlined: a dozen functions call them.

    @inline(never)
    private func unexpected(_ expected: String) -> MigrationError { damage("expected \(expected)") }

    @inline(never)
    func damage(_ problem: String) -> MigrationError {
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
    package static func damagedStore(_ problem: String, underlyingError: (any Error)? = nil) -> MigrationError
    {
        MigrationError(
            .damagedStore, problem,
            remedy: "Nothing was changed. Restore it from a backup, or call replaceRecord(assuming:).",
            underlyingError: underlyingError)
    }
}
