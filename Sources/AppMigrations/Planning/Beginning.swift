import MigrationDiagnostics

/// Where a manager begins in a place in which it has no record.
///
/// *No record means that nothing of this manager has ever run there.* So what is unknown is never how far it has come, only
/// how old the data is. A fresh install is the one case in which steps are settled without running, and to take an old
/// install for a fresh one loses data for ever; so each line below needs evidence, and the first one that has it decides:
///
/// | evidence in the place | the manager begins |
/// | --- | --- |
/// | the mark of a removed record | on a fresh install |
/// | such a mark of a former manager, and records of none that ended later | on a fresh install; in a database, as the manager's store stands |
/// | a later version, and none before it | nowhere: a downgrade |
/// | a manager of a later version has taken over the steps | nowhere: a downgrade |
/// | records of its former managers | where these stand |
/// | the record was lost when the database was salvaged | as ``Beginnings/afterLoss(in:asTheStore:)`` says |
/// | damaged contents were replaced, assuming a version | at that version |
/// | the store has lost the record that a database of the manager has | at the version completed there, or where that begins |
/// | a database with nothing in it, or with tables that only this build has seen | as the manager's store stands |
/// | `adopting` names a version | at that version |
/// | `adopting` gives a bound | there, or at the earliest version launched in the place before, if no answer was noted there |
/// | older versions, or the current one in an earlier build | at the earliest that was not a visit |
/// | a ledger, and no version | at 0 |
/// | tables, and nothing else | undecided |
/// | nothing anywhere | on a fresh install |
///
/// Every place decides for itself, and no manager decides for another.
enum Beginning: Equatable {
    case fresh(Fresh)
    case at(AppVersion, Reason)
    /// Nowhere: a later version has used the place before this manager was there.
    case downgrade(from: AppVersion)
    /// With what former managers have recorded, whose steps have come to this one.
    indirect case following(MigrationRecord)
    /// The app's answer is needed.
    case askTheApp
    /// The place with this index holds data, and nothing says which version left it.
    case undecided(at: Int)
    /// The place with this index has lost its record, and nothing says whether these steps have run there; if none is named,
    /// nothing says it of any.
    case unknown(at: Int, steps: [String])

    enum Fresh: Equatable {
        case install
        /// A new database of an old install.
        case database
    }

    enum Reason: Equatable {
        case answered
        /// The answer says "this version or a later one".
        case bound
        case seen
        /// A new database begins where the store stands.
        case newDatabase
        /// So does one of an install whose first launch was never completed, which may still need what a new install needs.
        case newInstall
        /// The record is lost, and this is what is known of it.
        case lost
        /// The record is lost, and this build has found a new install.
        case lostNew
    }
}

/// Determines where a manager begins, in all its places.
struct Beginnings {
    let request: LaunchRequest
    /// The manager's store is the first place.
    let places: [PlaceState]
    /// The steps of each place that are due.
    let steps: [[MigrationStep]]
    /// The app's answer, once it was asked.
    let answer: AdoptionAnswer?

    /// Determines where the manager begins in its store.
    func inStore() -> Beginning {
        let (store, databases) = (places[0], places.dropFirst())
        // No database is believed about the rows of another one, and none if the store knows the install.
        let isExplained = store.isExplained(in: request.line) || store.hasForgotten(request.line)
        let bearWitness = isExplained && store.seen(in: request.line).isEmpty
        let seen = (bearWitness ? places : [store]).map { $0.seen(in: request.line) }
        return removed(store, asFormers: .fresh(.install))
            ?? downgrade(seen)
            ?? takenOver(store)
            ?? following(in: 0)
            ?? afterLoss(in: 0)
            ?? assumption(store)
            ?? (isExplained ? witness(databases, store.seen(in: request.line)) : nil)
            ?? answered(seen, launched: answer?.launched)
            ?? self.seen(seen)
            ?? ledger(store)
            ?? places.firstIndex { $0.assumptions[request.line] == nil && !$0.isExplained(in: request.line) }
            .map { places[$0].lostRecord == nil ? .undecided(at: $0) : .unknown(at: $0, steps: []) }
            ?? .fresh(.install)
    }

