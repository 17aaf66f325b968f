import AppMigrations
import Dispatch
import Foundation

/// Two threads that update one manager at once.
struct StoreCrowd {
    /// The total number of updates.
    static let updates = 20

    /// A store for each thread.
    let stores: [any RecordStorage]

    /// Runs the updates and returns the number of updates that the store lost.
    func lostUpdates() throws -> Int {
        let errors = Locked<[any Error]>([])
        let ended = DispatchSemaphore(value: 0)
        let share = Self.updates / stores.count
        for (index, store) in stores.enumerated() {
            // Use separate threads: a queue may have only one, and then the updates do not overlap.
            Thread.detachNewThread {
                defer { ended.signal() }
                for number in 0..<share {
                    do {
                        let version = try AppVersion(parsing: "\(index + 1).\(number)")
                        // However slow the disk is: nobody is meant to give up.
                        try store.change("Crowd", waitingUpTo: .seconds(600)) { state in
                            try state.changeRecord(of: "Crowd") { record in
                                record = record ?? MigrationRecord(start: nil)
                                record?.settle(WorkID(version))
                            }
                        }
                    } catch {
                        errors.withLock { $0.append(error) }
                    }
                }
            }
        }
        for _ in stores { ended.wait() }
        if let error = errors.withLock(\.first) { throw error }
        return Self.updates - (try stores[0].read("Crowd").record(of: "Crowd")?.work.count ?? 0)
    }
}
