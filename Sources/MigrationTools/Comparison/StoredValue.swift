package import Foundation
package import GRDB

/// A value as SQLite tells it from others: by its type, and for texts by its bytes.
///
/// `DatabaseValue` compares texts as Swift does, for which `é` and `e` with an accent are one, and takes 1 and
/// 1.0 for the same.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob(Data)

    package init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number.bitPattern)
        case .string(let text): self = .text(Array(text.utf8))
        case .blob(let data): self = .blob(data)
        }
    }

    /// The value with the letters of a text in lower case.
    package var inLowerCase: StoredValue {
        guard case .text(let bytes) = self else { return self }
        return .text(Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8))
    }
}