    /// Determines where the manager begins in a database that is not its store.
    ///
    /// - Parameters:
    ///   - record: the record of the store; nil if the manager does not begin there.
    ///   - isMadeAnew: whether the manager has worked in another database at this path, which is gone.
    func inDatabase(
        _ index: Int, _ launch: Launch, _ record: MigrationRecord?, isMadeAnew: Bool
    ) -> Beginning {
        let place = places[index]
        let seen = [place.seen(in: request.line)]
        let asTheStore = beginning(asIn: launch, record, isMadeAnew: isMadeAnew)
        return removed(place, asFormers: asTheStore)
            ?? downgrade(seen)
            ?? takenOver(place)
            ?? following(in: index)
            ?? afterLoss(in: index, asTheStore: asTheStore)
            ?? assumption(place)
            ?? (isNew(place) ? asTheStore : nil)
            ?? answered(seen)
            ?? self.seen(seen)
            ?? ledger(place)
            ?? adopted(place)
            ?? (place.isExplained(in: request.line) ? asTheStore : .undecided(at: index))
    }

    /// The line of versions of the app itself.
    static let appLine = "app"

    // MARK: Lines of the table

    /// - Parameter beginning: where the manager begins if nothing is left of its former ones but such a mark.
    private func removed(_ place: PlaceState, asFormers beginning: Beginning) -> Beginning? {
        if place.hasRemovedRecord { return .fresh(.install) }
        let areRemoved =
            place.lostRecord == nil && place.formerRecords.contains(where: \.isRemoved)
            && place.leavingRecords.isEmpty
        return areRemoved ? beginning : nil
    }

    /// The order of versions is that in which a place has noted them: clocks jump.
    private func downgrade(_ seen: [[SeenVersion]]) -> Beginning? {
        let isAbove = seen.allSatisfy { $0.first.map { $0.version > request.current } ?? true }
        guard isAbove, let latest = seen.joined().map(\.version).max() else { return nil }
        return .downgrade(from: latest)
    }

    private func takenOver(_ place: PlaceState) -> Beginning? {
        place.takenOver.flatMap { $0 > request.current ? .downgrade(from: $0) : nil }
    }

    private func witness(_ databases: ArraySlice<PlaceState>, _ seen: [SeenVersion]) -> Beginning? {
        let records = databases.compactMap(record(in:))
        // An install with a database that the app has said to be at a version is not a new one.
        let begun = records.compactMap(\.start) + databases.compactMap { $0.assumptions[request.line] }
        let completed = records.compactMap(\.completed).max()
        guard let kept = completed?.reach ?? begun.min() else { return nil }
        // A store that has come back from a backup has launched older versions: it is as old as they are. What this build has
        // answered another manager is no evidence of that, unless it is about rows of the store's own database.
        let hasRows = places[0].evidence != .empty
        let known = hasRows ? seen : seen.withoutAnswers(of: request.current, build: request.appBuild)
        guard let older = older([known]) else {
            return .at(kept, databases.contains { wasNew(in: $0, at: completed ?? kept) } ? .lostNew : .lost)
        }
        return .at(min(older, kept), .lost)
    }

    /// Returns true if this build has begun with a database on a new install: then no step of that version was needed
    /// anywhere.
    private func wasNew(in place: PlaceState, at version: AppVersion) -> Bool {
        guard let record = place.record, record.start == version, !record.isInOldInstall else { return false }
        let isOfThisBuild = place.seen(in: request.line).contains {
            $0.version == version && !$0.isAdopted && $0.build != nil && $0.build == request.appBuild
        }
        return isOfThisBuild
            && record.work.contains { $0.value == .notNeeded && $0.key.version.release == version.release }
    }

    func assumption(_ place: PlaceState) -> Beginning? {
        place.assumptions[request.line].map { .at($0, .lost) }
    }

    /// A step in a database commits together with its record: no record means that none has run here.
    private func ledger(_ place: PlaceState) -> Beginning? {
        // Where the app has launched versions, the ledger says nothing of how old a plug-in's data is.
        let isUnseen = request.line == Self.appLine || place.seen(in: Self.appLine).isEmpty
        guard place.evidence == .ledgerOnly, isUnseen, !place.hasForgotten(request.line) else { return nil }
        return place.isExplained(in: request.line) ? nil : .at(.zero, .seen)
    }

    /// The tables are older than the ledger that its migrator is about to begin.
    private func adopted(_ place: PlaceState) -> Beginning? {
        place.evidence == .adopted && !place.isExplained(in: request.line) ? .at(.zero, .seen) : nil
    }

    private func isNew(_ place: PlaceState) -> Bool {
        // What was noted before the contents were replaced is lost.
        guard place.evidence != .replaced else { return false }
        let seen = place.seen(in: request.line)
        if !seen.isEmpty { return seen.areOnly(request.current, build: request.appBuild) }
        // Versions of other lines say nothing, but the builds are the app's.
        return place.evidence == .empty || place.isOnly(of: request.appBuild)
    }

