// Where a manager begins, by what has happened to a device.

extension Promises {
    /// How a manager goes on in a place.
    enum Start: Hashable, Sendable {
        /// It has been here before.
        case goesOn
        case begins(Beginning)
        /// A newer release has been here, and none before that: nothing is done.
        case notAtAll
        /// There are tables, and nothing says how old they are.
        case undecided
    }

    /// Where a manager begins in a place in which nothing of it has run.
    struct Beginning: Hashable, Sendable {
        /// The version at which the data is taken to be: no step of it or below is ever needed here.
        var floor: Int
        /// The same for deferred steps outside databases, of which no database knows whether they are done.
        var deferredFloor: Int?
        /// False if it may as well begin below.
        var isCertain = true
        /// True if none of the steps that there are now is needed.
        var isFresh = false
        /// Whether the steps are owed that run on new installs too; nil if both would do.
        var owesRun: Bool? = false
        /// Whether the steps are owed that are for new installs alone; nil if both would do.
        var owesOnly: Bool? = false
        /// True if the app has said so.
        var isAnswer = false
        /// True if a database has kept it while the store has forgotten it.
        var isKept = false
        /// True if the app has taken the data, which was there, for that of a new install.
        var isDenied = false
        /// True if what was known is lost, so that deferred steps outside databases may have been waiting.
        var isLost = false

        static func fresh(_ release: SmallRelease, isCertain: Bool) -> Beginning {
            let owes = isCertain ? true : nil
            return Beginning(
                floor: release.version, isCertain: isCertain, isFresh: true, owesRun: owes, owesOnly: owes)
        }
    }

    // MARK: Beginnings

    /// How a manager goes on in a place, in a launch: the first line that applies.
    ///
    /// | what has happened to the place | the manager |
    /// | --- | --- |
    /// | the manager has been here | goes on |
    /// | the app has removed what was known of the manager, with its data | is new here |
    /// | newer releases were launched here, and no older one was launched or named before them | does nothing |
    /// | what was known here was damaged, and the app has named a version instead | begins at that version |
    /// | the store has forgotten the manager, and a database of its own has not | begins at what it has completed there |
    /// | nothing is here, or nothing but this build has been | begins in a database where it stands elsewhere |
    /// | the app names the version of the data | begins at it |
    /// | the app names the lowest version that it can have | begins there, or where this place was launched first, by another build |
    /// | older releases were launched here, or this one in another build | begins at the earliest that was no visit |
    /// | there is a ledger, and no release was launched here | begins before all versions |
    /// | there are tables | cannot decide |
    /// | nothing | is new |
    func start(of manager: Int, in place: Place, _ release: SmallRelease) -> Start {
        let place = recordPlace(place)
        guard let memory = places[place] else { return fresh(release) }
        let life = memory.managers[manager]
        if life?.floor != nil { return .goesOn }
        if let life, life.isRemoved {
            return .begins(
                Beginning(
                    floor: release.version, isFresh: true, owesRun: true, owesOnly: nil))
        }
        let databases = app.places.filter { $0 != .files && $0 != place && uses($0, manager, release) }
        let line = line(manager)
        let own = memory.seen[line] ?? []
        // Only a store that knows nothing at all lets the databases say how old the install is: none that has rows itself.
        let isReplaced = !memory.replaced.isEmpty && memory.replaced[line] == nil
        let isBlank = place == store && (isReplaced || !isUnknown(store, line))
        let knowsNothing = isBlank && own.isEmpty
        let lists = knowsNothing ? databases.map { places[$0]?.seen[line] ?? [] } : [own]
        let seen = lists.flatMap { $0 }
        // What the app has named for a damaged place counts as launched with the first launch there.
        let floor = memory.replaced[line]
        let isAbove = lists.allSatisfy { $0.isEmpty || isDowngrade($0, release) }
        if isAbove, !seen.isEmpty, floor == nil || own.contains(where: { !$0.isNamed }) {
            return .notAtAll
        }
        if let floor {
            return .begins(Beginning(floor: floor, isAnswer: true, isLost: true))
        }
        if isBlank, let floor = floorKept(by: manager, in: databases, release, memory.isForgotten ? [] : own)
        {
            let lives = databases.compactMap { places[$0]?.managers[manager] }
            let isCertain =
                !memory.isForgotten && lives.allSatisfy(\.isCertain)
                && !own.contains(where: \.isDoubtful)
            return .begins(
                Beginning(
                    floor: floor, deferredFloor: lives.compactMap(\.floor).min(), isCertain: isCertain,
                    isKept: true,
                    // A line of its own has not seen the releases of the app that have left files here.
                    isDenied: app.managers[manager].isNewApp
                        && (places[.files]?.isOld == true || app.managers[manager].hasOwnLine)
                        && lives.contains { $0.newIn == release },
                    isLost: true))
        }
        if place != store, isNew(place, line, release) {
            return startInNewDatabase(place, of: manager, release)
        }
        if let answer = answer(
            of: manager, seen: seen, in: release,
            isAnswered: memory.answered.contains(line) || seen.contains(where: \.isNamed))
        {
            return .begins(answer)
        }
        if let earliest = earliest(of: seen, before: release) {
            // Where it is not certain, the manager may have begun in an older release, which has done what it owed.
            let isCertain = !seen.contains(where: \.isDoubtful)
            return .begins(
                Beginning(
                    floor: earliest, isCertain: isCertain, owesRun: isCertain ? true : nil))
        }
        if !memory.replaced.isEmpty, own.isEmpty { return .undecided }
        if place != store, isUnknown(place, line) {
            return hasMove(place, manager, release) ? .begins(Beginning(floor: 0)) : .undecided
        }
        if place == store, ([store] + databases).contains(where: { isUnknown($0, line) }) {
            return .undecided
        }
        guard place == store else { return startInNewDatabase(place, of: manager, release) }
        return fresh(release)
    }

