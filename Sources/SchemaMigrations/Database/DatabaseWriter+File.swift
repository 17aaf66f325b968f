import Foundation
import GRDB

extension DatabaseWriter {
    /// The database's file; nil for a database in memory.
    var file: URL? {
        path.isEmpty || path.hasPrefix(":memory:") || path.hasPrefix("file:")
            ? nil : URL(fileURLWithPath: path).resolvingSymlinksInPath()
    }

    /// The database's name in messages.
    var displayName: String { file?.lastPathComponent ?? "the database in memory" }
}
