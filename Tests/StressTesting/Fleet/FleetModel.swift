/// What a device should do, told from the package's design alone: nothing of the package is used here.
///
/// A launch is a list of states that a device goes through. One that is killed has come to some point of the list.
struct FleetModel {
    /// What there is on a device.
    struct State: Hashable {
        /// Empty where the store is in the database.
        var store = Place()
        var database = Database()
        /// What the steps outside the database have done, in order.
        var files: [String] = []
    }

    /// What a place remembers.
    struct Place: Hashable {
        var records: [Int: Record] = [:]
        var seen: Set<Int> = []
        /// Those of them that evidence has named.
        var adopted: Set<Int> = []
    }

    struct Database: Hashable {
        var place = Place()
        var ledger: Set<Int> = []
        /// What the steps in the database have done, in order.
        var done: [String] = []
    }

    /// What a place remembers of one manager.
    struct Record: Hashable {
        var floor: Int?
        var settled: Set<Int> = []
        var owed: Set<Int> = []
        var completed: Int?
        var highest: Int?
        var downgradedTo: Int?
        var running: Running?
        var deferred: [Int: Deferred] = [:]

        struct Running: Hashable {
            var rank: Int
            /// For a move: how many migrations it still had to apply; for a batch, the rows done before it.
            var remaining: Int?
            var attempt: Int
            var forgiven: Int
            var build: String

            func isSameWork(as other: Running) -> Bool {
                rank == other.rank && (remaining == nil) == (other.remaining == nil)
            }
        }

        mutating func settle(_ rank: Int) {
            settled.insert(rank)
            owed.remove(rank)
            deferred[rank] = nil
            if running?.rank == rank, running?.remaining == nil { running = nil }
        }
    }

    /// How a launch of a manager ends.
    enum Outcome: Hashable {
        case done(
            launch: String, returned: Bool, isFirst: Bool, completed: [Int], moved: [Int], waiting: [Int])
        /// What became of deferred work after the launch.
        case deferred(completed: [Int], pending: [Int], failed: [Int])
        case stopped(String, at: Int?)
    }

    let app: FleetApp
    let build: Int
    /// The states that the device goes through, from the one at first.
    private(set) var timeline: [State]
    /// The bodies of steps until the one that throws.
    private var bodiesUntilThrow: Int?

    init(_ app: FleetApp, _ state: State, build: Int, throwsIn: Int? = nil) {
        self.app = app
        self.build = build
        timeline = [state]
        bodiesUntilThrow = throwsIn
    }

    var state: State { timeline[timeline.count - 1] }

    /// Has another process launch a build in between.
    mutating func outrun(by other: Int) {
        var model = FleetModel(app, state, build: other)
        for manager in app.managers(in: other) {
            guard case .done = model.launch(manager) else { break }
        }
        timeline += model.timeline
    }

    /// Whether a device may be in a state, when the launch was cut short: at one point of the list, except that the
    /// places written at that point may or may not have been.
    func allows(_ found: State) -> Bool {
        zip(timeline, timeline.dropFirst() + [state]).contains { before, after in
            (found.store == before.store || found.store == after.store)
                && (found.database == before.database || found.database == after.database)
                && (found.files == before.files || found.files == after.files)
        }
    }
}

// A launch of one manager.
extension FleetModel {
    /// Whether a place is the database: there, its own records and its own contents count.
    private typealias PlacePath = WritableKeyPath<State, Place>

    private enum Kind {
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

    private struct Item {
        let rank: Int
        let place: PlacePath
        var step: FleetApp.Step?
        var isLate = false
        var numbers: [Int] = []
    }