    private func fresh(_ release: SmallRelease) -> Start { .begins(.fresh(release, isCertain: true)) }

    private func isDowngrade(_ seen: [Seen], _ release: SmallRelease) -> Bool {
        seen.firstIndex { $0.release.number > release.number } == 0
    }

    private func earliest(of seen: [Seen], before release: SmallRelease) -> Int? {
        seen.filter {
            !$0.isVisit && ($0.isNamed || $0.release != release) && $0.release.number <= release.number
        }
        .map(\.release.version).min()
    }

    /// What the manager has completed in databases of its own, while the store has forgotten it.
    ///
    /// A store that has come back from a backup knows older releases: it is as old as they are.
    private func floorKept(
        by manager: Int, in databases: [Place], _ release: SmallRelease, _ own: [Seen]
    ) -> Int? {
        let lives = databases.compactMap { places[$0]?.managers[manager] }.filter { $0.floor != nil }
        // What the app has said of a damaged database, it has said of the install.
        let said = databases.compactMap { places[$0]?.replaced[line(manager)] }
        guard let lowest = (lives.compactMap(\.floor) + said).min() else { return nil }
        // What another manager was answered by this build says nothing, unless it is about rows that are there.
        let own = own.filter { hasTables(store) || $0.namedBy != release }
        let finished = lives.compactMap(\.finished).max()
        let kept = finished.map { $0 * 10 } ?? lowest
        return min(kept, earliest(of: own, before: release) ?? kept)
    }

    /// True for a database in which there is nothing, or in which only this build has been.
    private func isNew(_ place: Place, _ line: Line, _ release: SmallRelease) -> Bool {
        guard let memory = places[place] else { return true }
        guard memory.replaced.isEmpty else { return false }
        // Records of other lines are nothing that this one could migrate.
        if !hasTables(place), memory.seen[line, default: []].isEmpty { return true }
        let seen = memory.seen.values.joined()
        guard seen.allSatisfy({ $0.release == release && !$0.isNamed }) else { return false }
        return !hasTables(place) || !seen.isEmpty
    }

