/// What happens to a manager's record in one place, once it is there.
///
/// ``MigrationRecord/apply(_:)`` is the table of what each does to the states of work.
package indirect enum RecordChange: Sendable {
    /// A launch begins its work. On a new install, work of which the record says nothing has these states.
    case begun(Launch, current: AppVersion, newInstall: [WorkID: WorkState])
    /// The app has steps in the database that is the store which it had outside it, or the other way round.
    case carriedOver([WorkID])
    /// Steps of which nothing is known have to run, whatever the app registers later.
    case owed([WorkID])
    /// Work begins; for a schema step, with so many migrations.
    case started(WorkID, OpenWork.Start, remaining: Int?, isRetry: Bool)
    /// Work has come to its end.
    case done(WorkID)
    /// Work has ended by throwing: with the build and the codes, if it has failed by itself.
    case stopped(WorkID, failure: String?)
    /// The process has died in the work that was running, but for the caller's own.
    case died(isDeferred: Bool, except: WorkID?)
    /// The launch of the work that was running has ended, and could not write that down.
    case abandoned
    /// A launch has found where work that waits begins.
    case prepared(WorkID, StepPosition)
    /// Work that goes on has come to a position.
    case moved(WorkID, StepPosition)
    /// Work has saved a checkpoint, with a cursor or without.
    case checkpointed(WorkID, cursor: String?)
    /// What work has done so far is undone: it begins again.
    case restarted([WorkID])
    /// The app has settled work without running it.
    case skipped(WorkID)
    /// The app wants work to run, whether it has run or not.
    case rerun([WorkID])
    /// Settled work is needed again.
    case reopened(WorkID, current: AppVersion)
    /// The launch is complete.
    case completed(Launch, current: AppVersion)
    /// The manager has completed a launch in these databases.
    case knows([KnownDatabase])
}

extension RecordChange {
    /// True for the end of a closure outside the database that is the store: nothing has synced what that wrote.
    var endsClosure: Bool {
        if case .done(let id) = self { [.closure, .versionChange].contains(id.kind) } else { false }
    }
}

extension MigrationRecord {
    package mutating func apply(_ change: RecordChange) {
        switch change {
        case .begun(let launch, let current, let states):
            if launch == .freshInstall {
                for (id, state) in states where self[id] == nil { self[id] = state }
            }
            begin(launch, current: current)
        case .carriedOver(let ids): for id in ids { carryOver(id) }
        case .owed(let ids): for id in ids { owe(id) }
        case .started(let id, let start, let remaining, let isRetry):
            changeOpen(id) { $0.begin(start, remaining: remaining, isRetry: isRetry) }
        // The ledger has a schema step. Until the launch is complete, only the record says that it has begun.
        case .done(let id): self[id] = id.kind == .schemaStep ? .open(.applied) : .done
        // A commit can take effect although it reports an error: then the step is done, and has not failed.
        case .stopped(let id, let failure): changeOpen(id) { $0.stop(failure: failure) }
        case .died(let isDeferred, let own): endRunning(isDeferred: isDeferred, except: own) { $0.die() }
        case .abandoned: endRunning(isDeferred: false)
        case .prepared(let id, let position): changeOpen(id) { $0.position = $0.position ?? position }
        case .moved(let id, let position):
            changeOpen(id) {
                $0.position = position
                $0.restart()
            }
        case .checkpointed(let id, let cursor):
            changeOpen(id) {
                $0.restart()
                if let cursor { $0.move(to: cursor) }
            }
        case .restarted(let ids): for id in ids { changeOpen(id) { $0.position = nil } }
        case .skipped(let id): self[id] = .skipped
        case .rerun(let ids): for id in ids { runAgain(id) }
        // A newer app may have run a step that destroys what it reads.
        case .reopened(let id, let current): if isDone(id), !isNewer(than: current) { runAgain(id) }
        case .completed(let launch, let current): finish(launch, current: current)
        case .knows(let found): databases.note(found)
        }
    }
}

extension MigrationRecord {
    private mutating func runAgain(_ id: WorkID) {
        self[id] = .open(OpenWork(isOwed: true, isAgain: true))
    }
}

extension StoreState {
    /// Changes the record of one manager, if there is one.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`.
    package mutating func apply(_ change: RecordChange, toRecordOf manager: String) throws {
        try changeRecord(of: manager) { $0?.apply(change) }
    }
}
