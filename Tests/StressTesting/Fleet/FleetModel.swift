/// The behavior that the package's design asks of a device: nothing of the package is used here.
///
/// A launch is a list of states that a device goes through. One that is killed has come to some point of the list.
struct FleetModel {
    typealias Home = FleetApp.Home

    /// The contents of a device.
    struct State: Hashable {
        private var places = [Place](repeating: Place(), count: Home.allCases.count)
        /// The work of the steps outside databases, in order.
        var files: [String] = []

        /// The store is empty where it is in the database.
        subscript(home: Home) -> Place {
            get { places[home.rawValue] }
            set { places[home.rawValue] = newValue }
        }
    }

    /// The memory of a place, and the work that was done there.
    struct Place: Hashable {
        var records: [Int: Record] = [:]
        /// The versions that have been seen, by the line in which they count.
        var seen: [String: Set<Int>] = [:]
        /// False if the app itself has had one version here, and that has found nothing older.
        var mayBeOld: Bool { seen["app"]?.count != 1 || !adopted["app", default: []].isEmpty }
        /// Those of them that evidence has named.
        var adopted: [String: Set<Int>] = [:]
        /// The migrations of its schema: none in a store.
        var ledger: Set<Int> = []
        /// The work of the steps in a database, in order.
        var done: [String] = []
        /// The rows of its table.
        var rows: [Int] = []

        /// After a first launch that was cut short, a downgrade leaves a database without its tables.
        var hasTables: Bool { ledger.contains(FleetApp.firstSchema) }
    }

    /// The memory that a place has of one manager.
    struct Record: Hashable {
        var floor: Int?
        var settled: Set<Int> = []
        var owed: Set<Int> = []
        var completed: Int?
        var highest: Int?
        var downgradedTo: Int?
        /// The work that was started and has not ended.
        var attempts: [Work: Attempt] = [:]
        /// How often steps have failed.
        var failures: [Int: Int] = [:]
        var givenUp: Set<Int> = []
        /// How far deferred steps are.
        var positions: [Int: Position] = [:]

        struct Work: Hashable {
            enum Kind { case step, move, versionChange }

            let rank: Int
            var kind = Kind.step
        }

        struct Attempt: Hashable {
            var number: Int
            var forgiven = 0
            /// For a move: how many migrations it still had to apply.
            var remaining: Int?
            var build: String

            /// Notes that the work has got further.
            mutating func restart() {
                number = 1
                forgiven = 0
            }
        }

        struct Position: Hashable {
            var done = 0
            var total: Int?
            /// The rows that have failed, and that each run retries.
            var setAside: [Int] = []

            /// True if its bounds are known.
            var isBegun = false
            /// The bounds of the rows that are left, of those that there were when it began.
            var rest: ClosedRange<Int>?

            init(
                done: Int = 0, total: Int? = nil, setAside: [Int] = [], isBegun: Bool = false,
                rest: ClosedRange<Int>? = nil
            ) {
                (self.done, self.total, self.setAside) = (done, total, setAside)
                (self.isBegun, self.rest) = (isBegun, rest)
            }

            /// Where a step begins that goes over the rows of a table.
            init(over rows: [Int]) {
                self.init(total: rows.count, isBegun: true)
                if let first = rows.first, let last = rows.last { rest = first...last }
            }

            /// Leaves what comes behind a row; nothing behind nil.
            mutating func move(behind row: Int?) {
                guard let row, let upper = rest?.upperBound, row < upper else {
                    rest = nil
                    return
                }
                rest = row + 1...upper
            }
        }

        mutating func settle(_ rank: Int) {
            settled.insert(rank)
            owed.remove(rank)
            givenUp.remove(rank)
            failures[rank] = nil
            positions[rank] = nil
            attempts[Work(rank: rank)] = nil
        }

