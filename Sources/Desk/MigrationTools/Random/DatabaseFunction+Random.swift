import Foundation
import GRDB

extension DatabaseFunction {
    /// Returns SQLite's random functions (lang_corefunc.html), with chosen numbers.
    static func random(_ next: @escaping @Sendable () -> UInt64) -> [DatabaseFunction] {
        [
            DatabaseFunction("random", argumentCount: 0) { _ in Int64(bitPattern: next()) },
            DatabaseFunction("randomblob", argumentCount: 1) { arguments in
                let count = max(1, Int.fromDatabaseValue(arguments[0]) ?? 1)
                return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: next()) })
            },
        ]
    }
}
