package import AppMigrations
package import GRDB
import SchemaMigrations

/// A process that lives until a given moment.
///
/// There is a moment before and after every change to a store or a database. From the moment of the kill on,
/// the process changes nothing there.
package final class SimulatedProcess: Sendable {
    /// An error that says that the process was killed before it did its next work.
    package struct Killed: Error, CustomStringConvertible {
        package var description: String { "the process was killed" }
    }

    /// The time at which a process is killed.
    package enum Death: Sendable, Hashable {
        case never
        /// The moment with this number, from 1.
        case moment(Int)
        /// The time when a step of this version has begun and done some batches, and is about to record that it has
        /// done something.
        case step(AppVersion, afterBatches: Int = 0)
    }

    private struct Life {
        var moments = 0
        var isDead = false
        var isImmortal = false
        var notes = LaunchNotes()
    }

    /// The number of rows, or calls, in each batch of deferred work.
    static let rowsPerBatch = 10

    private let death: Death
    private let deferredBatches: Int?
    private let life = Locked(Life())
    private let watched = Locked<[Watched]>([])

    private struct Watched {
        weak var database: (any DatabaseWriter)?
    }

    /// Creates a process.
    ///
    /// - Parameter deferredBatches: the number of batches of deferred work that there is time for; nil for all.
    package init(dying death: Death = .never, deferredBatches: Int? = nil) {
        self.death = death
        self.deferredBatches = deferredBatches
    }

    /// True if the process has been killed.
    package var isDead: Bool { life.withLock(\.isDead) }

    /// The number of moments that there have been.
    var moments: Int { life.withLock(\.moments) }

    /// Notes on the work of the process's managers.
    var notes: LaunchNotes { life.withLock(\.notes) }

    /// Counts a moment, and kills the process if it is the given one.
    ///
    /// - Throws: ``Killed``, from the moment of the kill on.
    package func moment() throws {
        try life.withLock { life in
            guard !life.isDead else { throw Killed() }
            guard !life.isImmortal else { return }
            life.moments += 1
            life.isDead =
                switch death {
                case .never: false
                case .moment(let number): life.moments == number
                case .step(let version, let count):
                    life.notes.running == version && life.notes.batches[version, default: 0] >= count
                }
            if life.isDead { throw Killed() }
        }
    }

    /// Throws ``Killed`` if the process is dead.
    package func checkAlive() throws {
        if isDead { throw Killed() }
    }

    /// Runs the body, and does not kill the process meanwhile.
    package func immortally<Result>(_ body: () throws -> Result) rethrows -> Result {
        life.withLock { $0.isImmortal = true }
        defer { life.withLock { $0.isImmortal = false } }
        return try body()
    }

    /// Ends the launch, so that the app's later work is no part of it.
    func end() {
        life.withLock { $0.isImmortal = true }
    }
}

extension SimulatedProcess: LaunchObserver {
    package func watching(_ store: any RecordStorage) -> any RecordStorage {
        WatchedStore(base: store, process: self)
    }

    package func willUse(_ place: any MigrationPlace) {
        guard let database = (place as? SQLiteStore)?.database else { return }
        let isNew = watched.withLock { watched in
            // A commit is one moment, however many managers work in the database.
            guard !watched.contains(where: { $0.database === database }) else { return false }
            watched.append(Watched(database: database))
            return true
        }
        guard isNew else { return }
        database.unsafeReentrantWrite { db in
            // Observe as long as the database is open, since a dead process stays dead.
            db.add(transactionObserver: WatchedCommits(self), extent: .databaseLifetime)
        }
    }

    package func note(_ event: MigrationEvent) {
        life.withLock { life in
            if !life.isDead { life.notes.add(event) }
        }
    }

    package var batchSize: Int { Self.rowsPerBatch }

    package var isTimeOver: Bool {
        life.withLock { life in deferredBatches.map { life.notes.deferredBatches >= $0 } ?? false }
    }
}

/// Rolls back a database's commits once the process is dead.
package final class WatchedCommits: TransactionObserver {
    private let process: SimulatedProcess

    package init(_ process: SimulatedProcess) { self.process = process }

    package func databaseWillCommit() throws { try process.moment() }
    package func databaseDidCommit(_ db: Database) { try? process.moment() }
    package func databaseDidRollback(_ db: Database) {}
    package func databaseDidChange(with event: DatabaseEvent) {}
    package func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
}
