import GRDB

/// A minor version of SQLite 3.
package struct SQLiteVersion: Sendable, Hashable {
    /// The oldest version that the package supports.
    package static let oldestSupported = SQLiteVersion(minor: 39)

    /// The number after the `3.`.
    package let minor: Int

    /// The SQLite that this process uses.
    package static var running: String {
        (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }) ?? "unknown"
    }

    private init(minor: Int) {
        self.minor = minor
    }

    /// Reads a version such as `3.39` or `3.39.4`; nil if it is another text, or below the oldest supported version.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt16($0) }
        guard (2...3).contains(parts.count), !parts.contains(nil), parts[0] == 3, let minor = parts[1],
            minor >= Self.oldestSupported.minor
        else { return nil }
        self.init(minor: Int(minor))
    }
}

extension SQLiteVersion: CustomStringConvertible {
    package var description: String { "3.\(minor)" }
}