        /// Notes that work is started: again, if the process has died in it.
        mutating func start(_ work: Work, remaining: Int?, build: String) {
            var attempt = Attempt(number: 1, remaining: remaining, build: build)
            // A move that has got further since it died starts afresh.
            if let died = attempts[work], died.remaining == remaining {
                attempt.number = died.number + 1
                // So does everything in a new build.
                attempt.forgiven = died.build == build ? died.forgiven : died.number
            }
            attempts[work] = attempt
        }

        /// Notes that work has thrown: it has not died this time, whatever happened before.
        mutating func stop(_ work: Work) {
            guard var attempt = attempts[work] else { return }
            attempt.number -= 1
            attempt.forgiven = min(attempt.forgiven, attempt.number)
            attempts[work] = attempt.number == 0 ? nil : attempt
        }

        /// Counts a failure.
        ///
        /// - Returns: whether the step is given up.
        mutating func fail(_ step: FleetApp.Step) -> Bool {
            let count = failures[step.rank, default: 0] + 1
            let isGivenUp = step.givesUpAfter.map { count >= $0 } ?? false
            failures[step.rank] = isGivenUp ? nil : count
            if isGivenUp { givenUp.insert(step.rank) }
            return isGivenUp
        }

        /// True if the process has died in work too often in a build.
        func isExhausted(_ work: Work, remaining: Int?, build: String, maximum: Int) -> Bool {
            guard let died = attempts[work], died.remaining == remaining, died.build == build else {
                return false
            }
            return died.number - died.forgiven >= maximum
        }
    }

    /// How a launch of a manager ends.
    enum Outcome: Hashable {
        case done(
            launch: String, returned: Bool, isFirst: Bool, completed: [Int], moved: [Int], waiting: [Int],
            skipped: [Int], pending: [Int])
        /// The fate of deferred work after the launch.
        case deferred(completed: [Int], skipped: [Int], pending: [Int], failed: [Int])
        case stopped(String, at: Int?)
    }

    /// The fate of the bodies of steps in a process.
    struct Trouble: Hashable, Sendable {
        /// The number of the body that throws, from 1.
        let body: Int
        /// True if all later ones throw as well.
        var goesOn = false
        /// True if they ask to wait, and have not failed.
        var isObstacle = false

        func strikes(_ number: Int) -> Bool { number == body || goesOn && number > body }

        var error: String { isObstacle ? "postponed" : "stepFailed" }
    }

    /// The state of a manager between calls: its decisions, and its work.
    struct Memory {
        fileprivate var answer: Answer?
        fileprivate var kinds: [Home: Kind] = [:]
        fileprivate var (returned, isFirst) = (false, false)
        fileprivate var (completed, moved, skipped): ([Int], [Int], [Int]) = ([], [], [])
    }

    /// The app's answer about an install without a record, once it was asked.
    struct Answer {
        let version: Int?
    }

    let app: FleetApp
    let build: Int
    /// The states that the device goes through, from the one at first.
    private(set) var timeline: [State]
    private let trouble: Trouble?
    /// The bodies that have run.
    private var bodies = 0

    init(_ app: FleetApp, _ state: State, build: Int, trouble: Trouble? = nil) {
        self.app = app
        self.build = build
        self.trouble = trouble
        timeline = [state]
    }

    var state: State { timeline[timeline.count - 1] }
    var current: FleetApp.Build { FleetApp.builds[build] }

    /// Has another process launch a build in between.
    mutating func outrun(by other: Int) {
        var model = FleetModel(app, state, build: other)
        for manager in app.managers(in: other) {
            var memory = Memory()
            guard case .done = model.migrate(manager, &memory) else { break }
        }
        timeline += model.timeline
    }

    /// True if a device may be in a state, when the launch was cut short: at one point of the list, except that the
    /// places written at that point may or may not have been.
    func allows(_ found: State) -> Bool {
        zip(timeline, timeline.dropFirst() + [state]).contains { before, after in
            Home.allCases.allSatisfy { found[$0] == before[$0] || found[$0] == after[$0] }
                && (found.files == before.files || found.files == after.files)
        }
    }

