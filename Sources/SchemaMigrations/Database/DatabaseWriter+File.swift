import Foundation
import GRDB

extension DatabaseWriter {
    /// The database's file; nil for a database in memory.
    var file: URL? {
        path.isEmpty || path.hasPrefix(":memory:") || path.hasPrefix("file:")
            ? nil : URL(fileURLWithPath: path).resolvingSymlinksInPath()
    }

    /// The database's name in messages.
    var displayName: String { file.databaseName }
}

extension URL? {
    /// The name in messages of the database in this file.
    var databaseName: String { self?.lastPathComponent ?? "the database in memory" }
}