    private func startInNewDatabase(_ place: Place, of manager: Int, _ release: SmallRelease) -> Start {
        let isCertain = places[store]?.managers[manager]?.isCertain ?? true
        func begins(_ floor: Int, isFresh: Bool = false, owesOnly: Bool? = false) -> Start {
            .begins(
                Beginning(
                    floor: floor, isCertain: isCertain, isFresh: isFresh, owesRun: true,
                    owesOnly: isCertain || owesOnly == true ? owesOnly : nil))
        }
        switch start(of: manager, in: store, release) {
        case .undecided: return .undecided
        case .notAtAll:
            guard
                var here = answer(of: manager, seen: [], in: release, isAnswered: false),
                here.floor < release.version
            else { return begins(release.version, isFresh: true) }
            (here.isAnswer, here.owesRun) = (false, true)
            return .begins(here)
        case .begins(let beginning):
            var here = Beginning(
                floor: beginning.floor, isFresh: beginning.isFresh, owesRun: true,
                owesOnly: beginning.owesOnly)
            // It is no more certain than in the store.
            here.isCertain = beginning.isCertain
            // Where another manager has taken old data for that of a new install, this one does, too.
            here.isDenied =
                places[place].map { memory in
                    memory.isOld && memory.managers.values.contains { $0.newIn == release }
                } ?? false
            return .begins(here)
        case .goesOn: break
        }
        guard let life = places[store]?.managers[manager], let floor = life.floor else {
            return fresh(release)
        }
        if life.databases.contains(place) { return begins(release.version, isFresh: true) }
        if let finished = life.finished {
            return begins(min(finished, release.number) * 10, isFresh: finished >= release.number)
        }
        // Its first launch has not been completed.
        if life.highest > release.number {
            return floor < release.version ? begins(floor) : begins(release.version, isFresh: true)
        }
        guard life.newIn == release else { return begins(floor, owesOnly: life.newIn != nil) }
        // After a visit of another release, the database may be as new, or older.
        let isAlone =
            life.launched.map { $0 == release.number } ?? true && life.begun.isSubset(of: [release.number])
        return begins(floor, isFresh: true, owesOnly: isAlone ? true : nil)
    }

    private func answer(
        of manager: Int, seen: [Seen], in release: SmallRelease, isAnswered: Bool
    ) -> Beginning? {
        let asked = app.managers[manager]
        let isOld = places[.files]?.isOld ?? false
        let isExact = asked.asks(for: .version) || asked.asks(for: .key) && isOld
        let isBound =
            asked.asks(for: .file) && isOld
            || asked.asks(for: .tables) && hasTables(.database(0))
                && !hasOwnTables(.database(0), line(manager))
        guard isExact || isBound else { return nil }
        // What this build has launched says nothing: the app may call its managers in any order.
        let launched =
            isExact || isAnswered ? nil : earliest(of: seen.filter { !$0.isNamed }, before: release)
        // Tables that an app with this package has made mean nothing to a line of versions of its own.
        // Where a launch is later than the bound, that is what has been seen, and no answer.
        return Beginning(
            floor: max(10, launched ?? 10),
            isCertain: isExact || !app.managers[manager].hasOwnLine,
            owesRun: isExact ? false : nil, owesOnly: isExact ? false : nil,
            isAnswer: launched ?? 10 <= 10)
    }

    /// True for tables that this build has made, as far as its line of versions is known there.
    private func hasOwnTables(_ place: Place, _ line: Line) -> Bool {
        let seen = places[place]?.seen[line] ?? []
        return !seen.isEmpty && seen.allSatisfy { $0.release == release && !$0.isNamed }
    }

    /// True for tables of which nothing says how old they are.
    ///
    /// Where the app itself has had one version, and found nothing older, no older plug-in has been.
    private func isUnknown(_ place: Place, _ line: Line) -> Bool {
        guard let memory = places[place], hasTables(place), memory.seen[line] == nil else { return false }
        let versions = memory.seen[.app] ?? []
        return Set(versions.map(\.release.number)).count != 1 || versions.contains(where: \.isNamed)
    }
}
