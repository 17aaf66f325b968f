/// The part of a generated file that its types share: how they read and write rows.
///
/// Everything is nonisolated: closures that get a database are on no actor, while a new app of Xcode's is on the main
/// actor unless it says otherwise.
struct SchemaTypesRuntime {
    /// The text of the part.
    let text: String

    /// Writes what some schemas need.
    init(_ schemas: [TypedSchema], name: String) {
        let columns = schemas.flatMap { $0.tables.flatMap(\.columns) }
        let codings = Set(columns.map(\.coding))
        var types = [Self.protocols]
        if columns.contains(where: { [.automaticKey, .rowID].contains($0.role) }) {
            types.append(Self.newRowID)
        }
        types.append(Self.storedRow)
        let coded = codings.contains { if case .plain = $0 { false } else { $0 != .any } }
        if coded { types.append(Self.coding) }
        types += [Self.unreadableValue, Self.codableValue]
        var extensions = [Self.codable]
        if coded { extensions += [Self.codedReads] + Self.extensions(for: codings) }
        text = """

            nonisolated extension \(name) {
            \(types.joined(separator: "\n\n").indented(4))
            }

            \(extensions.joined(separator: "\n\n").replacing("NAME", with: name))

            """
    }

    private static func extensions(for codings: Set<ColumnCoding>) -> [String] {
        var dates: [String] = []
        if codings.contains(.date(.grdb)) { dates.append(textDate) }
        if codings.contains(where: { if case .date(.pattern) = $0 { true } else { false } }) {
            dates.append(pattern)
        }
        if codings.contains(.date(.secondsSince1970)) {
            dates.append(
                number("secondsSince1970", "Date(timeIntervalSince1970: $0)", "$0.timeIntervalSince1970"))
        }
        if codings.contains(.date(.millisecondsSince1970)) {
            dates.append(
                number(
                    "millisecondsSince1970", "Date(timeIntervalSince1970: $0 / 1000)",
                    "$0.timeIntervalSince1970 * 1000"))
        }
        if codings.contains(.date(.secondsSince2001)) {
            dates.append(
                number(
                    "secondsSince2001", "Date(timeIntervalSinceReferenceDate: $0)",
                    "$0.timeIntervalSinceReferenceDate"))
        }
        if dates.contains(where: { $0.contains("number(") }) { dates.append(numbers) }
        var extensions: [String] = []
        if !dates.isEmpty {
            extensions.append(
                "nonisolated extension NAME.Coding where Value == Date {\n\(dates.joined(separator: "\n\n").indented(4))\n}"
            )
        }
        let uuids = [(true, "uppercase", ""), (false, "lowercase", ".lowercased()")]
            .filter { codings.contains(.uuid(isUppercase: $0.0)) }
            .map { uuid($0.1, "uuidString\($0.2)") }
        if !uuids.isEmpty {
            extensions.append(
                "nonisolated extension NAME.Coding where Value == UUID {\n\(uuids.joined(separator: "\n\n").indented(4))\n}"
            )
        }
        if codings.contains(where: { if case .rawValue = $0 { true } else { false } }) {
            extensions.append(rawValue)
        }
        if codings.contains(where: { if case .json = $0 { true } else { false } }) { extensions.append(json) }
        return extensions
    }

    // MARK: Always

    private static let protocols = """
        /// A table whose rows can be read and written.
        protocol OldTable: OldView, PersistableRecord {}

        /// A table or a view whose rows can be read.
        protocol OldView: Codable, FetchableRecord, EncodableRecord, TableRecord, Sendable {
            /// The columns of the primary key.
            static var databaseKey: [String] { get }

            /// Reads a row, each value exactly or not at all.
            static func decode(_ row: StoredRow) throws -> Self
        }
        """

    private static let newRowID = """
        /// The key of a row that is yet to be inserted: SQLite chooses another one.
        static let newRowID = Int64.min
        """

