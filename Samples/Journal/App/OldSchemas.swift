// The tables at earlier versions of the schema. Written by AppMigrations: do not edit it, write it again.
// name: Schema
// version: 20240612083000000
// swift-format-ignore-file
// swiftlint:disable all

import Foundation
import GRDB

/// The tables at earlier versions of the schema, for steps of migrations.
nonisolated enum Schema {
    /// The tables after the migration 20240612083000000 create_search.
    enum v20240612 {
        /// Table `entry`.
        struct Entry: OldTable, Identifiable {
            static var databaseTableName: String { "entry" }
            static var databaseKey: [String] { ["id"] }

            var id: Int64 = newRowID
            var day: String
            var text: String
            var mood: Mood?

            enum Columns {
                static var id: Column { Column("id") }
                static var day: Column { Column("day") }
                static var text: Column { Column("text") }
                static var mood: Column { Column("mood") }
            }

            static func decode(_ row: StoredRow) throws -> Self {
                try Self(
                    id: row.value("id"),
                    day: row.value("day"),
                    text: row.value("text"),
                    mood: row.optional("mood", as: .rawValue))
            }

            func encode(to container: inout PersistenceContainer) {
                container["id"] = id == newRowID ? nil : id
                container["day"] = day
                container["text"] = text
                container["mood"] = mood?.rawValue
            }
        }

        /// Virtual table `entry_search`, for reading.
        struct EntrySearch: OldView {
            static var databaseTableName: String { "entry_search" }

            var text: String?

            enum Columns {
                static var text: Column { Column("text") }
            }

            static func decode(_ row: StoredRow) throws -> Self {
                try Self(text: row.optional("text"))
            }

            func encode(to container: inout PersistenceContainer) {
                container["text"] = text
            }
        }

        /// Table `entry_tag`.
        struct EntryTag: OldTable {
            static var databaseTableName: String { "entry_tag" }
            static var databaseKey: [String] { ["entry_id", "tag_id"] }

            var entryId: Int64
            var tagId: Int64

            enum Columns {
                static var entryId: Column { Column("entry_id") }
                static var tagId: Column { Column("tag_id") }
            }

            static func decode(_ row: StoredRow) throws -> Self {
                try Self(
                    entryId: row.value("entry_id"),
                    tagId: row.value("tag_id"))
            }

            func encode(to container: inout PersistenceContainer) {
                container["entry_id"] = entryId
                container["tag_id"] = tagId
            }
        }

        /// Table `tag`.
        struct Tag: OldTable, Identifiable {
            static var databaseTableName: String { "tag" }
            static var databaseKey: [String] { ["id"] }

            var id: Int64 = newRowID
            var name: String

            enum Columns {
                static var id: Column { Column("id") }
                static var name: Column { Column("name") }
            }

            static func decode(_ row: StoredRow) throws -> Self {
                try Self(
                    id: row.value("id"),
                    name: row.value("name"))
            }

            func encode(to container: inout PersistenceContainer) {
                container["id"] = id == newRowID ? nil : id
                container["name"] = name
            }
        }
    }
}

nonisolated extension Schema {
    /// A table whose rows can be read and written.
    protocol OldTable: OldView, PersistableRecord {}

    /// A table or a view whose rows can be read.
    protocol OldView: Codable, FetchableRecord, EncodableRecord, TableRecord, Sendable {
        /// The columns of the primary key.
        static var databaseKey: [String] { get }

        /// Reads a row, each value exactly or not at all.
        static func decode(_ row: StoredRow) throws -> Self
    }

    /// The key of a row that is yet to be inserted: SQLite chooses another one.
    static let newRowID = Int64.min

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

    /// How a column stores a type.
    struct Coding<Value: Sendable>: Sendable {
        let read: @Sendable (DatabaseValue) -> Value?
        let write: @Sendable (Value) throws -> DatabaseValue

        func store(_ value: Value?) throws -> DatabaseValue { try value.map(write) ?? .null }
    }

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
}

nonisolated extension Schema.OldView {
    static var databaseKey: [String] { [] }

    init(row: Row) throws {
        self = try Self.decode(
            Schema.StoredRow(row: row, table: Self.databaseTableName, key: Self.databaseKey))
    }

    init(from decoder: any Decoder) throws {
        let values = try [String: Schema.CodableValue](from: decoder).mapValues(\.value)
        self = try Self.decode(
            Schema.StoredRow(
                row: Row(values), table: Self.databaseTableName, key: Self.databaseKey, isWhole: false))
    }

    func encode(to encoder: any Encoder) throws {
        try databaseDictionary.mapValues(Schema.CodableValue.init).encode(to: encoder)
    }
}

nonisolated extension Schema.StoredRow {
    func value<Value>(_ column: String, as coding: Schema.Coding<Value>) throws -> Value {
        let stored = try stored(column)
        guard let value = coding.read(stored) else { throw unreadable(column, stored, "\(Value.self)") }
        return value
    }

    func optional<Value>(_ column: String, as coding: Schema.Coding<Value>) throws -> Value? {
        try stored(column).isNull ? nil : value(column, as: coding)
    }
}

nonisolated extension Schema.Coding where Value: RawRepresentable, Value.RawValue: DatabaseValueConvertible {
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
