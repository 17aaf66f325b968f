// Is it new? A place that has no record decides from evidence, strongest first. Pure: a guess could lose data for
// ever, so what cannot be decided is nil.
extension Launch {
    /// Decides the kind of launch for a manager's store.
    ///
    /// - Parameters:
    ///   - state: what the store remembers.
    ///   - answer: the app's answer, if ``LaunchPlan/needsAdoption(_:_:_:_:decided:)``.
    ///   - witnesses: what the manager's databases remember.
    init?(
        ofStore state: PlaceState, _ request: LaunchRequest, answer: AdoptionAnswer?, witnesses: [PlaceState]
    ) {
        if let launch = Launch(seen: state, request, answer: answer) {
            self = launch
            return
        }
        // The store knows nothing at all: a database that has seen another version bears witness to it.
        let versions = witnesses.compactMap { $0.witnessedVersion(request) }
        if let version = versions.max() {
            self = .adopted(version, request)
        } else if ([state] + witnesses).allSatisfy({ $0.isNoEvidence(request) }) {
            self = .freshInstall
        } else {
            return nil
        }
    }

    /// Decides the kind of launch for a database.
    init?(ofDatabase state: PlaceState, _ request: LaunchRequest, answer: AdoptionAnswer?) {
        switch (state.evidence, Launch(seen: state, request, answer: answer)) {
        // A database that has seen nothing and holds nothing is new, whatever the app says of its other data.
        case (.empty, _) where state.versions(in: request.line).isEmpty: self = .freshInstall
        case (_, let launch?): self = launch
        // A step given a database commits together with its record. No record: none has run here.
        case (.ledgerOnly, nil): self = .adoption(from: .zero)
        case (.empty, nil), (.unmanaged, nil), (.replaced, nil): return nil
        }
    }

    /// Decides from what the app answers and the place has seen; nil when neither tells.
    private init?(seen state: PlaceState, _ request: LaunchRequest, answer: AdoptionAnswer?) {
        let seen = state.versions(in: request.line)
        if let answer, answer.subject == .manager, let version = answer.version {
            self = .adopted(version, request)
        } else if !seen.isEmpty {
            // The question is answered: tables and files that this launch has just made are no evidence.
            self =
                seen.filter { $0 < request.current }.max().map { .adoption(from: $0) }
                ?? state.adoptedVersions(in: request.line).max().map { .adopted($0, request) }
                ?? .freshInstall
        } else if let version = answer?.version {
            self = .adopted(version, request)
        } else {
            return nil
        }
    }

    /// Data that a newer app left behind is not ours to migrate.
    private static func adopted(_ version: AppVersion, _ request: LaunchRequest) -> Launch {
        version.release > request.current.release ? .downgrade(from: version) : .adoption(from: version)
    }
}

extension PlaceState {
    /// The version that the install was at, as this database tells it: a newer one if it has seen no earlier one.
    fileprivate func witnessedVersion(_ request: LaunchRequest) -> AppVersion? {
        let others = versions(in: request.line).filter { $0 != request.current }
        guard let seen = others.filter({ $0 < request.current }).max() ?? others.max() else { return nil }
        return record?.completed ?? seen
    }

    /// Whether the place is new, or has only seen this very version: a first launch may have been cut short.
    ///
    /// Asked where no place has seen another version.
    fileprivate func isNoEvidence(_ request: LaunchRequest) -> Bool {
        if case .empty = evidence { return true }
        return !versions(in: request.line).isEmpty
    }
}

extension AppVersion {
    /// Below every version that an app has ever had.
    static let zero: AppVersion = "0"
}
