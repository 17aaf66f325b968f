import AppMigrations
import Dispatch
import Foundation

/// Two threads that update one manager at once.
struct StoreCrowd {
    /// How many updates there are in all.
    static let updates = 20

    /// A store for each thread.
    let stores: [any MigrationStore]

    /// How many updates are not there in the end.
    func lostUpdates() throws -> Int {
        let errors = Locked<[any Error]>([])
        let ended = DispatchSemaphore(value: 0)
        let share = Self.updates / stores.count
        for (index, store) in stores.enumerated() {
            // Threads of its own: a queue may have one thread only, and then nothing happens at once.
            Thread.detachNewThread {
                defer { ended.signal() }
                for number in 0..<share {
                    do {
                        let version = try AppVersion(parsing: "\(index + 1).\(number)")
                        try store.update("Crowd") { state in
                            try state.changeRecord(of: "Crowd") { record in
                                record = record ?? MigrationRecord(floor: nil)
                                record?.settled.insert(version)
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
        return Self.updates - (try stores[0].read("Crowd").record(of: "Crowd")?.settled.count ?? 0)
    }
}