    mutating func change(_ body: (inout State) -> Void) {
        var next = state
        body(&next)
        timeline.append(next)
    }

    /// Runs a body that can run.
    ///
    /// - Returns: why it throws; nil if it does not.
    mutating func runBody() -> Trouble? {
        bodies += 1
        return trouble.flatMap { $0.strikes(bodies) ? $0 : nil }
    }
}

// The plan of a launch of one manager.
extension FleetModel {
    enum Kind {
        case fresh, relaunch
        case adoption(Int)
        case upgrade(Int)
        case downgrade(Int)

        var previous: Int? {
            switch self {
            case .fresh, .relaunch: nil
            case .adoption(let rank), .upgrade(let rank), .downgrade(let rank): rank
            }
        }

        /// The earlier version, unless this is a downgrade.
        var raised: Int? { isDowngrade ? nil : previous }

        var isDowngrade: Bool { if case .downgrade = self { true } else { false } }

        var text: String {
            switch self {
            case .fresh: "freshInstall"
            case .relaunch: "relaunch"
            case .adoption(let rank): "adoption \(rank)"
            case .upgrade(let rank): "upgrade \(rank)"
            case .downgrade(let rank): "downgrade \(rank)"
            }
        }
    }

    /// Something to do.
    struct Item {
        let rank: Int
        let place: Home
        var kind = Record.Work.Kind.step
        /// Nil for a move and a change of the version.
        var step: FleetApp.Step?
        var isLate = false
        var numbers: [Int] = []
        var finishes: [Int] = []
        /// True if something that it finishes is not done, and cannot be.
        var isHeld = false

        var work: Record.Work { Record.Work(rank: rank, kind: kind) }
        var remaining: Int? { kind == .move ? numbers.count : nil }
        var isDeferred: Bool { step?.isDeferred ?? false }
        var isBestEffort: Bool { step?.isBestEffort ?? false }

        /// Steps that only fresh installs need come first, and a move before the steps of its version.
        var order: (Int, Int, Int, Int) {
            (step?.onFreshInstall == .only ? 0 : 1, rank, step == nil ? 0 : 1, place.rawValue)
        }
    }

    struct LaunchPlan {
        /// The store's first.
        var places: [Home]
        var kinds: [Home: Kind] = [:]
        /// The records with which the launch begins.
        var records: [Home: Record] = [:]
        var items: [Item] = []
        /// The deferred steps that wait.
        var waiting: [Item] = []
        var returned = false
        var isFirst = false
        /// True if nothing but best-effort steps keeps deferred steps from running.
        var isReady = false
        var isSettled: Bool { isReady && items.isEmpty && unprepared.isEmpty }

        /// The deferred steps that wait, and of which no launch has noted how many rows there are.
        var unprepared: [Item] { waiting.filter { records[$0.place]?.positions[$0.rank] == nil } }
    }

