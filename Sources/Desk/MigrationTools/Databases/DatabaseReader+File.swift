package import Foundation
package import GRDB
import SchemaMigrations

extension DatabaseReader {
    /// The file of the database, or nil if it is in memory.
    package var originalFile: URL? { path.databasePath.map { URL(fileURLWithPath: $0) } }
}