    /// Plays a launch of a manager.
    ///
    /// - Parameter hasLock: whether it had something to do when it took the lock, whatever it finds now.
    mutating func launch(_ manager: Int, hasLock: Bool = false) -> Outcome {
        let current = FleetApp.builds[build]
        let steps = app.steps(of: manager, in: build)
        let moves = app.moves(of: manager, in: build)
        // A database that holds a version above any known one belongs to a newer build.
        if let known = moves.flatMap(\.numbers).max(), state.database.ledger.contains(where: { $0 > known }) {
            return .stopped("newerThanThisProcess", at: nil)
        }
        let database: PlacePath = \.database.place
        let store = app.storage == .storeInDatabase ? database : \.store
        var places = [store]
        if store != database, !moves.isEmpty || steps.contains(where: \.isInDatabase) {
            places.append(database)
        }

        var kinds: [PlacePath: Kind] = [:]
        var records: [PlacePath: Record] = [:]
        var items: [Item] = []
        for path in places {
            let old = state[keyPath: path].records[manager]
            let here = steps.filter { store == database || $0.isInDatabase == (path == database) }
            guard let kind = kind(manager, path, store: store, hasDatabase: places.contains(database))
            else { return .stopped("undecided", at: nil) }
            let record = begin(old, kind, here)
            kinds[path] = kind
            records[path] = record
            // A downgrade does nothing.
            if case .downgrade = kind { continue }
            for step in here {
                // Known, above the floor or owed, not settled, and at most the target.
                guard !record.settled.contains(step.rank) else { continue }
                guard record.floor.map({ step.rank > $0 }) ?? true || record.owed.contains(step.rank) else {
                    continue
                }
                let reached = ((old?.settled ?? []) + [old?.completed].compactMap { $0 }).max()
                items.append(
                    Item(
                        rank: step.rank, place: path, step: step,
                        isLate: reached.map { step.rank < $0 } ?? false))
            }
            if path == database {
                items += moves.map { move in
                    Item(
                        rank: move.rank, place: path,
                        numbers: move.numbers.filter { !state.database.ledger.contains($0) })
                }.filter { !$0.numbers.isEmpty }
            }
        }
        // A launch runs no deferred steps, except those that something pending finishes.
        let finished = Set(
            items.flatMap { item in
                item.step.map { $0.isDeferred ? [] : $0.finishes }
                    ?? app.finishes(moveOf: item.rank, of: manager, in: build)
            })
        func waits(_ item: Item) -> Bool { item.step?.isDeferred == true && !finished.contains(item.rank) }
        let waiting = items.filter(waits).sorted { $0.rank < $1.rank }
        items.removeAll(where: waits)
        items.sort { ($0.rank, $0.step == nil ? 0 : 1) < ($1.rank, $1.step == nil ? 0 : 1) }

        let storeRecord = state[keyPath: store].records[manager]
        let isNewer = storeRecord?.highest.map { $0 < current.rank } ?? true
        let (returned, isFirst) =
            switch kinds[store] {
            case .upgrade: (storeRecord?.downgradedTo != nil, isNewer)
            case .fresh, .adoption: (false, isNewer)
            case .relaunch, .downgrade, nil: (false, false)
            }

        func write(_ model: inout FleetModel) {
            var next = model.state
            for path in places {
                let place = next[keyPath: path]
                let record = records[path]?.keepingDeferred(of: place.records[manager])
                guard place.records[manager] != record || !place.seen.contains(current.rank) else { continue }
                if place.records[manager] == nil, let previous = kinds[path]?.previous, previous != 0,
                    !place.seen.contains(previous)
                {
                    next[keyPath: path].adopted.insert(previous)
                }
                next[keyPath: path].records[manager] = record
                next[keyPath: path].seen.formUnion(
                    [kinds[path]?.previous, current.rank].compactMap { $0 }.filter { $0 != 0 })
            }
            guard next != model.state else { return }
            model.timeline.append(next)
        }

        for item in items {
            if let step = item.step, step.isDeferred {
                let before = records[item.place]?.deferred[step.rank] ?? Record.Deferred()
                if isExhausted(before) {
                    write(&self)
                    return .stopped("gaveUp", at: step.rank)
                }
                write(&self)
                guard runToEnd(step, before) else {
                    write(&self)
                    return .stopped("stepFailed", at: step.rank)
                }
                records[item.place]?.settle(step.rank)
                continue
            }
            let before = records[item.place]?.running
            var running = Record.Running(
                rank: item.rank, remaining: item.step == nil ? item.numbers.count : nil, attempt: 1,
                forgiven: 0,
                build: current.text)
            // A move that has got further since it died starts afresh.
            let isRepeated =
                before.map { $0.isSameWork(as: running) && $0.remaining == running.remaining } ?? false
            if isRepeated, let died = before, died.build == current.text,
                died.attempt - died.forgiven >= app.maximumAttempts
            {
                write(&self)
                return .stopped("gaveUp", at: item.rank)
            }
            if isRepeated, let died = before {
                running.attempt = died.attempt + 1
                // A new build starts afresh.
                running.forgiven = died.build == current.text ? died.forgiven : died.attempt
            }
            // Work that died keeps its attempts when late work runs before it.
            let other = before.flatMap { $0.isSameWork(as: running) ? nil : $0 }
            records[item.place]?.running = running
            write(&self)
            guard let step = item.step else {
                for number in item.numbers { change { $0.database.ledger.insert(number) } }
                records[item.place]?.running = other
                continue
            }

            let line = Self.line(
                manager: manager, rank: step.rank, attempt: running.attempt, isLate: item.isLate,
                from: kinds[item.place]?.previous.flatMap { $0 == 0 ? nil : $0 })
            // After a first launch that was cut short, a downgrade leaves the database without its tables.
            let hasTables = state.database.ledger.contains(FleetApp.firstSchema.number)
            let throwsNow = step.isInDatabase && !hasTables || countBody()
            var died = before
            if step.isInDatabase {
                if !throwsNow {
                    change {
                        $0.database.done.append(line)
                        $0.database.place.records[manager]?.settle(step.rank)
                    }
                }
            } else {
                if step.hasCheckpoint {
                    change {
                        $0[keyPath: item.place].records[manager]?.running?.forgiven = running.attempt - 1
                    }
                    if other == nil { died?.forgiven = running.attempt - 1 }
                }
                change { $0.files.append(line) }
            }
            if throwsNow {
                records[item.place]?.running = died
                write(&self)
                return .stopped("stepFailed", at: step.rank)
            }
            records[item.place]?.running = other
            records[item.place]?.settle(step.rank)
        }
        for path in places {
            if case .downgrade = kinds[path] { continue }
            records[path]?.completed = current.rank
            records[path]?.downgradedTo = nil
        }
        // A launch that takes the lock notes what waits.
        let writes =
            hasLock || !items.isEmpty
            || places.contains { path in
                let place = state[keyPath: path]
                return place.records[manager] != records[path] || !place.seen.contains(current.rank)
            }
        for item in waiting where writes {
            records[item.place]?.deferred.merge([item.rank: Record.Deferred()]) { old, _ in old }
        }
        write(&self)
        return .done(
            launch: kinds[store]?.text ?? "", returned: returned, isFirst: isFirst,
            completed: items.compactMap(\.step?.rank), moved: items.flatMap(\.numbers),
            waiting: waiting.map(\.rank))
    }