    /// Plans a launch of a manager.
    ///
    /// - Parameters:
    ///   - stop: the last rank whose work is done; nil for all of it.
    ///   - memory: what the manager has decided, and decides now.
    /// - Returns: the plan, or why there is none.
    func plan(
        _ manager: Int, through stop: Int? = nil, _ memory: inout Memory
    ) -> (plan: LaunchPlan?, problem: Outcome) {
        let steps = app.steps(of: manager, in: build)
        let moves = app.moves(of: manager, in: build)
        // A database that holds a version that is not known belongs to a newer build.
        for home in Home.allCases {
            let known = Set(moves.filter { $0.home == home }.flatMap(\.numbers))
            if let lowest = known.min(),
                state[home].ledger.contains(where: { $0 > lowest && !known.contains($0) })
            {
                return (nil, .stopped("newerThanThisProcess", at: nil))
            }
        }
        let store = place(of: .store)
        let used = Set(moves.map(\.home) + steps.map { place(of: $0.home) })
        var plan = LaunchPlan(places: [store] + Home.allCases.filter { $0 != store && used.contains($0) })
        var held: Set<Int> = []
        for path in plan.places {
            let old = state[path].records[manager]
            let here = steps.filter { place(of: $0.home) == path }
            guard let kind = kind(manager, path, among: plan.places, &memory) else {
                return (nil, .stopped("undecided", at: nil))
            }
            let record = begin(old, kind, here)
            plan.kinds[path] = kind
            plan.records[path] = record
            let pending = here.filter { isPending($0, record) }
            // A downgrade does nothing.
            if kind.isDowngrade {
                held.formUnion(pending.filter(\.isDeferred).map(\.rank))
                continue
            }
            let reached = ((old?.settled ?? []) + [old?.completed].compactMap { $0 }).max()
            plan.items += pending.map { step in
                let isLate = step.onFreshInstall != .only && reached.map { step.rank < $0 } ?? false
                return Item(
                    rank: step.rank, place: path, step: step, isLate: isLate,
                    finishes: step.isDeferred ? [] : step.finishes)
            }
            plan.items += moves.filter { $0.home == path }.map { move in
                Item(
                    rank: move.rank, place: path, kind: .move,
                    numbers: move.numbers.filter { !state[path].ledger.contains($0) },
                    finishes: app.finishes(moveOf: move.rank, of: manager, in: build))
            }.filter { !$0.numbers.isEmpty }
        }
        // A launch runs no deferred steps, except those that something pending finishes.
        let last = stop ?? .max
        let finished = Set(plan.items.filter { $0.rank <= last }.flatMap(\.finishes))
        plan.items.sort { $0.order < $1.order }
        plan.waiting = plan.items.filter { $0.isDeferred && !finished.contains($0.rank) }
        plan.items.removeAll { $0.isDeferred && !finished.contains($0.rank) }
        // What only fresh installs need comes before all that is done, whatever its version.
        while let item = plan.items.last, item.rank > last { plan.items.removeLast() }
        for index in plan.items.indices {
            plan.items[index].isHeld = plan.items[index].finishes.contains(where: held.contains)
        }
        if stop == nil, app.hasVersionChange(manager, in: build), let from = plan.kinds[store]?.raised,
            from != current.rank, from != 0
        {
            plan.items.append(Item(rank: current.rank, place: store, kind: .versionChange))
        }
        plan.isReady =
            plan.items.allSatisfy(\.isBestEffort)
            && plan.places.allSatisfy { isWritten(manager, $0, plan) }

        guard memory.kinds.isEmpty else {
            (plan.returned, plan.isFirst) = (memory.returned, memory.isFirst)
            return (plan, .stopped("", at: nil))
        }
        let record = state[store].records[manager]
        let isNewer = record?.highest.map { $0 < current.rank } ?? true
        switch plan.kinds[store] {
        case .upgrade: (plan.returned, plan.isFirst) = (record?.downgradedTo != nil, isNewer)
        case .fresh, .adoption: plan.isFirst = isNewer
        case .relaunch, .downgrade, nil: break
        }
        return (plan, .stopped("", at: nil))
    }

    /// The place that has the record of work.
    func place(of home: Home) -> Home {
        home == .store && app.storage == .storeInDatabase ? .database : home
    }

    private func isPending(_ step: FleetApp.Step, _ record: Record) -> Bool {
        // Known, above the floor or owed, not settled, and at most the target.
        guard !record.settled.contains(step.rank) else { return false }
        let isOwed = record.owed.contains(step.rank)
        guard isOwed || record.floor.map({ step.rank > $0 }) ?? true else { return false }
        if step.onFreshInstall == .only, !isOwed { return false }
        return !(step.isBestEffort && record.givenUp.contains(step.rank))
    }

    /// True if a place has written down all that a launch has to say when everything is done.
    private func isWritten(_ manager: Int, _ path: Home, _ plan: LaunchPlan) -> Bool {
        let place = state[path]
        return place.records[manager] == plan.records[path].map { finish($0, plan.kinds[path]) }
            && place.seen[app.lines[manager], default: []].contains(current.rank)
    }

