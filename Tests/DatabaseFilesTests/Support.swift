import AppMigrations
import DatabaseFiles
import TestTraits
import Testing

/// Collects the events of a database file.
final class EventLog: Sendable {
    private let entries = Locked<[DatabaseFile.Event]>([])
    var events: [DatabaseFile.Event] { entries.withLock { $0 } }
    func note(_ event: DatabaseFile.Event) { entries.withLock { $0.append(event) } }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
