import Foundation
import GRDB

/// The folder in which a launch finds, and leaves, everything.
struct LauncherFolder: Sendable {
    let url: URL

    /// Adds a line in a single write, so that processes do not write into each other's lines.
    func append(_ line: String, to name: String) throws {
        let descriptor = open(url.appendingPathComponent(name).path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Waits until there is a file; not for ever, since the test that is to make it may have been stopped.
    func wait(for name: String) throws {
        let file = url.appendingPathComponent(name).path
        let deadline = ContinuousClock.now + .seconds(600)
        while !FileManager.default.fileExists(atPath: file) {
            guard ContinuousClock.now < deadline else { throw CocoaError(.fileNoSuchFile) }
            usleep(500)
        }
    }

    /// Opens a database of the folder: the one in which steps work, or the one of the store.
    ///
    /// Not in WAL, and without a busy timeout: as an app's is that has configured nothing. GRDB looks at the file
    /// when it opens it, so that alone may have to be tried again.
    func openDatabase(_ name: String = "library.sqlite") throws -> DatabaseQueue {
        while true {
            do {
                return try DatabaseQueue(path: url.appendingPathComponent(name).path)
            } catch DatabaseError.SQLITE_BUSY {
                usleep(500)
            }
        }
    }
}
