import AppMigrations
import Foundation
import GRDB

/// Measures how much space a database takes while it changes, with its journal and SQLite's temporary files.
///
/// A thread looks every millisecond. SQLite deletes a journal when it commits, so each commit is looked at as well.
final class SpaceWatch: Sendable {
    private struct State {
        var peak: Int64 = 0
        var isOver = false
    }

    private let file: String
    private let state = Locked(State())

    private init(_ file: String) {
        self.file = file
    }

    /// Runs the body, and returns the most space that the database took meanwhile, in bytes.
    static func peak(of queue: DatabaseQueue, _ body: () throws -> Void) throws -> Int64 {
        let watch = SpaceWatch(queue.path)
        let observer = CommitWatch(watch)
        queue.add(transactionObserver: observer, extent: .observerLifetime)
        watch.look()
        let thread = Thread {
            while !watch.state.withLock({ $0.isOver }) {
                watch.look()
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        thread.start()
        defer { watch.state.withLock { $0.isOver = true } }
        try body()
        queue.remove(transactionObserver: observer)
        watch.look()
        return watch.state.withLock { $0.peak }
    }

    fileprivate func look() {
        let size = ["", "-journal", "-wal", "-shm"].reduce(Self.temporaryFiles()) {
            $0 + Self.size(file + $1)
        }
        state.withLock { $0.peak = max($0.peak, size) }
    }

    private static func size(_ path: String) -> Int64 {
        var info = stat()
        return stat(path, &info) == 0 ? Int64(info.st_size) : 0
    }

    /// Returns the size of SQLite's temporary files, which have no name any more (tempfiles.html, 2.6).
    private static func temporaryFiles() -> Int64 {
        #if os(Linux)
            let folder = "/proc/self/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.reduce(0) { sum, name in
                let path = "\(folder)/\(name)"
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
                return target?.contains("/etilqs_") == true ? sum + size(path) : sum
            }
        #else
            return 0
        #endif
    }
}

/// Has a watch look when a transaction is about to commit.
private final class CommitWatch: TransactionObserver {
    private let watch: SpaceWatch

    init(_ watch: SpaceWatch) {
        self.watch = watch
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { watch.look() }
    func databaseDidCommit(_ db: Database) { watch.look() }
    func databaseDidRollback(_ db: Database) {}
}
