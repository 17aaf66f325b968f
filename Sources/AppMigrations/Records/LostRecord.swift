/// A record that a place may have had until its database was salvaged, and what the place's history still says of it.
package struct LostRecord: Sendable {
    /// The steps that the history names, as they were settled: by the manager, or by a former one.
    private(set) var settled: [WorkID: WorkState]
    /// True if the manager's own history names one.
    let hasOwnHistory: Bool

    /// Creates what is known of a lost record.
    ///
    /// - Parameter history: the manager's history in the place, oldest first.
    init(history: [SettledStep]) {
        settled = history.reduce(into: [:]) { settled, step in
            settled[step.work.id] =
                switch step.outcome {
                case .ran: .done
                case .notNeeded: .notNeeded
                case .skipped: .skipped
                }
        }
        hasOwnHistory = !settled.isEmpty
    }

    /// Adds what another manager's history says of steps below a version, unless the manager's own says it.
    mutating func add(_ history: [SettledStep], below end: AppVersion) {
        for (id, state) in LostRecord(history: history).settled where id.version < end {
            settled[id] = settled[id] ?? state
        }
    }
}