    private func beginning(asIn launch: Launch, _ record: MigrationRecord?, isMadeAnew: Bool) -> Beginning {
        // The first launch of a new install goes on, in whatever build, unless a newer one has gone on with it.
        let isUnfinished =
            !isMadeAnew && !launch.isDowngrade && record?.freshBuild != nil && record?.completed == nil
        let new = Beginning.fresh(isUnfinished ? .install : .database)
        switch launch {
        case .freshInstall: return .fresh(.install)
        case .adoption, .upgrade, .downgrade:
            guard let record else { return beginning(beside: launch) }
            // On a downgrade too: where no launch was completed since an older version, nothing has been imported. A lower
            // version that was launched for a while has not made the data older.
            let stands = record.completed ?? record.start ?? .zero
            // What was in a database that was made anew is gone.
            // On adoption, the store's steps above that run, sub-migrations of the current version included.
            let isBelow =
                if case .adoption = launch { stands <= request.current } else { stands < request.current }
            guard !isMadeAnew, isBelow else { return new }
            return .at(stands, isUnfinished ? .newInstall : .newDatabase)
        case .relaunch: return new
        }
    }

    /// Returns where the manager begins in a new database if it does not begin in its store.
    ///
    /// A newer app has been launched, and has not come as far as the manager: its data is as old as the app says.
    private func beginning(beside launch: Launch) -> Beginning {
        guard case .downgrade = launch, let answered = answered([]) else { return .fresh(.database) }
        guard case .at(let version, _) = answered else { return answered }
        return version < request.current ? .at(version, .newDatabase) : .fresh(.database)
    }

    /// - Parameter version: the version that was launched where the evidence is, for a store that has seen none.
    private func answered(_ seen: [[SeenVersion]], launched version: AppVersion? = nil) -> Beginning? {
        guard let answer else { return .askTheApp }
        guard let answered = answer.version else { return nil }
        // What this build has launched or adopted is no evidence: managers are asked in any order.
        let isAnswered = seen.contains {
            $0.withoutAnswers(of: request.current, build: request.appBuild).contains(where: \.isAdopted)
        }
        let launched = older(seen.map { $0.filter { !$0.isAdopted } }) ?? version
        guard answer.isBound, let launched, launched > answered, !isAnswered else {
            return .at(answered, answer.isBound ? .bound : .answered)
        }
        return .at(launched, .seen)
    }

    private func seen(_ seen: [[SeenVersion]]) -> Beginning? { older(seen).map { .at($0, .seen) } }

    /// Returns the lowest of the versions that each place has seen first, before this build.
    private func older(_ seen: [[SeenVersion]]) -> AppVersion? {
        seen.compactMap { $0.earliest(before: request.current, build: request.appBuild) }.min()
    }

    /// Steps that former managers have run are done, and those that they had still to run are this manager's.
    private func following(in index: Int) -> Beginning? {
        if places[index].lostRecord != nil, !hasNeverFollowed(in: index) { return nil }
        return followed(in: places[index]).map(Beginning.following)
    }

    /// Returns true if a place has not lost the record of the manager, or of a former one: it has these, and the manager has not
    /// begun, in its store or after them.
    private func hasNeverFollowed(in index: Int) -> Bool {
        let formers = places[index].formerRecords
        if formers.contains(where: \.isUnknown) { return false }
        if hasNeverBeen(in: index) { return true }
        return places.allSatisfy { $0.record == nil } && places[index].lostRecord?.hasOwnHistory == false
            && formers.allSatisfy { former in (former.record?.highest).map { $0.reach < former.end } ?? true }
    }

    /// Returns what former managers leave to this one.
    func followed(in place: PlaceState) -> MigrationRecord? {
        let formers = place.leavingRecords.compactMap {
            former -> (record: MigrationRecord, end: AppVersion)? in
            guard let record = former.record, former.hasHadSteps else { return nil }
            return (record, former.end)
        }.inOrder { $0.end > $1.end }
        guard let start = formers.compactMap(\.record.start).min() else { return nil }
        var record = MigrationRecord(start: start)
        for former in formers {
            for (id, state) in former.record.work where id.isStep && id.version < former.end {
                // Nobody looks there again for what the process has died in.
                let state = state.afterDeath
                // A step that one of them has done is done, unless a later one was asked to do it again.
                guard let known = record.open(id) else {
                    record[id] = record[id] ?? state
                    continue
                }
                if !known.isAgain, state.isSettled { record[id] = state }
            }
            record.databases.note(former.record.databases)
        }
        record.completed = formers.compactMap { former in
            former.record.completed.flatMap {
                version($0, before: former.end, in: place) ?? former.record.start
            }
        }.max()
        record.highest = formers.compactMap(\.record.highest).max()
        record.began = formers.compactMap(\.record.began).min()
        record.store = formers[0].record.store
        if record.completed == nil { record.freshBuild = formers.lazy.compactMap(\.record.freshBuild).first }
        return record
    }

