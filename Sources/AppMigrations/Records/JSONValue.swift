import Foundation

/// A JSON value of any shape, so that keys written by a newer version survive being read and written back.
enum JSONValue: Hashable, Sendable {
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

// For stores that keep a ``StoreState`` by an encoder of their own.
extension JSONValue: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let values = try? container.decode([JSONValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }
}
