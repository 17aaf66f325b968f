package import AppMigrations
package import GRDB
import SchemaMigrations

/// A process that lives until a given moment.
///
/// There is a moment before and after everything that leaves a trace in a store or a database. From the one at which it
/// is killed on, nothing that the process does there has an effect.
package final class SimulatedProcess: Sendable {
    /// The process is dead: the work that it was about to do is not done.
    package struct Killed: Error, CustomStringConvertible {
        package var description: String { "the process was killed" }
    }

    /// When a process is killed.
    package enum Death: Sendable, Hashable {
        case never
        /// At the moment of that number, from 1.
        case moment(Int)
        /// When a step of that version has begun, and is about to write down that it has done something.
        case step(AppVersion)
    }

    private struct Life {
        var moments = 0
        var isDead = false
        var isImmortal = false
        var notes = LaunchNotes()
    }

    private let death: Death
    private let life = Locked(Life())

    package init(dying death: Death = .never) {
        self.death = death
    }

    /// Whether the process has been killed.
    package var isDead: Bool { life.withLock(\.isDead) }

    /// What the managers of the process have done.
    var notes: LaunchNotes { life.withLock(\.notes) }

    /// A moment at which the process may be killed.
    ///
    /// - Throws: ``Killed``, from the one on at which it is.
    package func moment() throws {
        try life.withLock { life in
            guard !life.isDead else { throw Killed() }
            guard !life.isImmortal else { return }
            life.moments += 1
            life.isDead =
                switch death {
                case .never: false
                case .moment(let number): life.moments == number
                case .step(let version): life.notes.running == version
                }
            if life.isDead { throw Killed() }
        }
    }

    /// Makes sure that the process is alive.
    package func checkAlive() throws {
        if isDead { throw Killed() }
    }

    /// Does something during which the process is not killed.
    package func immortally<Result>(_ body: () throws -> Result) rethrows -> Result {
        life.withLock { $0.isImmortal = true }
        defer { life.withLock { $0.isImmortal = false } }
        return try body()
    }

    /// The launch is over: what the app does from now on is no part of it.
    func end() {
        life.withLock { $0.isImmortal = true }
    }
}

extension SimulatedProcess: LaunchWitness {
    package func watching(_ store: any MigrationStore) -> any MigrationStore {
        WatchedStore(base: store, process: self)
    }

    package func willUse(_ place: any MigrationPlace) {
        guard let place = place as? DatabasePlace else { return }
        place.database.unsafeReentrantWrite { db in
            // As long as the database is open: a process that is dead stays so.
            db.add(transactionObserver: WatchedCommits(self), extent: .databaseLifetime)
        }
    }

    package func note(_ event: MigrationEvent) {
        life.withLock { life in
            if !life.isDead { life.notes.add(event) }
        }
    }
}

/// A database's commits, as a process makes them that may be killed: what it has not committed is rolled back.
package final class WatchedCommits: TransactionObserver {
    private let process: SimulatedProcess

    package init(_ process: SimulatedProcess) { self.process = process }

    package func databaseWillCommit() throws { try process.moment() }
    package func databaseDidCommit(_ db: Database) { try? process.moment() }
    package func databaseDidRollback(_ db: Database) {}
    package func databaseDidChange(with event: DatabaseEvent) {}
    package func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
}
