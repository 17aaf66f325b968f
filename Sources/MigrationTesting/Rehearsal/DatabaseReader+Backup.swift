import Foundation
import GRDB

extension DatabaseReader {
    /// Copies the database, until a progress is cancelled.
    ///
    /// - Throws: `CancellationError`, or SQLite's error.
    func backup(to copy: DatabaseQueue, progress: Progress?) throws {
        try backup(to: copy, pagesPerStep: progress == nil ? -1 : 10_000) { _ in
            if progress?.isCancelled == true { throw CancellationError() }
        }
    }
}