    /// Is it new? From the record, or else from evidence, strongest first; nil when that is undecided.
    private func kind(
        _ manager: Int, _ path: Home, among places: [Home], _ memory: inout Memory
    ) -> Kind? {
        let line = app.lines[manager]
        let place = state[path]
        let hasSeenNothing = place.seen[line, default: []].isEmpty
        if let record = place.records[manager] {
            if let highest = record.highest, highest > current.rank { return .downgrade(highest) }
            if let known = memory.kinds[path] { return known }
            if let lower = record.downgradedTo, lower < current.rank { return .upgrade(lower) }
            guard let completed = record.completed else { return .adoption(record.floor ?? 0) }
            return completed < current.rank ? .upgrade(completed) : .relaunch
        }
        // What a later release has left is not this one's to migrate.
        func left(at rank: Int) -> Kind {
            rank / 100 > current.rank / 100 ? .downgrade(rank) : .adoption(rank)
        }
        let isStore = path == places[0]
        // No database is believed about the rows of another one.
        let others = isStore && place.ledger.isEmpty ? places.dropFirst().map { state[$0] } : []
        // A database that has nothing is new, whatever the app says of its other data.
        if !isStore, place.ledger.isEmpty, hasSeenNothing { return .fresh }
        // The manager's own record, which the store alone has lost.
        let own = others.filter { $0.seen[line, default: []].contains { $0 < current.rank } }
            .compactMap { $0.records[manager]?.completed }
        if let rank = own.max() { return left(at: rank) }
        if memory.answer == nil { memory.answer = Answer(version: baseline(of: manager)) }
        if let rank = memory.answer?.version { return left(at: rank) }
        // A store that has seen nothing believes the databases.
        let witnesses = [place] + (hasSeenNothing ? others : [])
        if let rank = version(in: line, seenBy: witnesses) { return left(at: rank) }
        // No step has ever run in a database that has a ledger and no record.
        if !isStore, hasSeenNothing, place.mayBeOld { return .adoption(0) }
        // One that is not new and cannot tell leaves it open.
        let hasUnknownData = places.map { state[$0] }.contains {
            !$0.ledger.isEmpty && $0.seen[line, default: []].isEmpty && $0.mayBeOld
                && $0.records[manager] == nil
        }
        return hasUnknownData ? nil : .fresh
    }

    /// The version that an install was at: an earlier one, or else one that evidence has named, or else a newer one.
    private func version(in line: String, seenBy places: [Place]) -> Int? {
        let seen = places.flatMap { $0.seen[line, default: []] }
        return seen.filter { $0 < current.rank }.max()
            ?? places.flatMap { $0.adopted[line, default: []] }.max()
            ?? seen.filter { $0 > current.rank }.max()
    }

    /// The app's answer about an install without a record.
    private func baseline(of manager: Int) -> Int? {
        switch app.baselines[manager] {
        case .newApp: return nil
        case .version(let rank): return rank
        case .databaseHasTables(let rank):
            let (place, line) = (state[.database], app.lines[manager])
            if let found = version(in: line, seenBy: [place]) { return found == 0 ? rank : found }
            return place.seen[line, default: []].isEmpty && !place.ledger.isEmpty ? rank : nil
        case .fileExists(let rank, let exists): return exists ? rank : nil
        }
    }

    private func begin(_ old: Record?, _ kind: Kind, _ steps: [FleetApp.Step]) -> Record {
        var record = old ?? Record(floor: kind.previous ?? current.rank)
        switch kind {
        case .fresh:
            // There is no old data: nothing is needed but what the app asked for, which is owed.
            for step in steps where !record.settled.contains(step.rank) {
                if step.onFreshInstall == .skip {
                    record.settled.insert(step.rank)
                } else {
                    record.owed.insert(step.rank)
                }
            }
            record.completed = current.rank
        case .downgrade(let highest):
            record.highest = max(highest, record.highest ?? 0)
            record.downgradedTo = current.rank
        case .adoption, .upgrade, .relaunch:
            break
        }
        record.highest = max(current.rank, record.highest ?? 0)
        return record
    }

