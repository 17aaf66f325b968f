import Foundation

/// A manager's name, compared by its bytes.
///
/// Swift takes two texts for equal that Unicode takes for equivalent, such as `é` in one scalar and in two. In a lock
/// file's name, in SQLite and on disks they are different, so they are different here.
package struct ManagerName: Hashable, Sendable {
    /// The name as the app spells it.
    let text: String

    package init(_ text: String) { self.text = text }

    /// The key under which a store keeps the manager's record: the name itself, unless the name is not in Unicode's
    /// composed form or has a `%`; then its bytes are escaped.
    @inline(never)
    var key: String {
        if !text.utf8.contains(Self.escape), text.isComposed { return text }
        return text.utf8.map { byte in
            byte < 0x80 && byte != Self.escape
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Creates a name from its key.
    init(key: String) {
        text = key.removingPercentEncoding ?? key
    }

    private static let escape = UInt8(ascii: "%")

    package static func == (one: ManagerName, other: ManagerName) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    @inline(never)
    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension ManagerName {
    /// Why a manager cannot have the name; nil when it can.
    var problem: String? {
        if text.isEmpty { return "A manager's name is empty" }
        return text.utf8.contains(0) ? "A manager's name has a NUL in it" : nil
    }
}

extension String {
    /// True if the text is in Unicode's composed form (NFC), in which equivalent texts are the same bytes.
    fileprivate var isComposed: Bool {
        utf8.allSatisfy { $0 < 0x80 } || utf8.elementsEqual(precomposedStringWithCanonicalMapping.utf8)
    }
}