    /// What a step writes down about itself.
    static func line(manager: Int, rank: Int, attempt: Int, isLate: Bool, from: Int?) -> String {
        "\(manager) \(rank) attempt \(attempt) \(isLate ? "late" : "in time") from \(from ?? -1)"
    }

    /// Is it new? From the record, or else from evidence, strongest first; nil when that is undecided.
    private func kind(_ manager: Int, _ path: PlacePath, store: PlacePath, hasDatabase: Bool) -> Kind? {
        let current = FleetApp.builds[build]
        let place = state[keyPath: path]
        if let record = place.records[manager] {
            if let highest = record.highest, highest > current.rank { return .downgrade(highest) }
            guard let completed = record.completed else { return .adoption(record.floor ?? 0) }
            return completed < current.rank ? .upgrade(completed) : .relaunch
        }
        // What a later release has left is not this one's to migrate.
        func left(at rank: Int) -> Kind {
            rank / 100 > current.rank / 100 ? .downgrade(rank) : .adoption(rank)
        }
        func earlier(_ seen: Set<Int>) -> Int? { seen.filter { $0 < current.rank }.max() }
        // Once the place has seen any version, the question is answered.
        if !place.seen.isEmpty {
            return earlier(place.seen).map { .adoption($0) } ?? place.adopted.max().map(left) ?? .fresh
        }
        // A database that has nothing is new, whatever the app says of its other data.
        if path != store, state.database.ledger.isEmpty { return .fresh }
        if let rank = app.adopting { return left(at: rank) }
        // No step has ever run in a database that has a ledger and no record.
        if path != store { return .adoption(0) }
        guard hasDatabase else { return .fresh }
        // A store that knows nothing believes a database that remembers another version, an earlier one first.
        let others = state.database.place.seen.subtracting([current.rank])
        if let rank = earlier(others) ?? others.max() {
            return left(at: state.database.place.records[manager]?.completed ?? rank)
        }
        // One that is not new and cannot tell leaves it open.
        return state.database.place.seen.isEmpty && !state.database.ledger.isEmpty ? nil : .fresh
    }

    private func begin(_ old: Record?, _ kind: Kind, _ steps: [FleetApp.Step]) -> Record {
        let current = FleetApp.builds[build].rank
        var record = old ?? Record(floor: kind.previous ?? current)
        switch kind {
        case .fresh:
            // There is no old data: nothing is needed but what the app asked for, which is owed.
            for step in steps {
                if step.runsOnFreshInstall {
                    record.owed.insert(step.rank)
                } else {
                    record.settled.insert(step.rank)
                }
            }
            record.completed = current
        case .downgrade(let highest):
            record.highest = max(highest, record.highest ?? 0)
            record.completed = current
            record.downgradedTo = current
        case .adoption, .upgrade, .relaunch:
            break
        }
        record.highest = max(current, record.highest ?? 0)
        return record
    }

    mutating func change(_ body: (inout State) -> Void) {
        var next = state
        body(&next)
        timeline.append(next)
    }

    mutating func countBody() -> Bool {
        guard let left = bodiesUntilThrow else { return false }
        bodiesUntilThrow = left - 1
        return left == 1
    }
}