    private func finish(_ record: Record, _ kind: Kind?) -> Record {
        guard kind.map({ !$0.isDowngrade }) ?? false else { return record }
        var record = record
        record.completed = current.rank
        record.downgradedTo = nil
        return record
    }
}

// A launch of one manager.
extension FleetModel {
    /// Plays a launch of a manager.
    ///
    /// - Parameter memory: what the manager has decided before this.
    mutating func play(_ launch: FleetEvent.Launch, of manager: Int, _ memory: inout Memory) -> Outcome {
        if launch.waits == true { return wait(manager) }
        if let through = launch.through {
            let outcome = migrate(manager, through: through, &memory)
            guard case .done = outcome else { return outcome }
        }
        return migrate(manager, &memory)
    }

    /// Plays a call of a manager.
    ///
    /// - Parameter stop: the rank at which it ends; nil for the call that completes the launch.
    private mutating func migrate(
        _ manager: Int, through stop: Int? = nil, _ memory: inout Memory
    ) -> Outcome {
        let (found, problem) = plan(manager, through: stop, &memory)
        guard let plan = found else { return problem }
        memory.kinds = plan.kinds
        (memory.returned, memory.isFirst) = (plan.returned, plan.isFirst)
        let line = app.lines[manager]
        // What the records are to say: all of it is written when something is started, and in the end.
        var records = plan.records
        func write(_ model: inout FleetModel) {
            var next = model.state
            for path in plan.places {
                let (place, previous) = (next[path], plan.kinds[path]?.previous)
                let seen = place.seen[line, default: []]
                guard place.records[manager] != records[path] || !seen.contains(model.current.rank)
                else {
                    continue
                }
                let isFirst = place.records[manager] == nil
                let isAdopted = isFirst && previous.map { !seen.contains($0) } ?? false
                next[path].adopted[line, default: []]
                    .formUnion([isAdopted ? previous : nil].compactMap { $0 })
                next[path].records[manager] = records[path]
                // That it is old, at least, is worth a note when it is found out.
                next[path].seen[line, default: []]
                    .formUnion(
                        [previous, model.current.rank].compactMap { $0 }.filter { $0 != 0 || isFirst })
            }
            guard next != model.state else { return }
            let store = plan.places[0]
            if model.state[store].records[manager] == nil {
                // A database that has a record while the store has none would bear witness to a launch that never was.
                model.change { $0[store] = next[store] }
            }
            model.timeline.append(next)
        }
        func end(_ code: String, at rank: Int?) -> Outcome {
            write(&self)
            return .stopped(code, at: rank)
        }

        for item in plan.items {
            let (path, work) = (item.place, item.work)
            if item.isHeld { return end("stepFailed", at: item.rank) }
            let isExhausted = records[path]?.isExhausted(
                work, remaining: item.remaining, build: current.text, maximum: app.maximumAttempts)
            if isExhausted == true { return end("gaveUp", at: item.rank) }
            records[path]?.start(work, remaining: item.remaining, build: current.text)
            write(&self)
            let from = plan.kinds[path]?.previous
            let trouble =
                if let step = item.step { run(step, item, from: from) } else {
                    runUnsettled(manager, item, from: from)
                }
            // The work has written what it says about itself.
            records[path] = state[path].records[manager]
            guard let trouble else {
                records[path]?.attempts[work] = nil
                memory.moved += item.numbers
                if let step = item.step {
                    records[path]?.settle(step.rank)
                    memory.completed.append(step.rank)
                }
                continue
            }
            records[path]?.stop(work)
            guard let step = item.step else { return end(trouble.error, at: nil) }
            if !trouble.isObstacle, records[path]?.fail(step) == true { memory.skipped.append(step.rank) }
            guard step.isBestEffort else { return end(trouble.error, at: item.rank) }
        }
        // A launch notes what waits.
        for item in stop == nil ? plan.unprepared : [] {
            // The table may not be there yet.
            let isBegun = item.step?.batches == .rows && state[item.place].hasTables
            records[item.place]?.positions[item.rank] =
                isBegun ? Record.Position(over: state[item.place].rows) : Record.Position()
        }
        for path in plan.places where stop == nil {
            records[path] = records[path].map { finish($0, plan.kinds[path]) }
        }
        write(&self)
        return outcome(plan, memory)
    }

