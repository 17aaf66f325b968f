/// Is it new? The kind of a launch in one place, or what is missing to decide it.
///
/// A fresh install is the one case in which steps are settled without running, and to take an old install for a fresh
/// one loses data for ever. So a place that has no record of the manager decides from evidence, strongest first:
///
/// 1. the manager's own record in one of its databases, where only the store has lost it;
/// 2. the app's answer, `adopting`;
/// 3. the app versions that the place has seen, from any manager in the same line of versions; for a store that has
///    seen none, those that the manager's databases have seen;
/// 4. nothing at all: then the install is fresh.
///
/// Every place decides for itself, and no manager decides for another.
enum Verdict: Equatable {
    case decided(Launch)
    /// The app's answer is needed.
    case askTheApp
    /// The place with this index holds data, and nothing says which version left it.
    case undecided(at: Int)

    /// Decides the kind of launch in a place.
    ///
    /// - Parameters:
    ///   - index: the place's index; the manager's store is the first place.
    ///   - places: what the places remember.
    ///   - earlier: what an earlier call for the same launch has decided.
    ///   - answer: the app's answer, once it was asked.
    @inline(never)  // It is called in two places.
    init(
        on index: Int, of places: [PlaceState], _ request: LaunchRequest, earlier: Launch?,
        answer: AdoptionAnswer?
    ) {
        let place = places[index]
        let recorded = place.record?.launch(current: request.current)
        if case .downgrade(let higher) = recorded {
            // A newer version of the app may have been here since an earlier call.
            self = .decided(.downgrade(from: higher))
        } else if let launch = earlier ?? recorded {
            self = .decided(launch)
        } else if index > 0 {
            self.init(onDatabase: place, at: index, request, answer)
        } else {
            self.init(onStore: place, databases: Array(places.dropFirst()), request, answer)
        }
    }

    private init(
        onStore store: PlaceState, databases: [PlaceState], _ request: LaunchRequest,
        _ answer: AdoptionAnswer?
    ) {
        // No database is believed about the rows of another one.
        let witnesses = store.evidence == .empty ? databases : []
        // The current version alone says nothing: the first launch may have died between two writes.
        let completed = witnesses.filter { place in
            place.seen(in: request.line).contains { $0.version < request.current }
        }.compactMap { $0.record?.completed }.max()
        let seen = store.seen(in: request.line).isEmpty ? [store] + witnesses : [store]
        self =
            completed.map { .adopted($0, request) }
            ?? .answered(answer, request)
            ?? .seen(in: seen, request)
            ?? ([store] + databases).firstIndex { !$0.isExplained(in: request.line) }
            .map { .undecided(at: $0) }
            ?? .decided(.freshInstall)
    }

    private init(
        onDatabase place: PlaceState, at index: Int, _ request: LaunchRequest, _ answer: AdoptionAnswer?
    ) {
        if place.evidence == .empty, place.seen(in: request.line).isEmpty {
            // It is new, whatever the app answers about its other data.
            self = .decided(.freshInstall)
        } else if let verdict = Verdict.answered(answer, request) ?? .seen(in: [place], request) {
            self = verdict
        } else if place.isExplained(in: request.line) {
            self = .decided(.freshInstall)
        } else if place.evidence == .ledgerOnly {
            // A step in a database commits together with its record. No record: none has run here.
            self = .decided(.adoption(from: .zero))
        } else {
            self = .undecided(at: index)
        }
    }

    private static func answered(_ answer: AdoptionAnswer?, _ request: LaunchRequest) -> Verdict? {
        guard let answer else { return .askTheApp }
        return answer.version.map { adopted($0, request) }
    }

    private static func seen(in places: [PlaceState], _ request: LaunchRequest) -> Verdict? {
        places.flatMap { $0.seen(in: request.line) }.version(before: request.current)
            .map { adopted($0, request) }
    }

    /// Data that a newer app left behind is not ours to migrate.
    private static func adopted(_ version: AppVersion, _ request: LaunchRequest) -> Verdict {
        .decided(
            version.release > request.current.release ? .downgrade(from: version) : .adoption(from: version))
    }
}

extension PlaceState {
    /// The app versions that the place has seen.
    func seen(in line: String) -> [SeenVersion] { seen[line] ?? [] }

    /// Returns true if the place is new, or its data is that of a version that it has seen.
    ///
    /// If the app itself has had one version here, and that found nothing older, no older version of a plug-in has been
    /// here either.
    fileprivate func isExplained(in line: String) -> Bool {
        if evidence == .empty || !seen(in: line).isEmpty { return true }
        let versions = seen(in: "app")
        return evidence != .replaced && versions.count == 1 && !versions[0].isAdopted
    }
}

extension [SeenVersion] {
    /// Returns the version that an install was at before the current one; nil if these versions name none.
    ///
    /// An earlier version comes first, then one that evidence has named, then a newer one, of a downgrade. The current
    /// version alone names none: this install's own first launch has noted it.
    package func version(before current: AppVersion) -> AppVersion? {
        let versions = map(\.version)
        return versions.filter { $0 < current }.max() ?? filter(\.isAdopted).map(\.version).max()
            ?? versions.filter { $0 > current }.max()
    }
}

extension AppVersion {
    /// Below every version that an app has ever had: that of data of which nothing says how old it is.
    package static let zero: AppVersion = "0"
}