    /// Returns a version that a former manager has noted, or the latest one below the end of what that has left.
    func version(_ version: AppVersion?, before end: AppVersion, in place: PlaceState) -> AppVersion? {
        guard let version, version.reach >= end else { return version }
        return place.seen(in: request.line).latest(before: end)
    }
}

extension Beginning {
    /// Returns the record with which the manager begins; nil if it does not begin.
    ///
    /// - Parameters:
    ///   - steps: the steps of the place that are due.
    ///   - moved: the steps that have run in the manager's store, and have come here since.
    func record(
        _ request: LaunchRequest, _ steps: [MigrationStep], movedHere moved: Set<WorkID> = []
    ) -> MigrationRecord? {
        switch self {
        case .fresh(let fresh):
            var record = MigrationRecord(start: request.current)
            record.freshBuild = request.build
            record.isInOldInstall = fresh == .database
            // What a new install needs besides its tables, a new database of an old one does not.
            for step in steps where fresh == .database && step.onFreshInstall == .only {
                record.settle(step.id, as: .notNeeded)
            }
            return record
        case .at(let version, let reason):
            var record = MigrationRecord(start: version)
            // Data that a newer app left behind is not ours to migrate.
            if version.release > request.current.release { record.highest = version }
            for step in steps {
                let isOwed = step.version <= version && step.isOwed(where: reason)
                // A new database needs what has run elsewhere.
                let isNew = reason == .newDatabase || reason == .newInstall
                if moved.contains(step.id), !(isNew && isOwed) {
                    record.settle(step.id)
                } else if reason == .lostNew, step.version.release == version.release {
                    record.settle(step.id, as: .notNeeded)
                } else if isOwed {
                    record[step.id] = .open(OpenWork(isOwed: true))
                }
            }
            return record
        case .following(let record): return record
        case .downgrade, .askTheApp, .undecided, .unknown: return nil
        }
    }
}

extension MigrationStep {
    /// Returns true if the step must run though it is not above the version at which the manager begins.
    fileprivate func isOwed(where reason: Beginning.Reason) -> Bool {
        switch reason {
        case .answered, .bound, .lostNew: false
        case .seen, .newDatabase: onFreshInstall == .run
        case .newInstall: onFreshInstall != .skip
        // It may have been waiting. What runs at least once may run again.
        case .lost: kind == .deferredClosure && onFreshInstall != .only
        }
    }
}

extension PlaceState {
    /// The former managers that an older app would still call, and that do not know of this version yet.
    ///
    /// Where no older version was launched, and this launch names none, one that comes later does nothing in any case.
    ///
    /// - Parameter start: the version with which this manager's record begins.
    func formersToEnd(_ request: LaunchRequest, from start: AppVersion?) -> [String] {
        if formerRecords.isEmpty { return [] }
        let hasOlder =
            start.map { $0 < request.current } == true
            || seen(in: request.line).contains { $0.version < request.current }
        return formerRecords.filter { former in
            // One that has come to the end of what it leaves has left it.
            former.record.map { $0.highest ?? .zero < min(request.current, former.end) } ?? hasOlder
        }.map(\.manager)
    }

    /// The app versions that the place has seen, in the order in which they came.
    func seen(in line: String) -> [SeenVersion] { seen[line] ?? [] }

    /// Returns true if the place is new, or its data is that of a version that it has seen.
    ///
    /// If the app itself has had one version here, and that found nothing older, no older version of a plug-in has been
    /// here either.
    fileprivate func isExplained(in line: String) -> Bool {
        if record != nil || evidence == .empty || !seen(in: line).isEmpty { return true }
        let versions = seen(in: Beginnings.appLine)
        return evidence != .replaced && !hasForgotten(line) && versions.count == 1 && !versions[0].isAdopted
    }

    /// Returns true if one build of the app has been here, and nothing older: it has made what is here.
    fileprivate func isOnly(of build: String?) -> Bool {
        let all = seen.values.joined()
        return build != nil && !all.isEmpty && all.allSatisfy { !$0.isAdopted && $0.build == build }
    }

    /// True if a manager of another line has replaced the damaged contents: what this line had noted is lost with them.
    func hasForgotten(_ line: String) -> Bool {
        !assumptions.isEmpty && assumptions[line] == nil
    }
}