    /// Plays a launch of a manager in an extension, which writes nothing.
    func wait(_ manager: Int) -> Outcome {
        var memory = Memory()
        let (found, problem) = plan(manager, &memory)
        guard let plan = found else { return problem }
        for place in plan.places {
            if case .downgrade(let rank) = plan.kinds[place] {
                return .stopped("newerThanThisProcess", at: rank)
            }
        }
        let isMigrated = plan.items.allSatisfy { $0.isBestEffort || $0.kind == .versionChange }
        guard isMigrated, state[plan.places[0]].records[manager] != nil else {
            return .stopped("notYetMigrated", at: nil)
        }
        return outcome(plan, memory)
    }

    private func outcome(_ plan: LaunchPlan, _ memory: Memory) -> Outcome {
        let ended = Set(memory.completed + memory.skipped)
        return .done(
            launch: plan.kinds[plan.places[0]]?.text ?? "", returned: plan.returned, isFirst: plan.isFirst,
            completed: memory.completed, moved: memory.moved, waiting: plan.waiting.map(\.rank),
            skipped: memory.skipped,
            pending: plan.items.compactMap(\.step?.rank).filter { !ended.contains($0) })
    }

    /// Runs a move, or the closure for a change of the version.
    ///
    /// - Returns: why it throws; nil if it does not.
    private mutating func runUnsettled(_ manager: Int, _ item: Item, from previous: Int?) -> Trouble? {
        for number in item.numbers {
            change {
                $0[item.place].ledger.insert(number)
                if number == FleetApp.firstSchema { $0[item.place].rows = Array(1...FleetApp.rows) }
            }
        }
        guard item.kind == .versionChange else { return nil }
        let trouble = runBody()
        change { $0.files.append(Self.line(manager: manager, changedFrom: previous ?? 0, to: item.rank)) }
        return trouble
    }

    /// Runs a step, which notes itself what it has done.
    ///
    /// - Returns: why it throws; nil if it does not.
    private mutating func run(_ step: FleetApp.Step, _ item: Item, from previous: Int?) -> Trouble? {
        if step.isDeferred { return runToEnd(step) }
        let (manager, path) = (step.manager, item.place)
        let line = Self.line(
            manager: manager, rank: step.rank,
            attempt: state[path].records[manager]?.attempts[item.work]?.number ?? 0,
            isLate: item.isLate, from: previous.flatMap { $0 == 0 ? nil : $0 })
        guard step.isInDatabase else {
            let trouble = runBody()
            if step.hasCheckpoint {
                change { $0[path].records[manager]?.attempts[item.work]?.restart() }
            }
            change { $0.files.append(line) }
            return trouble
        }
        guard state[path].hasTables else { return .noTables }
        if let trouble = runBody() { return trouble }
        change {
            $0[path].done.append(line)
            $0[path].records[manager]?.settle(step.rank)
        }
        return nil
    }

    /// The line that the closure for a change of the version writes about it.
    static func line(manager: Int, changedFrom from: Int, to rank: Int) -> String {
        "\(manager) changed from \(from) to \(rank)"
    }

    /// The line that a step writes about itself.
    static func line(manager: Int, rank: Int, attempt: Int, isLate: Bool, from: Int?) -> String {
        "\(manager) \(rank) attempt \(attempt) \(isLate ? "late" : "in time") from \(from ?? -1)"
    }
}

extension FleetModel.Trouble {
    /// A step finds none of its tables.
    static let noTables = Self(body: 0)
}
