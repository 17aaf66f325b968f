/// A record that a place may have had until its database was salvaged, and what the place's history still says of it.
package struct LostRecord: Sendable {
    /// The steps that the history names, as they were settled.
    let settled: [WorkID: WorkState]

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
    }
}
