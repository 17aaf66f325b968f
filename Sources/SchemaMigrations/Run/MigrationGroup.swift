/// Migrations that share a transaction, and how far they are.
struct MigrationGroup {
    /// How foreign keys are treated, which SQLite cannot change inside a transaction.
    let foreignKeys: ForeignKeys
    /// What a first attempt may have broken; nil in the first attempt.
    let suspects: Suspects?
    /// The migrations that ran, in order.
    private(set) var done: [MigrationJob] = []
    /// The migrations that are left; those at the front belong to this group, as long as ``next(for:)``
    /// returns one.
    private(set) var left: ArraySlice<MigrationJob>
    /// Why a migration did not succeed; what ran before it is complete.
    private(set) var failure: (any Error)?

    /// For how long the group may run; nil where all of it is committed, or nothing.
    private let timeLimit: Duration?
    private let progress: RunProgress?
    private var start: ContinuousClock.Instant?

    /// Begins a first attempt, at the front of the migrations that are left.
    init(of left: ArraySlice<MigrationJob>, _ commits: SchemaOptions.Commits, _ progress: RunProgress?) {
        self.left = left
        self.progress = progress
        foreignKeys = left.first?.foreignKeys ?? .deferred
        suspects = nil
        timeLimit =
            switch commits {
            case .grouped(let limit): limit
            case .allOrNothing: nil
            }
    }

    /// Begins a second attempt, at migrations that ran in a first one.
    init(retrying jobs: some Collection<MigrationJob>, _ suspects: Suspects) {
        left = Array(jobs)[...]
        progress = nil
        foreignKeys = left.first?.foreignKeys ?? .deferred
        self.suspects = suspects
        timeLimit = nil
    }

    /// Returns the next migration to run; nil when the group is complete.
    mutating func next(for ledger: Ledger) -> MigrationJob? {
        start = start ?? .now
        left = left.drop { !ledger.needs($0) }
        guard failure == nil, !isTimeOver, let job = left.first, job.transaction == .wrapped,
            job.foreignKeys == foreignKeys
        else { return nil }
        return job
    }

    private var isTimeOver: Bool {
        guard let start, let timeLimit, !done.isEmpty else { return false }
        return ContinuousClock.now - start >= timeLimit
    }

    /// Notes that the next migration ran.
    mutating func succeed() {
        let job = left.removeFirst()
        done.append(job)
        progress?.advance(job)
    }

    /// Notes that the next migration failed, so that those before it can be committed.
    ///
    /// - Parameter isUndone: whether nothing of it is left in the transaction.
    /// - Throws: the error, when nothing of the group is to stay; ``SuspectGroup``, when the others have to
    ///   run again without this one.
    mutating func fail(_ error: any Error, isUndone: Bool) throws {
        if error is CancellationError || timeLimit == nil { throw error }
        failure = error
        if !isUndone { throw SuspectGroup(suspects: .everything) }
    }
}

extension Ledger {
    /// Whether a migration has still to run: another process may have been faster.
    func needs(_ job: MigrationJob) -> Bool {
        switch job.direction {
        case .up: !applied.contains(job.version) && job.version > floor ?? .min
        case .down: applied.contains(job.version)
        }
    }
}
