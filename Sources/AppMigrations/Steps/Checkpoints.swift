/// Saves where a step is, in the record of its place.
struct Checkpoints: Sendable {
    /// Where the step is.
    let position: Locked<StepPosition>
    let work: MigrationWork
    let step: MigrationStep
    /// The store of the step's place.
    let store: any RecordStorage
    /// How long a write waits for another writer.
    let timeout: Duration
    /// Returns true if the step should stop after a checkpoint; nil if it never should.
    let isOver: (@Sendable () -> Bool)?
    /// True once the step has saved a checkpoint in this attempt.
    let hasSaved = Locked(false)

    func save(_ cursor: String?) throws {
        guard step.kind != .transaction else {
            throw MigrationError(
                .misuse,
                "\(step.titleAndSource) cannot save a checkpoint, because it works in one transaction",
                remedy: """
                    Leave checkpoint() out, or work in several transactions, in a step that is not given the \
                    database.
                    """,
                work: work)
        }
        try store.syncFiles()
        try store.change(work.manager, waitingUpTo: timeout) { state in
            try state.changeRecord(of: work.manager) { record in
                guard let known = record, known[work.id]?.isSettled != true else { return }
                record?.apply(.checkpointed(work.id, cursor: cursor))
                hasSaved.withLock { $0 = true }
                if cursor != nil, let now = record?.open(work.id)?.position { position.withLock { $0 = now } }
            }
        }
    }

    /// Throws `CancellationError` if the step should stop.
    ///
    /// Call it on the step's own task, which may be cancelled.
    func stopIfOver() throws {
        if let isOver, isOver() { throw CancellationError() }
    }
}