    private static let storedRow = #"""
        /// A row as the database holds it.
        struct StoredRow {
            let row: Row
            let table: String
            let key: [String]
            var isWhole = true

            func stored(_ column: String) throws -> DatabaseValue {
                if let value = row[column] as DatabaseValue? { return value }
                guard isWhole, !row.hasColumn(column) else { return .null }
                throw unreadable(column, "was not fetched")
            }

            func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
                guard let value: Value = try optional(column) else { throw unreadable(column, "is NULL") }
                return value
            }

            func optional<Value: DatabaseValueConvertible>(_ column: String) throws -> Value? {
                let stored = try stored(column)
                if stored.isNull { return nil }
                guard let value = Value.fromDatabaseValue(stored), value.databaseValue == stored else {
                    throw unreadable(column, stored, "\(Value.self)")
                }
                return value
            }

            func unreadable(_ column: String, _ stored: DatabaseValue, _ type: String) -> UnreadableValue {
                let found =
                    switch stored.storage {
                    case .null: "NULL"
                    case .int64: "an integer"
                    case .double: "a real number"
                    case .string: "a text"
                    case .blob: "a blob"
                    }
                return unreadable(column, "holds \(found) that \(type) cannot hold unchanged")
            }

            private func unreadable(_ column: String, _ problem: String) -> UnreadableValue {
                let values = key.map { "\($0) = \((row[$0] as DatabaseValue?) ?? .null)" }
                return UnreadableValue(
                    table: table, key: values.joined(separator: ", "), column: column, problem: problem)
            }
        }
        """#

    private static let unreadableValue = #"""
        /// A value that the type of its column cannot hold.
        struct UnreadableValue: Error, CustomStringConvertible {
            let table: String
            /// The columns of the row's key, with their values.
            let key: String
            let column: String
            let problem: String

            var description: String {
                "Table \(table)\(key.isEmpty ? "" : ", row \(key)"): column \(column) \(problem)."
            }
        }
        """#

    private static let codableValue = """
        /// A value of SQLite's in JSON and other formats, in which a blob must not be taken for a text.
        struct CodableValue: Codable {
            enum CodingKeys: CodingKey {
                case blob
            }

            let value: DatabaseValue

            init(_ value: DatabaseValue) { self.value = value }

            init(from decoder: any Decoder) throws {
                if let container = try? decoder.container(keyedBy: CodingKeys.self) {
                    value = try container.decode(Data.self, forKey: .blob).databaseValue
                    return
                }
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    value = .null
                } else if let number = try? container.decode(Int64.self) {
                    value = number.databaseValue
                } else if let number = try? container.decode(Double.self) {
                    value = number.databaseValue
                } else {
                    value = try container.decode(String.self).databaseValue
                }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch value.storage {
                case .null: try container.encodeNil()
                case .int64(let number): try container.encode(number)
                case .double(let number): try container.encode(number)
                case .string(let text): try container.encode(text)
                case .blob(let data): try container.encode(["blob": data])
                }
            }
        }
        """

    private static let codable = """
        nonisolated extension NAME.OldView {
            static var databaseKey: [String] { [] }

            init(row: Row) throws {
                self = try Self.decode(
                    NAME.StoredRow(row: row, table: Self.databaseTableName, key: Self.databaseKey))
            }

            init(from decoder: any Decoder) throws {
                let values = try [String: NAME.CodableValue](from: decoder).mapValues(\\.value)
                self = try Self.decode(
                    NAME.StoredRow(
                        row: Row(values), table: Self.databaseTableName, key: Self.databaseKey, isWhole: false))
            }

            func encode(to encoder: any Encoder) throws {
                try databaseDictionary.mapValues(NAME.CodableValue.init).encode(to: encoder)
            }
        }
        """

    // MARK: Where a column needs it

    private static let coding = #"""
        /// How a column stores a type.
        struct Coding<Value: Sendable>: Sendable {
            let read: @Sendable (DatabaseValue) -> Value?
            let write: @Sendable (Value) throws -> DatabaseValue

            func store(_ value: Value?) throws -> DatabaseValue { try value.map(write) ?? .null }
        }
        """#

    private static let codedReads = """
        nonisolated extension NAME.StoredRow {
            func value<Value>(_ column: String, as coding: NAME.Coding<Value>) throws -> Value {
                let stored = try stored(column)
                guard let value = coding.read(stored) else { throw unreadable(column, stored, "\\(Value.self)") }
                return value
            }

            func optional<Value>(_ column: String, as coding: NAME.Coding<Value>) throws -> Value? {
                try stored(column).isNull ? nil : value(column, as: coding)
            }
        }
        """

    private static let textDate = """
        /// A text as GRDB writes it, or with less of the time.
        static var text: Self {
            Self(
                read: { stored in
                    guard case .string(let text) = stored.storage, text.utf8.count > 10,
                        let date = Date.fromDatabaseValue(stored)
                    else { return nil }
                    let time = text.replacing("T", with: " ", maxReplacements: 1)
                    let whole = time + "0000-00-00 00:00:00.000".dropFirst(time.count)
                    return date.databaseValue == whole.databaseValue ? date : nil
                },
                write: { $0.databaseValue })
        }
        """

    private static let pattern = """
        /// A text in a pattern of DateFormatter, in UTC.
        static func pattern(_ pattern: String) -> Self {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = pattern
            return Self(
                read: { stored in
                    guard case .string(let text) = stored.storage, let date = formatter.date(from: text),
                        formatter.string(from: date) == text
                    else { return nil }
                    return date
                },
                write: { formatter.string(from: $0).databaseValue })
        }
        """

    private static func number(_ name: String, _ read: String, _ write: String) -> String {
        """
        static var \(name): Self {
            number({ \(read) }, { \(write) })
        }
        """
    }

    private static let numbers = """
        /// A number, to the microsecond.
        private static func number(
            _ date: @escaping @Sendable (Double) -> Date, _ number: @escaping @Sendable (Date) -> Double
        ) -> Self {
            @Sendable func write(_ date: Date) -> DatabaseValue {
                let value = (number(date) * 1_000_000).rounded() / 1_000_000
                return Int64(exactly: value)?.databaseValue ?? value.databaseValue
            }
            return Self(
                read: { stored in
                    switch stored.storage {
                    case .int64, .double: break
                    default: return nil
                    }
                    guard let value = Double.fromDatabaseValue(stored) else { return nil }
                    let date = date(value)
                    return write(date) == stored ? date : nil
                },
                write: { write($0) })
        }
        """

    private static func uuid(_ name: String, _ text: String) -> String {
        """
        /// A text in \(name) letters.
        static var \(name): Self {
            Self(
                read: { stored in
                    guard case .string(let text) = stored.storage, let uuid = UUID(uuidString: text) else {
                        return nil
                    }
                    return uuid.\(text) == text ? uuid : nil
                },
                write: { $0.\(text).databaseValue })
        }
        """
    }

    private static let rawValue = """
        nonisolated extension NAME.Coding where Value: RawRepresentable, Value.RawValue: DatabaseValueConvertible {
            /// The raw value.
            static var rawValue: Self {
                Self(
                    read: { stored in
                        guard let raw = Value.RawValue.fromDatabaseValue(stored), raw.databaseValue == stored else {
                            return nil
                        }
                        return Value(rawValue: raw)
                    },
                    write: { $0.rawValue.databaseValue })
            }
        }
        """

    private static let json = """
        nonisolated extension NAME.Coding where Value: Codable {
            /// A JSON text, which is written with sorted keys.
            static var json: Self {
                Self(
                    read: { stored in
                        guard case .string(let text) = stored.storage else { return nil }
                        return try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
                    },
                    write: { value in
                        let encoder = JSONEncoder()
                        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                        return try String(decoding: encoder.encode(value), as: UTF8.self).databaseValue
                    })
            }
        }
        """
}
