extension Registration {
    /// Turns work that was running into deaths, in every place, once the lock of the process that died is taken.
    ///
    /// Before anything else, so that no run that is cut short loses a death; in all places, whatever one of them throws. What may
    /// be over later counts more than damage.
    func findDeaths(waitingUpTo patience: Duration) throws {
        var failure: (any Error)?
        for place in due {
            do {
                try place.store.findDeaths(of: manager, isDeferred: false, waitingUpTo: patience)
            } catch {
                if failure.map(\.isAboutDamage) ?? true { failure = error }
            }
        }
        if let failure { throw failure }
    }
}

extension RecordStorage {
    /// Turns work that was running into a death, once the lock of the process that died is taken.
    ///
    /// It is a fact in the record then, which no later run can lose.
    func findDeaths(
        of manager: String, isDeferred: Bool, except own: WorkID? = nil, waitingUpTo limit: Duration
    ) throws {
        guard try record(of: manager)?.hasRunning(isDeferred: isDeferred, except: own) == true else { return }
        try change(manager, waitingUpTo: limit) { state in
            try state.apply(.died(isDeferred: isDeferred, except: own), toRecordOf: manager)
        }
    }
}
