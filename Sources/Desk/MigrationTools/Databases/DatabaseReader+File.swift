package import Foundation
package import GRDB

extension DatabaseReader {
    /// The file of the database, or nil if it is in memory.
    package var originalFile: URL? {
        if path.isEmpty || path.hasPrefix(":memory:") { return nil }
        guard path.hasPrefix("file:") else { return URL(fileURLWithPath: path) }
        // uri.html: a database that is opened as a URI.
        return URLComponents(string: path).flatMap { $0.path.isEmpty ? nil : URL(fileURLWithPath: $0.path) }
    }
}
